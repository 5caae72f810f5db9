/** Times and durations as Prometheus' API takes them: seconds with a fraction, RFC 3339, `1h30m`. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";

/** Earliest and latest time that there is, milliseconds: times in nanoseconds are 64 bits, and those of tables in seconds lie further. */
export const MILLIS_MIN: number = -(2 ** 53);
/** See `MILLIS_MIN`. */
export const MILLIS_MAX: number = 2 ** 53;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
/** How Prometheus' own client writes its least and greatest time. */
const EXTREMES: ReadonlyMap<string, number> = new Map([
  ["-292273086-05-16T16:47:06Z", MILLIS_MIN],
  ["292277025-08-18T07:12:54.999999999Z", MILLIS_MAX],
]);
const DURATION = /^(-)?(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const UNIT_MILLIS = [31_536_000_000, 604_800_000, 86_400_000, 3_600_000, 60_000, 1000, 1] as const;
/** Longest duration: that of 2^63 ns, as in Prometheus. */
const DURATION_MS_MAX = 9_223_372_036_854;
/** Longest text that is looked at. Reason: it is shown, and no time is longer. */
const CHARACTERS_MAX = 64;

/** Milliseconds since the epoch. @throws DbError InvalidArguments that names the parameter */
export function momentOf(text: string, parameter: string): number {
  if (text.length <= CHARACTERS_MAX) {
    if (NUMBER.test(text)) {
      const millis = Math.round(Number(text) * 1000);
      if (Math.abs(millis) <= MILLIS_MAX) return millis;
    }
    const extreme = EXTREMES.get(text);
    if (extreme !== undefined) return extreme;
    const nanos = /^\d{4}-.*T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? parseTimestamp(text, "UTC") : undefined;
    if (nanos !== undefined) return Number(nanos / 1_000_000n) - (nanos % 1_000_000n < 0n ? 1 : 0);
  }
  throw invalidParameter(parameter, `cannot parse "${shown(text)}" to a valid timestamp`);
}

/** Milliseconds, whole. @throws DbError InvalidArguments that names the parameter */
export function durationOf(text: string, parameter: string): number {
  if (text.length <= CHARACTERS_MAX) {
    const millis = NUMBER.test(text) ? Number(text) * 1000 : writtenMillis(text);
    if (millis !== undefined && Math.abs(millis) > DURATION_MS_MAX) {
      throw invalidParameter(parameter, `cannot parse "${shown(text)}" to a valid duration. It overflows int64`);
    }
    if (millis !== undefined) return Math.trunc(millis);
  }
  throw invalidParameter(parameter, `cannot parse "${shown(text)}" to a valid duration`);
}

function writtenMillis(text: string): number | undefined {
  if (text === "0") return 0;
  const match = text === "" ? null : DURATION.exec(text);
  if (match === null || text === "-") return undefined;
  const millis = UNIT_MILLIS.reduce((sum, unit, i) => sum + unit * Number(match[i + 2] ?? 0), 0);
  return match[1] === "-" ? -millis : millis;
}

/** What is wrong with a parameter, in Prometheus' words. */
export function invalidParameter(parameter: string, why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, `invalid parameter "${parameter}": ${why}`);
}

/** A text of a client, for an error. */
function shown(text: string): string {
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text;
}
