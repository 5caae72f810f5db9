/**
 * Reads timestamps into seconds and nanoseconds, exactly, without bigint.
 *
 * A time is `seconds * 1e9 + nanos` with 0 <= nanos < 1e9, so times before 1970 have negative seconds and the fraction still counts
 * upwards. The digits are split where the precision's second begins: 1686441600 | 000000000 for nanoseconds, 1686441600 | 000 for
 * milliseconds; both halves fit a double. Lines of one scrape carry the same time, so the bytes are compared with those of the line
 * before first (cpu rows of decode.bench.ts: 4.0 M rows/s when the time differs on every line, 4.4 M when it repeats).
 */
import { type Failure, Reason } from "./failure.ts";
import type { Precision } from "./types.ts";
import { floorModulo, secondsAndFraction } from "../../value/civil.ts";

/** Digits behind the second, and seconds of one unit. */
const SCALES: Readonly<Record<Precision, { readonly digits: number; readonly seconds: number }>> = {
  ns: { digits: 9, seconds: 1 },
  us: { digits: 6, seconds: 1 },
  ms: { digits: 3, seconds: 1 },
  s: { digits: 0, seconds: 1 },
  m: { digits: 0, seconds: 60 },
  h: { digits: 0, seconds: 3600 },
};

/** Nanoseconds of one unit. */
const UNIT_NANOS: Readonly<Record<Precision, bigint>> = {
  ns: 1n,
  us: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** 2^63 - 1 nanoseconds: the largest time. */
const SECONDS_MAX = 9_223_372_036;
const NANOS_AT_MAX = 854_775_807;
/** -2^63 nanoseconds: the smallest time. */
const SECONDS_MIN = -9_223_372_037;
const NANOS_AT_MIN = 145_224_192;

/** Most digits of either half: a double holds that many exactly. */
const HALF_DIGITS_MAX = 15;

export class TimeReader {
  /** The time that was read last: whole seconds since 1970, rounded down. */
  seconds = 0;
  /** The time that was read last: nanoseconds behind `seconds`, 0..999,999,999. */
  nanos = 0;
  private digits = 9;
  private unitSeconds = 1;
  private unitNanos = 1;
  private defaultSeconds = 0;
  private defaultNanos = 0;
  private previousStart = 0;
  private previousLength = 0;

  /** Starts a request. */
  begin(precision: Precision, defaultTimeNanos: bigint): void {
    const scale = SCALES[precision];
    this.digits = scale.digits;
    this.unitSeconds = scale.seconds;
    this.unitNanos = 10 ** (9 - scale.digits);
    const unit = UNIT_NANOS[precision];
    const truncated = defaultTimeNanos - floorModulo(defaultTimeNanos, unit);
    const { seconds, fraction } = secondsAndFraction(truncated, 1e9);
    this.defaultSeconds = seconds;
    this.defaultNanos = fraction;
    this.forget();
  }

  /** Forgets the line before: the next line lies in other bytes. */
  forget(): void {
    this.previousLength = 0;
  }

  /** Takes the time of lines that have none. Returns false when truncation has moved it out of the 64-bit range. */
  useDefault(): boolean {
    this.seconds = this.defaultSeconds;
    this.nanos = this.defaultNanos;
    this.previousLength = 0;
    return inRange(this.seconds, this.nanos);
  }

  /**
   * Reads the time that starts at `start`. Returns the position behind it, where a space, CR or LF stands, or -1 with the reason in
   * `failure`. A line end lies at `end - 1`.
   */
  read(bytes: Uint8Array, view: DataView, start: number, end: number, failure: Failure): number {
    const length = this.previousLength;
    if (length >= 8 && start + length < end) {
      const before = this.previousStart;
      const last = length - 4;
      let i = 0;
      while (i < last && view.getInt32(start + i, true) === view.getInt32(before + i, true)) i += 4;
      if (i >= last && view.getInt32(start + last, true) === view.getInt32(before + last, true)) {
        const behind = bytes[start + length]!;
        if (behind === 0x0a || behind === 0x20 || behind === 0x0d) return start + length;
      }
    }
    return this.parse(bytes, start, failure);
  }

  private parse(bytes: Uint8Array, start: number, failure: Failure): number {
    const negative = bytes[start] === 0x2d;
    let at = negative ? start + 1 : start;
    const digitsStart = at;
    while (bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
    const stop = at;
    if (stop === digitsStart || !(bytes[stop] === 0x0a || bytes[stop] === 0x20 || bytes[stop] === 0x0d)) {
      while (bytes[at]! > 0x20) at++;
      return failure.at(Reason.Timestamp, start, at);
    }
    const split = Math.max(digitsStart, stop - this.digits);
    let first = digitsStart;
    while (first < split && bytes[first] === 0x30) first++;
    if (split - first > HALF_DIGITS_MAX) return failure.at(Reason.TimestampRange, start, stop);
    let seconds = digitsOf(bytes, first, split) * this.unitSeconds;
    let nanos = digitsOf(bytes, split, stop) * this.unitNanos;
    if (negative) {
      seconds = nanos === 0 ? 0 - seconds : -1 - seconds;
      nanos = nanos === 0 ? 0 : 1e9 - nanos;
    }
    if (!inRange(seconds, nanos)) return failure.at(Reason.TimestampRange, start, stop);
    this.seconds = seconds;
    this.nanos = nanos;
    this.previousStart = start;
    this.previousLength = stop - start;
    return stop;
  }
}

function digitsOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) value = value * 10 + (bytes[i]! - 0x30);
  return value;
}

function inRange(seconds: number, nanos: number): boolean {
  if (seconds < SECONDS_MAX && seconds > SECONDS_MIN) return true;
  if (seconds === SECONDS_MAX) return nanos <= NANOS_AT_MAX;
  return seconds === SECONDS_MIN && nanos >= NANOS_AT_MIN;
}
