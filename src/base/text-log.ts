/** Log lines as words for people, for a terminal: `12:00:01.234 INFO wal: replayed the log records=12`. Programs get JSON (`log.ts`). */
import { writeSync } from "node:fs";
import { isatty } from "node:tty";

const STDERR = 2;

/** How lines are written: by what stderr is, as words, as JSON. */
export type LogFormat = "auto" | "text" | "json";

/**
 * What writes the lines of a `RootLog` as words; undefined: they are JSON. The printer is loaded only where it is used (30 ms).
 *
 * Colours only on a terminal, and not where `NO_COLOR` asks for none (no-color.org).
 */
export async function textLogWriter(format: LogFormat): Promise<((line: string) => void) | undefined> {
  const isTerminal = isatty(STDERR);
  if (format === "json" || (format === "auto" && !isTerminal)) return undefined;
  const { prettyFactory } = await import("pino-pretty");
  const print = prettyFactory({
    colorize: isTerminal && (process.env["NO_COLOR"] ?? "") === "",
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "target",
    singleLine: true,
    messageFormat: "{target}: {msg}",
  });
  return (line) => writeWhole(print(line));
}

/** Writes all of `text`, as the log does: before the caller goes on. A terminal that is stopped is waited for. */
function writeWhole(text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(STDERR, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") continue;
      return; // The terminal is gone: nobody reads it, and the server goes on.
    }
  }
}
