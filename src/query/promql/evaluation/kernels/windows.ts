/**
 * Which samples of a series each step sees. Both ends of a window only move forward, so all steps together cost steps + samples, and less
 * where steps are far apart: what lies between is not looked at.
 */
import type { Moments } from "../scope.ts";
import { ranges, sequence, type Work } from "./pieces.ts";

/** By step: samples `[first, end)`. */
export interface Windows {
  readonly first: Int32Array;
  readonly end: Int32Array;
}

/** Samples that are looked at one by one before others are skipped. */
const NEAR = 8;

/** The first place from `from` on whose time is after a moment; ascending times. */
export function firstAfter(times: Float64Array, from: number, count: number, millis: number): number {
  let at = from;
  const near = Math.min(count, from + NEAR);
  while (at < near && times[at]! <= millis) at++;
  if (at < near || at === count) return at;
  // Steps that double, then halves: the place is within [low, high].
  let low = at;
  let high = at;
  for (let width = NEAR; high < count && times[high]! <= millis; width *= 2) {
    low = high + 1;
    high = Math.min(count, high + width);
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= millis) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a NaN is a stale marker. Its bits are looked at where they lie: a number that was read may have lost them. */
function isStale(bits: Uint32Array, at: number): boolean {
  return bits[2 * at] === 2 && bits[2 * at + 1] === 0x7ff00000;
}

function bitsOf(values: Float64Array, count: number): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, 2 * count);
}

/** Whether a sample is a stale marker, by its position. */
export function staleTest(values: Float64Array, count: number): (at: number) => boolean {
  const bits = bitsOf(values, count);
  return (at) => isStale(bits, at);
}

/**
 * The newest sample at each moment within the look-back; a stale marker is none. Fills `out` and marks `present`.
 *
 * @param asks for its value or its time in seconds
 */
export function newestSamples(
  times: Float64Array,
  values: Float64Array,
  count: number,
  { startMillis, stepMillis }: Moments,
  lookbackMillis: number,
  asks: "value" | "time",
  out: Float64Array,
  present: Uint8Array,
): Work {
  let bits: Uint32Array | undefined;
  let next = 0;
  return ranges(out.length, (from, to) => {
    let at = next;
    for (let i = from; i < to; i++) {
      const moment = startMillis + i * stepMillis;
      at = firstAfter(times, at, count, moment);
      if (at === 0 || times[at - 1]! <= moment - lookbackMillis) continue;
      const value = values[at - 1]!;
      if (value !== value) {
        bits ??= bitsOf(values, count);
        if (isStale(bits, at - 1)) continue;
      }
      out[i] = asks === "value" ? value : times[at - 1]! / 1000;
      present[i] = 1;
    }
    next = at;
  });
}

/** Whether no sample is a stale marker. */
export function isWithoutStale(values: Float64Array, count: number): boolean {
  return staleIn(values, 0, count) === 0;
}

/** Samples of a series. */
interface Samples {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly count: number;
}

/** The samples that are no stale markers, found by `work`: the arrays themselves where there are none. */
export class WithoutStale {
  samples: Samples;
  readonly work: Work;

  constructor(all: Samples) {
    const { values, count } = all;
    let stale = 0;
    this.samples = all;
    this.work = sequence(
      () => ranges(count, (from, to) => void (stale += staleIn(values, from, to))),
      () => (stale === 0 ? undefined : this.copy(all, count - stale)),
    );
  }

  private copy({ times, values, count }: Samples, kept: number): Work {
    const out = { times: new Float64Array(kept), values: new Float64Array(kept), count: kept };
    const bits = bitsOf(values, count);
    let next = 0;
    this.samples = out;
    return ranges(count, (from, to) => {
      for (let at = from; at < to; at++) {
        if (values[at] !== values[at] && isStale(bits, at)) continue;
        out.times[next] = times[at]!;
        out.values[next++] = values[at]!;
      }
    });
  }
}

function staleIn(values: Float64Array, from: number, to: number): number {
  let stale = 0;
  let bits: Uint32Array | undefined;
  for (let at = from; at < to; at++) {
    if (values[at] === values[at]) continue;
    bits ??= bitsOf(values, values.length);
    if (isStale(bits, at)) stale++;
  }
  return stale;
}
