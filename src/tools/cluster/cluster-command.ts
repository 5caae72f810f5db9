/** `varve cluster <command>`: a cluster to try out, and what operators ask of one that runs. */
import { nearestName } from "../../base/text/nearest.ts";
import { ConfigError, EXIT_USAGE } from "../../config/config-error.ts";
import type { Flag } from "../../config/flag.ts";
import type { ToolIo, ToolProgram } from "../tool.ts";
import { helpText } from "../common/help.ts";
import { DEMO_FLAGS } from "./demo/demo-options.ts";
import { OPERATOR_FLAGS, STATUS_FLAGS } from "./operator-flags.ts";

interface Command {
  readonly name: string;
  run(args: readonly string[], io: ToolIo): Promise<number>;
}

/** Each is loaded when it is asked for. */
const COMMANDS: readonly Command[] = [
  { name: "demo", run: async (args, io) => await (await import("./demo/demo.ts")).runDemo(args, io) },
  { name: "status", run: async (args, io) => await (await import("./operator-commands.ts")).runStatus(args, io) },
  { name: "drain", run: async (args, io) => await (await import("./operator-commands.ts")).runDrain(args, io) },
  { name: "rebalance", run: async (args, io) => await (await import("./operator-commands.ts")).runRebalance(args, io) },
];

const FLAGS: readonly Flag[] = [...DEMO_FLAGS.map((flag) => ({ ...flag, help: `demo: ${flag.help}` })), ...OPERATOR_FLAGS, ...STATUS_FLAGS];

const HELP: string = helpText({
  about: "Starts a cluster on this machine, to see what one is; looks at one that runs.",
  usage: [
    "varve cluster demo [flags]           NATS, frontends and data nodes of this machine",
    "varve cluster status [flags]         nodes, shards and logs; exit status 1 when something is wrong",
    "varve cluster drain <node> [flags]   has a data node give its shards to the others, and waits",
    "varve cluster rebalance [flags]      how shards lie; they move by themselves",
  ],
  examples: [
    "varve cluster demo --datanodes 3 --http-addr 127.0.0.1:5000",
    "varve cluster status -c varve_demo/operator.toml",
    "varve cluster drain node-3 -c operator.toml",
  ],
  flags: FLAGS,
  notes: [
    "Backups: varve backup TARGET --config-file <that of a data node>, varve restore TARGET --config-file <the same of a new cluster>.",
  ],
});
/** What is asked for here and is elsewhere. */
const ELSEWHERE: readonly string[] = ["backup", "restore"];

/** See the file header. */
export const cluster: ToolProgram = {
  flags: FLAGS,
  help: () => HELP,
  run: async ([name = "", ...args], io) => {
    const command = COMMANDS.find((known) => known.name === name);
    if (command !== undefined) return await command.run(args, io);
    if (ELSEWHERE.includes(name)) {
      throw new ConfigError(`that is \`varve ${name} TARGET --config-file FILE\`, with the configuration of a data node`, EXIT_USAGE);
    }
    const names = COMMANDS.map((known) => known.name);
    const nearest = nearestName(name, names);
    const hint = nearest === undefined ? `it has ${names.join(", ")}` : `did you mean ${nearest}?`;
    throw new ConfigError(
      name === "" ? `\`varve cluster\` needs a command: ${hint}` : `unknown command of \`varve cluster\`: ${hint}`,
      EXIT_USAGE,
    );
  },
};
