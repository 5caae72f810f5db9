import pino from "pino";

/** Levels of the server's log, most talkative first. */
export type LogLevel = "trace" | "debug" | "info" | "warn" | "error" | "off";

/** What the rest of the code logs through. Fields come first so that they are searchable; the message is a sentence. */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
  /** A logger for a part of this target: `engine` → `engine::flush`. */
  child(target: string): Logger;
}

const PINO_LEVEL: Readonly<Record<LogLevel, string>> = {
  trace: "trace",
  debug: "debug",
  info: "info",
  warn: "warn",
  error: "error",
  off: "silent",
};

const LEVEL_RANK: Readonly<Record<LogLevel, number>> = { trace: 0, debug: 1, info: 2, warn: 3, error: 4, off: 5 };

/** The log filter in force: a level for all targets, and levels for single targets and what is below them. */
export interface LogFilter {
  readonly level: LogLevel;
  readonly targets: ReadonlyMap<string, LogLevel>;
}

/** The process's log: JSON lines on stderr, one object a line, with a filter that can change while it runs. */
export class RootLog {
  private readonly sink: pino.Logger;
  private filterNow: LogFilter;

  constructor(filter: LogFilter, write?: (line: string) => void) {
    const options: pino.LoggerOptions = {
      level: "trace",
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    };
    this.sink = write === undefined ? pino(options, pino.destination({ dest: 2, sync: true })) : pino(options, { write });
    this.filterNow = filter;
  }

  /** The filter in force. */
  get filter(): LogFilter {
    return this.filterNow;
  }

  /** Replaces the filter. */
  setFilter(filter: LogFilter): void {
    this.filterNow = filter;
  }

  /** A logger for one part of the server, e.g. "wal". */
  logger(target: string): Logger {
    const emit =
      (level: LogLevel) =>
      (fields: Readonly<Record<string, unknown>>, message: string): void => {
        if (LEVEL_RANK[level] < LEVEL_RANK[this.levelOf(target)]) return;
        const write = this.sink[PINO_LEVEL[level] as "info"];
        write.call(this.sink, { target, ...fields }, message);
      };
    return {
      debug: emit("debug"),
      info: emit("info"),
      warn: emit("warn"),
      error: emit("error"),
      child: (name) => this.logger(`${target}::${name}`),
    };
  }

  /** The level of the target, else of the nearest target above it, else the general one. */
  private levelOf(target: string): LogLevel {
    for (let name = target; ; name = name.slice(0, name.lastIndexOf("::"))) {
      const level = this.filterNow.targets.get(name);
      if (level !== undefined) return level;
      if (!name.includes("::")) return this.filterNow.level;
    }
  }
}

/** A logger that drops everything; for tests and benchmarks. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
