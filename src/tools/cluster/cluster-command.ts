/** `varve cluster <command>`: a cluster to try out, and what operators ask of one that runs. */
import { nearestName } from "../../base/text/nearest.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { DEMO_FLAGS } from "./demo/demo-options.ts";
import { helpText } from "../common/help.ts";

interface Command {
  readonly name: string;
  run(args: readonly string[], io: ToolIo): Promise<number>;
}

/** Each is loaded when it is asked for. */
const COMMANDS: readonly Command[] = [{ name: "demo", run: async (args, io) => await (await import("./demo/demo.ts")).runDemo(args, io) }];

const HELP: string = helpText({
  about: "Starts a cluster on this machine, to see what one is.",
  usage: ["varve cluster demo [flags]"],
  examples: ["varve cluster demo", "varve cluster demo --datanodes 3 --http-addr 127.0.0.1:5000"],
  flags: DEMO_FLAGS,
});

/** See the file header. */
export const cluster: ToolProgram = {
  flags: DEMO_FLAGS,
  help: () => HELP,
  run: async ([name = "", ...args], io) => {
    const command = COMMANDS.find((known) => known.name === name);
    if (command !== undefined) return await command.run(args, io);
    const names = COMMANDS.map((known) => known.name);
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? `it has ${names.join(", ")}` : `did you mean ${nearest}?`;
    throw new ConfigError(
      name === "" ? `\`varve cluster\` needs a command: ${hint}` : `unknown command of \`varve cluster\`: ${hint}`,
      EXIT_USAGE,
    );
  },
};
