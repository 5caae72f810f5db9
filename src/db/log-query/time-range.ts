/**
 * Which times a query of logs means: `[start, end)` in nanoseconds. A date that stands alone is all of that day, month or year; `span` is a
 * number of seconds or an interval such as `1 week`, behind the start, before the end, or before now. Source: as in `log-query.ts`.
 */
import type { Clock } from "../../base/clock.ts";
import { invalidArguments } from "../../base/error.ts";
import { daysFromCivil } from "../../value/civil.ts";
import { parseInterval } from "../../value/interval/parse-interval.ts";
import { parseTimestamp } from "../../value/parse-time.ts";
import type { LogQuery } from "./log-query.ts";

const DAY_NANOS = 86_400_000_000_000n;
const MONTH_DAYS = 30n;
/** Longest text of a time. */
const CHARACTERS_MAX = 64;

/** A range; ends that are undefined are open. */
export interface NanosRange {
  readonly start: bigint | undefined;
  readonly end: bigint | undefined;
}

/** @param zone of times that name none @throws DbError InvalidArguments */
export function timeRangeOf({ start, end, span }: LogQuery["time"], zone: string, clock: Pick<Clock, "nowNanos">): NanosRange {
  if (start === undefined && end === undefined && span === undefined) return { start: undefined, end: undefined };
  const from = start === undefined ? undefined : momentOf(start, "start", zone);
  const to = end === undefined ? undefined : momentOf(end, "end", zone);
  const range = rangeOf(from, to, span, clock);
  if (range.end !== undefined && range.start !== undefined && range.end <= range.start)
    throw invalidArguments("cannot read the query: time_filter must end after it starts");
  return range;
}

/** When something begins, and when the day, month or year ends that it stands for. */
interface Moment {
  readonly at: bigint;
  readonly until: bigint | undefined;
}

function rangeOf(from: Moment | undefined, to: Moment | undefined, span: string | undefined, clock: Pick<Clock, "nowNanos">): NanosRange {
  if (from !== undefined && to !== undefined) return { start: from.at, end: to.until ?? to.at };
  if (from !== undefined) return { start: from.at, end: span === undefined ? from.until : from.at + spanOf(span) };
  const end = to === undefined ? clock.nowNanos() : (to.until ?? to.at);
  return { start: span === undefined ? undefined : end - spanOf(span), end };
}

function momentOf(text: string, name: string, zone: string): Moment {
  const [, year = "", month, day] = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?$/.exec(text) ?? [];
  if (year !== "") {
    const [y, m] = [Number(year), Number(month ?? 1)];
    const isMonth = m >= 1 && m <= 12;
    const begun = isMonth ? parseTimestamp(`${year}-${month ?? "01"}-${day ?? "01"} 00:00:00`, zone) : undefined;
    if (begun !== undefined) {
      if (day !== undefined) return { at: begun, until: begun + DAY_NANOS };
      const next = month === undefined ? daysFromCivil(y + 1, 1, 1) : m === 12 ? daysFromCivil(y + 1, 1, 1) : daysFromCivil(y, m + 1, 1);
      return { at: begun, until: begun + BigInt(next - daysFromCivil(y, m, 1)) * DAY_NANOS };
    }
  }
  const at = text.length > CHARACTERS_MAX ? undefined : parseTimestamp(text, zone);
  if (at === undefined)
    throw invalidArguments(`cannot read the query: time_filter.${name} is no time: ${JSON.stringify(text.slice(0, 64))}`);
  return { at, until: undefined };
}

/** Nanoseconds of a span; a month is 30 days. */
function spanOf(text: string): bigint {
  const parts = text.length > CHARACTERS_MAX ? undefined : parseInterval(/^\d+$/.test(text) ? `${text} seconds` : text);
  const nanos = parts === undefined ? 0n : (BigInt(parts.months) * MONTH_DAYS + BigInt(parts.days)) * DAY_NANOS + BigInt(parts.nanos);
  if (nanos <= 0n) throw invalidArguments(`cannot read the query: time_filter.span is no span: ${JSON.stringify(text.slice(0, 64))}`);
  return nanos;
}
