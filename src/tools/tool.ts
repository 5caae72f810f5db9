/** What a command-line tool is: `varve <name> …` beside the server. */
import type { Flag } from "../config/flag.ts";

/** The process around a tool, so that tests can stand in for it. */
export interface ToolIo {
  /** Writes to standard output; resolves once the pipe has taken it. */
  out(text: string | Uint8Array): Promise<void>;
  /** Writes to standard error: progress, warnings, errors. */
  err(text: string): void;
  readonly stdin: ReadableStream<Uint8Array>;
  /** Whether a person sees it: progress and colours go to terminals only. */
  readonly isTerminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by SIGINT or SIGTERM: a tool leaves what it made in a state from which it can go on. */
  readonly interrupted: AbortSignal;
}

/** A tool's program, loaded when it is asked for. */
export interface ToolProgram {
  readonly flags: readonly Flag[];
  /** The text of `varve <name> --help`. */
  help(): string;
  /**
   * Runs it with the arguments behind its name.
   * @returns the exit status: 0 well, 1 what was asked for did not succeed
   * @throws ConfigError (exit 2) for a wrong command line; DbError or Error: told in one line, exit 1
   */
  run(args: readonly string[], io: ToolIo): Promise<number>;
}

/** A tool's line in the help. */
export interface Tool {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  load(): Promise<ToolProgram>;
}
