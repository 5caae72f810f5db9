/**
 * Scores of how far a row's value lies from the others of its frame. NULL and NaN do not count and have no score.
 *
 *   zscore  |v - mean| / standard deviation of the population        at least 2 values
 *   mad     |v - median| / (1.4826 · median of |x - median|)         at least 3
 *   iqr     distance outside [q1 - k·(q3 - q1), q3 + k·(q3 - q1)], divided by q3 - q1; at least 3
 *
 * Where the spread is 0 the score is 0 for a value at the centre, or within, and infinite elsewhere. Means fold from both ends of a turning
 * point (`two-ends.ts`); medians and quartiles come from a sorted copy of the frame, which grows and shrinks with it.
 */
import { firstNumberFrom } from "../../../base/bytes/binary-search.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import type { Vector } from "../../../column/vector.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecContext } from "../contract/exec-context.ts";
import type { FrameNumbers } from "./frame-numbers.ts";
import type { Hold } from "./frame-walk.ts";
import type { AnomalyName, WindowCall } from "./node.ts";
import { type Fold, NumberFrame, type NumberResults } from "./number-frame.ts";
import { offsetsFrom } from "./plain-numbers.ts";
import type { Chunk, SortedRows } from "./sorted-rows.ts";
import { TwoEnds } from "./two-ends.ts";

/** Makes the median of deviations comparable with a standard deviation, for values that are normally distributed. */
const MAD_SCALE = 1.4826;

/** Fewest values of a frame that give a score. */
const COUNT_MIN: Readonly<Record<AnomalyName, number>> = { zscore: 2, mad: 3, iqr: 3 };

/** The frames of a call, which takes its value; NULL and NaN are not among them. @param leave whether rows leave before all do */
export function scoredFrames(call: AnomalyCall, leave: boolean, rows: SortedRows, context: ExecContext, hold: Hold): NumberFrame {
  const own = new OwnValues(call, rows, context);
  const fold = call.name === "zscore" ? new Deviations(own, hold) : new Quantiles(call.name, own, hold);
  const counted = { rowsAlone: false, keepsTimes: false, skipsNan: true, hasFilter: false, leave, result: call.type };
  return new NumberFrame(fold, counted, hold);
}

type AnomalyCall = Extract<WindowCall, { kind: "anomaly" }>;

/** What is scored: values and factors of the rows of a chunk, NaN for NULL. */
class OwnValues {
  values: Float64Array = new Float64Array(0);
  /** `k` of iqr. */
  factors: Float64Array | undefined;
  private readonly value: VectorEvaluator;
  private readonly factor: VectorEvaluator | undefined;

  constructor({ value, factor }: AnomalyCall, { columns }: SortedRows, context: ExecContext) {
    this.value = new VectorEvaluator(value, columns, context);
    this.factor = factor === undefined ? undefined : new VectorEvaluator(factor, columns, context);
  }

  async begin({ batch }: Chunk): Promise<void> {
    this.values = numbersOf(await this.value.vectorInTurns(batch), batch.rowCount);
    if (this.factor !== undefined) this.factors = numbersOf(await this.factor.vectorInTurns(batch), batch.rowCount);
  }
}

/** Plain numbers, NaN for NULL. */
function numbersOf(vector: Vector, rowCount: number): Float64Array {
  const numbers = offsetsFrom(0n, vector, rowCount);
  if (vector.kind !== "number" || numbers === undefined) throw new Error(`scores are of floats; got a ${vector.kind} vector`);
  const { validity } = vector;
  if (validity === undefined) return numbers;
  const valid = numbers.slice(0, rowCount);
  for (let i = 0; i < rowCount; i++) if (validity[i] === 0) valid[i] = Number.NaN;
  return valid;
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

/** The `zscore`. */
class Deviations implements Fold {
  private readonly own: OwnValues;
  private readonly moments: TwoEnds<Moments>;

  constructor(own: OwnValues, hold: Hold) {
    this.own = own;
    this.moments = new TwoEnds((value) => ({ count: 1, mean: value, squares: 0 }), joined, NO_VALUES, hold);
  }

  add(value: number): void {
    this.moments.add(value);
  }

  drop(numbers: FrameNumbers, from: number, to: number): void {
    this.moments.drop(numbers, from, to);
  }

  clear(): void {
    this.moments.clear();
  }

  begin(chunk: Chunk): Promise<void> {
    return this.own.begin(chunk);
  }

  put(i: number, count: number, results: NumberResults): void {
    const value = this.own.values[i] as number;
    if (count < COUNT_MIN.zscore || Number.isNaN(value)) return;
    const { mean, squares } = this.moments.value;
    results.set(i, relative(Math.abs(value - mean), Math.sqrt(squares / count)));
  }
}

/** The values of a frame that moves on, in order. */
class SortedValues {
  count = 0;
  private sorted = new Float64Array(64);
  private readonly hold: Hold;

  constructor(hold: Hold) {
    this.hold = hold;
  }

  add(value: number): void {
    if (this.count === this.sorted.length) {
      this.hold(this.sorted.byteLength, this.count + 1);
      this.sorted = longer(this.sorted);
    }
    const at = this.find(value);
    this.sorted.copyWithin(at + 1, at, this.count++);
    this.sorted[at] = value;
  }

  remove(value: number): void {
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
    return firstNumberFrom(this.sorted, value, 0, this.count);
  }
}

/** Values of a frame that are moved or looked at in the time that the simplest call takes for a row. */
const VALUES_PER_COST = 16;

/** `mad` and `iqr`. */
class Quantiles implements Fold {
  private readonly name: "mad" | "iqr";
  private readonly own: OwnValues;
  private readonly sorted: SortedValues;

  constructor(name: "mad" | "iqr", own: OwnValues, hold: Hold) {
    this.name = name;
    this.own = own;
    this.sorted = new SortedValues(hold);
  }

  cost(count: number): number {
    return 1 + count / VALUES_PER_COST;
  }

  add(value: number): void {
    this.sorted.add(value);
  }

  drop({ values }: FrameNumbers, from: number, to: number): void {
    for (let i = from; i < to; i++) this.sorted.remove(values[i] as number);
  }

  clear(): void {
    this.sorted.clear();
  }

  begin(chunk: Chunk): Promise<void> {
    return this.own.begin(chunk);
  }

  put(i: number, count: number, results: NumberResults): void {
    const { name, own, sorted } = this;
    const value = own.values[i] as number;
    if (count < COUNT_MIN[name] || Number.isNaN(value)) return;
    if (name === "iqr") {
      const score = outside(value, sorted.quantile(0.25), sorted.quantile(0.75), own.factors?.[i] ?? Number.NaN);
      if (score !== undefined) results.set(i, score);
      return;
    }
    const median = sorted.quantile(0.5);
    results.set(i, relative(Math.abs(value - median), MAD_SCALE * sorted.medianDistance(median)));
  }
}

/** How far a value lies outside the fences around the quartiles; undefined without a factor. */
function outside(value: number, q1: number, q3: number, factor: number): number | undefined {
  if (Number.isNaN(factor)) return undefined;
  const range = q3 - q1;
  return relative(Math.max(q1 - factor * range - value, value - q3 - factor * range, 0), range);
}
