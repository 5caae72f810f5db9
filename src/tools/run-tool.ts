/** Runs a tool in this process. */
import { PRIVATE_UMASK } from "../storage/private-folder.ts";
import { AssertionError } from "../base/assert.ts";
import { errorText } from "../base/error.ts";
import { ConfigError } from "../config/config-error.ts";
import type { Tool, ToolIo } from "./tool.ts";

/** Runs `tool`, prints its help when that is asked for, and ends the process with its status. @throws ConfigError, AssertionError */
export async function runTool(tool: Tool, args: readonly string[]): Promise<void> {
  process.umask(PRIVATE_UMASK); // What a tool writes holds what the server holds.
  const program = await tool.load();
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(`${program.help().trimEnd()}\n`);
    return;
  }
  try {
    process.exitCode = await program.run(args, processIo());
  } catch (thrown) {
    if (thrown instanceof ConfigError || thrown instanceof AssertionError) throw thrown;
    process.stderr.write(`varve ${tool.name}: ${errorText(thrown)}\n`);
    process.exitCode = 1;
  }
  // What a tool leaves open (kept connections of its server) must not hold the process; what it wrote is taken first.
  await new Promise<void>((resolve) => void process.stdout.write("", () => resolve()));
  process.exit();
}

function processIo(): ToolIo {
  const interrupted = new AbortController();
  const onSignal = (status: number) => () => {
    if (interrupted.signal.aborted) process.exit(status); // The second one is meant.
    interrupted.abort();
  };
  // Whoever reads the pipe has enough, as `head` has: that is the status of a program that dies by it.
  process.stdout.on("error", (error: Error & { readonly code?: string }) => process.exit(error.code === "EPIPE" ? 141 : 1));
  process.on("SIGINT", onSignal(130));
  process.on("SIGTERM", onSignal(143));
  return {
    out: async (text) => {
      if (!process.stdout.write(text)) await new Promise<void>((resolve) => void process.stdout.once("drain", resolve));
    },
    err: (text) => void process.stderr.write(text),
    get stdin(): ReadableStream<Uint8Array> {
      return Bun.stdin.stream(); // Made when asked for: a terminal is read otherwise.
    },
    isTerminal: { stdin: process.stdin.isTTY, stdout: process.stdout.isTTY, stderr: process.stderr.isTTY },
    env: process.env,
    interrupted: interrupted.signal,
  };
}
