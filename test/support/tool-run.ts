/** Runs a command-line tool in this process, and keeps what it says. */
import { ConfigError } from "../../src/config/config-error.ts";
import { errorText } from "../../src/base/error.ts";
import type { ToolProgram } from "../../src/tools/tool.ts";

/** What a tool is run with. */
export interface ToolRunParts {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** How it ended. */
export interface ToolEnding {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a tool as its process would: what it throws is its last words. */
export async function toolRun(program: ToolProgram, args: readonly string[], parts: ToolRunParts = {}): Promise<ToolEnding> {
  const out: Uint8Array[] = [];
  let err = "";
  const io = {
    out: async (text: string | Uint8Array): Promise<void> => void out.push(Buffer.from(text)),
    err: (text: string): void => void (err += text),
    stdin: new Blob([parts.stdin ?? ""]).stream(),
    isTerminal: { stdin: false, stdout: false, stderr: false },
    env: parts.env ?? {},
    interrupted: parts.signal ?? new AbortController().signal,
  };
  try {
    const status = await program.run(args, io);
    return { status, out: Buffer.concat(out).toString(), err };
  } catch (thrown) {
    const status = thrown instanceof ConfigError ? thrown.exitCode : 1;
    return { status, out: Buffer.concat(out).toString(), err: `${err}${errorText(thrown)}\n` };
  }
}
