/**
 * Lengths and origins of ranges of time, as milliseconds: what RANGE, ALIGN and TO say (contract query.md 2.4).
 *
 *   length   '1h30m', '1 day', INTERVAL '1 hour', (INTERVAL '1 day' + INTERVAL '1 hour')
 *   origin   NOW, CALENDAR, '2024-01-01 00:00:00', (now() - INTERVAL '1 day')
 */
import { displayName, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { floorDivide } from "../../../value/civil.ts";
import { intervalText } from "../../../value/interval/interval-text.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";
import { offsetSecondsAt, parseTimeZone } from "../../../base/text/time-zone.ts";
import { isInterval, NANOS_PER_DAY } from "../../function/value/value.ts";
import type { Expression, IntervalValue } from "../../sql/syntax/ast.ts";
import { parseInterval } from "../../../value/interval/parse-interval.ts";
import { printExpression } from "../../sql/print/print.ts";
import { bindConstant } from "../bind/bind.ts";
import { castTo } from "../bind/coerce.ts";
import { planError } from "../bind/plan-error.ts";
import { rangeError } from "../bind/range-error.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Longest range, milliseconds. Reason: ages of rows within one are exact doubles. Error: PlanQuery. */
const STRETCH_MS_MAX = 2n ** 52n;

/** Units of a Prometheus duration, milliseconds, longest first: each may stand once, in this order. */
const DURATION = /^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;
const DURATION_MS = [31_536_000_000n, 604_800_000n, 86_400_000n, 3_600_000n, 60_000n, 1000n, 1n] as const;

/** The length that RANGE or ALIGN asks for, milliseconds, at least 1. @throws DbError InvalidSyntax, PlanQuery */
export function lengthMillis(expression: Expression, environment: Environment): bigint {
  const millis = expression.kind === "string" ? durationMillis(expression.value) : intervalOf(expression, environment);
  if (millis > STRETCH_MS_MAX) throw planError(`${printExpression(expression)} is too long; ranges of time have at most 2^52 milliseconds`);
  return millis;
}

/** Milliseconds of a Prometheus duration such as `1h30m`, or undefined when it is none. */
export function prometheusDurationMillis(text: string): bigint | undefined {
  const match = text === "" ? null : DURATION.exec(text);
  return match === null ? undefined : DURATION_MS.reduce((sum, unit, i) => sum + unit * BigInt(match[i + 1] ?? 0), 0n);
}

function durationMillis(text: string): bigint {
  const written = prometheusDurationMillis(text);
  const interval = written === undefined && /[a-z]/i.test(text) ? parseInterval(text) : undefined;
  if (written === undefined && interval === undefined) throw rangeError(`not a valid duration string: ${text.slice(0, 80)}`);
  const millis = written ?? millisOf(interval ?? { months: 0, days: 0, nanos: 0n }, text);
  if (millis <= 0n) throw planError("duration must be greater than 0");
  return millis;
}

function intervalOf(expression: Expression, environment: Environment): bigint {
  const { value } = bindConstant(expression, environment);
  const millis = isInterval(value) ? millisOf(value, intervalText(value)) : 0n;
  if (millis <= 0n) throw planError(`Illegal argument \`${printExpression(expression)}\` in range select query`);
  return millis;
}

function millisOf({ months, days, nanos }: IntervalValue, text: string): bigint {
  if (months !== 0) throw planError(`Year or month interval is not allowed in range query: ${text}`);
  return (BigInt(days) * NANOS_PER_DAY + nanos) / NANOS_PER_MILLI;
}

/** Where slots count from, milliseconds since the epoch. @throws DbError PlanQuery */
export function originMillis(to: Expression | undefined, environment: Environment): bigint {
  if (to === undefined) return calendarMillis(environment);
  const word = wordOf(to);
  if (word === undefined) return momentMillis(to, environment);
  switch (word.trim().toUpperCase()) {
    case "":
    case "CALENDAR":
      return calendarMillis(environment);
    case "NOW":
      return floorDivide(environment.now, NANOS_PER_MILLI);
  }
  const nanos = parseTimestamp(word, environment.timeZone);
  if (nanos !== undefined) return floorDivide(nanos, NANOS_PER_MILLI);
  const zone = parseTimeZone(word);
  if (zone !== undefined) return -BigInt(offsetSecondsAt(zone, Number(environment.now / 1_000_000_000n))) * 1000n;
  throw planError(
    `Illegal \`align to\` argument \`${word.slice(0, 80)}\` in range select query, can't be parse as NOW/CALENDAR/Timestamp, ` +
      "error: it is no timestamp such as '2024-01-01 00:00:00'",
  );
}

const DAY_MILLIS = 86_400_000n;

/**
 * The zone whose days, of its own clock, slots are: `ALIGN '1d' TO 'Europe/Berlin'`. Shorter slots only begin with such a day; undefined
 * for these, and where TO names no zone.
 */
export function zoneOfDays(to: Expression | undefined, alignMillis: bigint): string | undefined {
  const word = to === undefined ? undefined : wordOf(to);
  return word === undefined || alignMillis % DAY_MILLIS !== 0n ? undefined : parseTimeZone(word);
}

/** A string, or a bare word, which stands for itself. */
function wordOf(to: Expression): string | undefined {
  if (to.kind === "string") return to.value;
  return to.kind === "column" && to.name.length === 1 ? to.name[0] : undefined;
}

/** The session's distance from UTC, which is what clients of the interface expect of CALENDAR. */
function calendarMillis({ timeZone }: Environment): bigint {
  return BigInt(offsetSecondsAt(timeZone, 0)) * 1000n;
}

function momentMillis(to: Expression, environment: Environment): bigint {
  const bound = bindConstant(to, environment);
  if (bound.type.kind === "timestamp" || bound.type.kind === "date") {
    const moment = castTo(bound, TIMESTAMP_NANOSECOND, environment);
    if (moment.kind === "literal" && typeof moment.value === "bigint") return floorDivide(moment.value, NANOS_PER_MILLI);
  }
  throw planError(
    `Illegal \`align to\` argument \`${printExpression(to)}\` in range select query, can't be parse as NOW/CALENDAR/Timestamp, ` +
      `error: it is of type ${displayName(bound.type)}`,
  );
}
