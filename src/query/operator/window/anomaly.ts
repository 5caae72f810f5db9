/**
 * Scores of how far a row's value lies from the others of its frame. NULL and NaN do not count and have no score.
 *
 *   zscore  |v - mean| / standard deviation of the population        at least 2 values
 *   mad     |v - median| / (1.4826 · median of |x - median|)         at least 3
 *   iqr     distance outside [q1 - k·(q3 - q1), q3 + k·(q3 - q1)], divided by q3 - q1; at least 3
 *
 * Where the spread is 0 the score is 0 for a value at the centre, or within, and infinite elsewhere. Means fold from both ends of a turning
 * point as in `fold.ts`; medians and quartiles come from a sorted copy of the frame, which grows and shrinks with it.
 */
import type { Vector } from "../../../column/vector.ts";
import type { AnomalyName } from "./node.ts";
import type { Frames } from "./frames.ts";

/** Makes the median of deviations comparable with a standard deviation, for values that are normally distributed. */
const MAD_SCALE = 1.4826;

/** Fewest values of a frame that give a score. */
const COUNT_MIN: Readonly<Record<AnomalyName, number>> = { zscore: 2, mad: 3, iqr: 3 };

/** The scores of all rows. @param factors `k` of iqr */
export function scores(name: AnomalyName, value: Vector, factors: Vector | undefined, frames: Frames, rowCount: number): Vector {
  const values = numbersOf(value, rowCount);
  const validity = new Uint8Array(rowCount);
  const results = new Float64Array(rowCount);
  const k = factors === undefined ? undefined : numbersOf(factors, rowCount);
  const score = name === "zscore" ? zscores(values, frames) : sortedScores(name, values, k, frames);
  for (let i = 0; i < rowCount; i++) {
    const result = score(i);
    if (result === undefined || Number.isNaN(values[i])) continue;
    results[i] = result;
    validity[i] = 1;
  }
  return { kind: "number", values: results, validity };
}

/** Plain numbers, NaN for NULL. */
function numbersOf(vector: Vector, rowCount: number): Float64Array {
  if (vector.kind !== "number") throw new Error(`scores are of floats; got a ${vector.kind} vector`);
  const { validity } = vector;
  const numbers = new Float64Array(vector.values.subarray(0, rowCount));
  if (validity !== undefined) for (let i = 0; i < rowCount; i++) if (validity[i] === 0) numbers[i] = Number.NaN;
  return numbers;
}

/** A score for a distance from the centre and a spread. */
function relative(distance: number, spread: number): number {
  if (spread !== 0) return distance / spread;
  return distance === 0 ? 0 : Number.POSITIVE_INFINITY;
}

/** Count, mean and sum of squared deviations of some values. */
interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
}

const NO_VALUES: Moments = { count: 0, mean: 0, squares: 0 };

/** Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances" (1979). */
function joined(a: Moments, b: Moments): Moments {
  if (a.count === 0) return b;
  if (b.count === 0) return a;
  const count = a.count + b.count;
  const delta = b.mean - a.mean;
  return { count, mean: a.mean + (delta * b.count) / count, squares: a.squares + b.squares + (delta * delta * a.count * b.count) / count };
}

/** Scores among values that only grow in number. */
export class RunningScores {
  private moments = NO_VALUES;

  /** Takes a value; NaN for none. */
  add(value: number): void {
    if (!Number.isNaN(value)) this.moments = joined(this.moments, { count: 1, mean: value, squares: 0 });
  }

  /** The `zscore` of a value among those that were taken; undefined for NaN, and where there are too few. */
  score(value: number): number | undefined {
    const { count, mean, squares } = this.moments;
    if (count < COUNT_MIN.zscore || Number.isNaN(value)) return undefined;
    return relative(Math.abs(value - mean), Math.sqrt(squares / count));
  }
}

function zscores(values: Float64Array, { starts, ends }: Frames): (row: number) => number | undefined {
  const before: Moments[] = [];
  let [turn, end, tail] = [0, 0, NO_VALUES];
  const momentsOf = (row: number): Moments => {
    const value = values[row] ?? Number.NaN;
    return Number.isNaN(value) ? NO_VALUES : { count: 1, mean: value, squares: 0 };
  };
  return (row) => {
    const [start = 0, to = 0] = [starts[row], ends[row]];
    if (start >= turn) {
      turn = Math.max(start, to);
      let moments = NO_VALUES;
      for (let at = turn - 1; at >= start; at--) {
        moments = joined(momentsOf(at), moments);
        before[at] = moments;
      }
      [end, tail] = [turn, NO_VALUES];
    }
    for (; end < to; end++) tail = joined(tail, momentsOf(end));
    const { count, mean, squares } = start < turn ? joined(before[start] ?? NO_VALUES, tail) : tail;
    if (count < COUNT_MIN.zscore) return undefined;
    return relative(Math.abs((values[row] ?? 0) - mean), Math.sqrt(squares / count));
  };
}

/** The values of a frame that moves on, in order. */
class SortedValues {
  count = 0;
  private sorted = new Float64Array(64);

  add(value: number): void {
    if (Number.isNaN(value)) return;
    if (this.count === this.sorted.length) {
      const grown = new Float64Array(this.count * 2);
      grown.set(this.sorted);
      this.sorted = grown;
    }
    const at = this.find(value);
    this.sorted.copyWithin(at + 1, at, this.count++);
    this.sorted[at] = value;
  }

  remove(value: number): void {
    if (Number.isNaN(value)) return;
    const at = this.find(value);
    this.sorted.copyWithin(at, at + 1, this.count--);
  }

  clear(): void {
    this.count = 0;
  }

  /** The value at a share of the way from the least to the greatest, between its neighbours where it falls between. */
  quantile(portion: number): number {
    const at = portion * (this.count - 1);
    const low = this.sorted[Math.floor(at)] ?? 0;
    const high = this.sorted[Math.ceil(at)] ?? 0;
    return low === high ? low : low + (high - low) * (at - Math.floor(at));
  }

  /** The median distance from `centre`. The distances fall up to the centre and rise from there: two sorted lists to merge. */
  medianDistance(centre: number): number {
    let right = this.find(centre);
    let left = right - 1;
    let [previous, current] = [0, 0];
    for (let i = 0; i <= this.count >> 1; i++) {
      const below = left < 0 ? Number.POSITIVE_INFINITY : centre - (this.sorted[left] ?? 0);
      const above = right >= this.count ? Number.POSITIVE_INFINITY : (this.sorted[right] ?? 0) - centre;
      previous = current;
      if (left >= 0 && (right >= this.count || below <= above)) {
        current = below;
        left--;
      } else {
        current = above;
        right++;
      }
    }
    return this.count % 2 === 1 ? current : previous + (current - previous) / 2;
  }

  /** The position of the first value that is not below one. */
  private find(value: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function sortedScores(
  name: "mad" | "iqr",
  values: Float64Array,
  factors: Float64Array | undefined,
  { starts, ends }: Frames,
): (row: number) => number | undefined {
  const sorted = new SortedValues();
  let [first, end] = [0, 0];
  return (row) => {
    const [start = 0, to = 0] = [starts[row], ends[row]];
    if (start >= end) {
      sorted.clear();
      [first, end] = [start, start];
    }
    for (; first < start; first++) sorted.remove(values[first] ?? 0);
    for (; end < to; end++) sorted.add(values[end] ?? 0);
    if (sorted.count < COUNT_MIN[name]) return undefined;
    const value = values[row] ?? 0;
    if (name === "iqr") return outside(value, sorted.quantile(0.25), sorted.quantile(0.75), factors?.[row] ?? Number.NaN);
    const median = sorted.quantile(0.5);
    return relative(Math.abs(value - median), MAD_SCALE * sorted.medianDistance(median));
  };
}

/** How far a value lies outside the fences around the quartiles; undefined without a factor. */
function outside(value: number, q1: number, q3: number, factor: number): number | undefined {
  if (Number.isNaN(factor)) return undefined;
  const range = q3 - q1;
  return relative(Math.max(q1 - factor * range - value, value - q3 - factor * range, 0), range);
}
