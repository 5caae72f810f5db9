/** The process around a tool, in a test: what it prints is kept, and a signal is a call. */
import type { ToolIo } from "../../src/tools/tool.ts";

/** What a tool printed. */
export interface TestIo extends ToolIo {
  readonly printed: { out: string; err: string };
  /** Sends the tool a signal. */
  interrupt(): void;
}

/** A process of pipes with these variables; a terminal where a test says so. */
export function testIo(env: Readonly<Record<string, string>> = {}, isTerminal = false): TestIo {
  const printed = { out: "", err: "" };
  const interrupted = new AbortController();
  return {
    printed,
    interrupt: () => interrupted.abort(),
    out: async (text) => {
      printed.out += typeof text === "string" ? text : new TextDecoder().decode(text);
    },
    err: (text) => {
      printed.err += text;
    },
    stdin: new Blob([]).stream(),
    isTerminal: { stdin: isTerminal, stdout: isTerminal, stderr: isTerminal },
    env,
    interrupted: interrupted.signal,
  };
}
