/**
 * Durations as people write them: `30s`, `1h 30m`, `7days`. Used by the configuration, by timeouts in headers and by the `ttl` option.
 *
 * A text is a list of whole numbers with a unit each, blanks allowed everywhere, in any order; the parts add up. A month is 30.44 days
 * and a year 365.25 days, so `90d` prints as `2months 29days 2h 52m 48s`. Source: contract http.md 1.5, query.md (TTL).
 */
import { type Parsed, parsed, refused } from "./parsed.ts";

const MICRO = 1_000n;
const MILLI = 1_000_000n;
const SECOND = 1_000_000_000n;
const MINUTE: bigint = 60n * SECOND;
const HOUR: bigint = 60n * MINUTE;
const DAY: bigint = 24n * HOUR;
const WEEK: bigint = 7n * DAY;
const MONTH: bigint = 2_630_016n * SECOND; // 30.44 days
const YEAR: bigint = 31_557_600n * SECOND; // 365.25 days

/** Longest duration that is accepted: whole seconds fit 64 bits, as clients of the contract expect. */
const NANOS_MAX: bigint = 2n ** 64n * SECOND - 1n;

/** Longest text that is read. Reason: a duration comes from headers too. */
const TEXT_CHARACTERS_MAX = 200;

/** Names of each unit; `M` is a month and `m` a minute, so case matters. */
const UNIT_NAMES: readonly (readonly [nanos: bigint, names: readonly string[]])[] = [
  [1n, ["ns", "nsec", "nanos"]],
  [MICRO, ["us", "µs", "usec", "micros"]],
  [MILLI, ["ms", "msec", "millis"]],
  [SECOND, ["s", "sec", "secs", "second", "seconds"]],
  [MINUTE, ["m", "min", "mins", "minute", "minutes"]],
  [HOUR, ["h", "hr", "hrs", "hour", "hours"]],
  [DAY, ["d", "day", "days"]],
  [WEEK, ["w", "wk", "wks", "week", "weeks"]],
  [MONTH, ["M", "month", "months"]],
  [YEAR, ["y", "yr", "yrs", "year", "years"]],
];

const NANOS_OF_UNIT: ReadonlyMap<string, bigint> = new Map(
  UNIT_NAMES.flatMap(([nanos, names]) => names.map((name) => [name, nanos] as const)),
);

/** Parts of the printed form, longest first; the first three have a plural. */
const PRINTED: readonly (readonly [nanos: bigint, name: string, plural: string])[] = [
  [YEAR, "year", "years"],
  [MONTH, "month", "months"],
  [DAY, "day", "days"],
  [HOUR, "h", "h"],
  [MINUTE, "m", "m"],
  [SECOND, "s", "s"],
  [MILLI, "ms", "ms"],
  [MICRO, "us", "us"],
  [1n, "ns", "ns"],
];

/** Reads a duration; a lone `0` needs no unit. The value is in nanoseconds, 0..2^64 seconds. */
export function parseHumanDuration(text: string): Parsed<bigint> {
  if (text.length > TEXT_CHARACTERS_MAX) return refused(`longer than ${TEXT_CHARACTERS_MAX} characters`);
  const rest = text.trim();
  if (rest === "") return refused("empty");
  if (rest === "0") return parsed(0n);
  const part = /\s*(\d+)\s*([a-zA-Zµ]*)/y;
  let total = 0n;
  for (let at = 0; at < rest.length; at = part.lastIndex) {
    part.lastIndex = at;
    const match = part.exec(rest);
    if (match === null) return refused(`want a whole number at character ${at + 1}`);
    const [, digits, unit] = match;
    if (digits === undefined || unit === undefined || unit === "") return refused(`the number ${digits} has no unit`);
    const nanos = NANOS_OF_UNIT.get(unit);
    if (nanos === undefined) return refused(`unknown unit "${unit}"; units are ns, us, ms, s, m, h, d, w, M (month), y`);
    total += BigInt(digits) * nanos;
    if (total > NANOS_MAX) return refused("too long");
  }
  return parsed(total);
}

/** Prints nanoseconds (0 or more) in the longest units: `0s`, `1m 30s`, `7days`. `parseHumanDuration` reads it back exactly. */
export function printHumanDuration(nanos: bigint): string {
  if (nanos === 0n) return "0s";
  const parts: string[] = [];
  let rest = nanos;
  for (const [size, name, plural] of PRINTED) {
    const count = rest / size;
    if (count === 0n) continue;
    parts.push(`${count}${count === 1n ? name : plural}`);
    rest -= count * size;
  }
  return parts.join(" ");
}
