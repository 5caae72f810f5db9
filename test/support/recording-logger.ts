import type { Logger, LogLevel } from "../../src/base/log.ts";

/** A line of a log. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A logger that keeps its lines, those of its children included. */
export function recordingLogger(): { readonly logger: Logger; readonly entries: readonly LogEntry[] } {
  const entries: LogEntry[] = [];
  const take =
    (level: LogLevel) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void =>
      void entries.push({ level, message, fields });
  const logger: Logger = { debug: take("debug"), info: take("info"), warn: take("warn"), error: take("error"), child: () => logger };
  return { logger, entries };
}
