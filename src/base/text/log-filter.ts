/**
 * The text form of a log filter: directives joined by commas, each a level (`debug`), a target (`wal`, everything it says) or both
 * (`wal=debug`). Levels are names in any case or digits 0 (off) to 5 (trace). Source: contract http.md 1.6.
 */
import { type DbError, invalidArguments } from "../error.ts";
import { ERROR_QUOTE_CHARACTERS_MAX, LOG_FILTER_CHARACTERS_MAX } from "../limits.ts";
import type { LogFilter, LogLevel } from "../log.ts";

const LEVELS: ReadonlyMap<string, LogLevel> = new Map<string, LogLevel>([
  ["off", "off"],
  ["error", "error"],
  ["warn", "warn"],
  ["info", "info"],
  ["debug", "debug"],
  ["trace", "trace"],
  ["0", "off"],
  ["1", "error"],
  ["2", "warn"],
  ["3", "info"],
  ["4", "debug"],
  ["5", "trace"],
]);

/** A target: words joined by `::`, `.`, `-` or `/`. */
const TARGET = /^[A-Za-z_][\w:.\-/]*$/;

/**
 * Reads a filter. Without a bare level everything that no target names is off; of two directives for one target the last wins.
 *
 * @throws DbError InvalidArguments: `Invalid filter "<text>": <why>`
 */
export function parseLogFilter(text: string): LogFilter {
  if (text.length > LOG_FILTER_CHARACTERS_MAX) throw invalid(text, `longer than ${LOG_FILTER_CHARACTERS_MAX} characters`);
  let level: LogLevel = "off";
  const targets = new Map<string, LogLevel>();
  for (const directive of text.split(",")) {
    const [left, right, ...more] = directive.split("=").map((part) => part.trim());
    if (left === undefined || left === "") throw invalid(text, "a directive is empty; write a level, or target=level");
    if (more.length > 0) throw invalid(text, `too many "=" in directive "${quote(directive)}"; write target=level`);
    const bare = right === undefined ? LEVELS.get(left.toLowerCase()) : undefined;
    if (bare !== undefined) {
      level = bare;
      continue;
    }
    if (!TARGET.test(left)) throw invalid(text, `"${quote(left)}" is neither a level nor a target`);
    const named = right === undefined ? "trace" : LEVELS.get(right.toLowerCase());
    if (named === undefined) {
      throw invalid(text, `unknown level "${quote(right ?? "")}"; levels are off, error, warn, info, debug, trace or 0 to 5`);
    }
    targets.set(left, named);
  }
  return { level, targets };
}

/** Prints a filter in its normal form: the longest target first, then the level; an `off` that only follows targets is left out. */
export function printLogFilter(filter: LogFilter): string {
  const names = [...filter.targets.keys()].sort((a, b) => b.length - a.length || (a < b ? 1 : -1));
  const directives = names.map((name) => `${name}=${filter.targets.get(name) ?? filter.level}`);
  if (filter.level !== "off" || directives.length === 0) directives.push(filter.level);
  return directives.join(",");
}

function invalid(text: string, why: string): DbError {
  return invalidArguments(`Invalid filter "${quote(text)}": ${why}`);
}

function quote(text: string): string {
  return text.length <= ERROR_QUOTE_CHARACTERS_MAX ? text : `${text.slice(0, ERROR_QUOTE_CHARACTERS_MAX)}...`;
}
