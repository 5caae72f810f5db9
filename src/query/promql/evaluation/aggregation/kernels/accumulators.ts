/**
 * Aggregations that fold series into arrays of one number a step, so that a group needs memory for its steps alone.
 *
 * Most series have a value at every step: they are folded without a look at which steps there are, and counted once for all of them
 * (1,000 series of 240 steps, ns a value: `sum` 2.0 → 1.6, `avg` 3.8 → 2.1, `min` 1.7 → 1.0, `stddev` 1.4 → 0.9, `count` 0.6 → 0.2; Bun
 * 1.4.5, `aggregations.bench.ts`).
 */
import { hasAllSteps } from "../../kernels/steps.ts";
import type { Steps } from "../../scope.ts";

/** What a group has seen: a count a step and up to two numbers, by the aggregation. */
export interface Accumulator {
  /** Of the series that lack steps. */
  readonly count: Float64Array;
  readonly main: Float64Array;
  readonly side: Float64Array;
  /** Series that have all steps. */
  whole: number;
  /** Series that lack some. */
  partial: number;
  /** By what values are multiplied, so that their sum is a number. */
  scale: number;
}

/** One aggregation. */
export interface Aggregation {
  readonly add: (into: Accumulator, series: Steps) => void;
  /** The result of a step. */
  readonly result: (count: number, main: number, side: number, scale: number) => number;
}

/** Bytes of a group with so many steps, its result with it. */
export function accumulatorBytes(steps: number): number {
  return steps * 25 + 512;
}

/** Of no series. */
export function newAccumulator(steps: number): Accumulator {
  const [count, main, side] = [new Float64Array(steps), new Float64Array(steps), new Float64Array(steps)];
  return { count, main, side, whole: 0, partial: 0, scale: 1 };
}

/** Puts the results into the accumulator's own array. */
export function finished({ count, main, side, whole, scale }: Accumulator, { result }: Aggregation): Steps {
  const present = new Uint8Array(main.length);
  for (let i = 0; i < main.length; i++) {
    const all = count[i]! + whole;
    if (all === 0) continue;
    present[i] = 1;
    main[i] = result(all, main[i]!, side[i]!, scale);
  }
  return { values: main, present, histograms: undefined };
}

/** The steps of a series that lacks some; undefined: it has all. Counts it. */
function maskOf(into: Accumulator, present: Uint8Array): Uint8Array | undefined {
  if (hasAllSteps(present)) {
    into.whole++;
    return undefined;
  }
  into.partial++;
  return present;
}

/** Compensated (Neumaier 1974). */
function addSum(into: Accumulator, { values, present }: Steps): void {
  const { main, side } = into;
  if (maskOf(into, present) === undefined) {
    sumAll(main, side, values);
    return;
  }
  const { count } = into;
  for (let i = 0; i < main.length; i++) {
    if (present[i] === 0) continue;
    const value = values[i]!;
    const sum = main[i]!;
    const next = sum + value;
    if (next - next !== 0) side[i] = 0;
    else if (Math.abs(sum) >= Math.abs(value)) side[i]! += sum - next + value;
    else side[i]! += value - next + sum;
    main[i] = next;
    count[i]!++;
  }
}

function sumAll(main: Float64Array, side: Float64Array, values: Float64Array): void {
  for (let i = 0; i < main.length; i++) {
    const value = values[i]!;
    const sum = main[i]!;
    const next = sum + value;
    if (next - next !== 0) side[i] = 0;
    else if (Math.abs(sum) >= Math.abs(value)) side[i]! += sum - next + value;
    else side[i]! += value - next + sum;
    main[i] = next;
  }
}

/** A power of two by which the largest numbers are made small enough for their sums. */
const SCALE = 2 ** -64;

/** A sum, too; from the first one on that is beyond the largest number, all are a 2⁶⁴th of themselves. */
function addMean(into: Accumulator, { values, present }: Steps): void {
  const { count, main, side } = into;
  const mask = maskOf(into, present);
  let { scale } = into;
  for (let i = 0; i < main.length; i++) {
    if (mask !== undefined && mask[i] === 0) continue;
    const value = values[i]! * scale;
    const sum = main[i]!;
    const next = sum + value;
    if (next - next !== 0) {
      if (scale === 1 && sum - sum === 0 && value - value === 0) {
        shrink(into);
        ({ scale } = into);
        i--;
        continue;
      }
      side[i] = 0;
    } else if (Math.abs(sum) >= Math.abs(value)) side[i]! += sum - next + value;
    else side[i]! += value - next + sum;
    main[i] = next;
    if (mask !== undefined) count[i]!++;
  }
}

function shrink(into: Accumulator): void {
  const { main, side } = into;
  for (let i = 0; i < main.length; i++) {
    main[i]! *= SCALE;
    side[i]! *= SCALE;
  }
  into.scale = SCALE;
}

function addCount(into: Accumulator, { present }: Steps): void {
  if (maskOf(into, present) === undefined) return;
  const { count } = into;
  for (let i = 0; i < count.length; i++) count[i]! += present[i]!;
}

/** `main` is NaN where there is nothing yet. @param sign 1 for the smallest, -1 for the largest */
function addExtreme(into: Accumulator, { values, present }: Steps, sign: 1 | -1): void {
  const { count, main } = into;
  if (into.whole + into.partial === 0) main.fill(Number.NaN);
  const mask = maskOf(into, present);
  if (mask === undefined) {
    for (let i = 0; i < main.length; i++) {
      const value = values[i]!;
      const best = main[i]!;
      if (sign * value < sign * best || best !== best) main[i] = value;
    }
    return;
  }
  for (let i = 0; i < main.length; i++) {
    if (mask[i] === 0) continue;
    const value = values[i]!;
    const best = main[i]!;
    if (sign * value < sign * best || best !== best) main[i] = value;
    count[i]!++;
  }
}

/** `main` is the mean, `side` the sum of squared deviations (Welford 1962). */
function addDeviation(into: Accumulator, { values, present }: Steps): void {
  const { count, main, side } = into;
  const mask = maskOf(into, present);
  if (mask === undefined && into.partial === 0) {
    const share = 1 / into.whole;
    for (let i = 0; i < main.length; i++) {
      const delta = values[i]! - main[i]!;
      main[i]! += delta * share;
      side[i]! += delta * (values[i]! - main[i]!);
    }
    return;
  }
  for (let i = 0; i < main.length; i++) {
    if (mask !== undefined) {
      if (mask[i] === 0) continue;
      count[i]!++;
    }
    const delta = values[i]! - main[i]!;
    main[i]! += delta / (count[i]! + into.whole);
    side[i]! += delta * (values[i]! - main[i]!);
  }
}

/** By the name of the aggregation. */
export const AGGREGATIONS: ReadonlyMap<string, Aggregation> = new Map<string, Aggregation>([
  ["avg", { add: addMean, result: (count, main, side, scale) => (main / count + side / count) / scale }],
  ["count", { add: addCount, result: (count) => count }],
  ["group", { add: addCount, result: () => 1 }],
  ["max", { add: (into, series) => addExtreme(into, series, -1), result: (_count, main) => main }],
  ["min", { add: (into, series) => addExtreme(into, series, 1), result: (_count, main) => main }],
  ["stddev", { add: addDeviation, result: (count, _main, side) => Math.sqrt(side / count) }],
  ["stdvar", { add: addDeviation, result: (count, _main, side) => side / count }],
  ["sum", { add: addSum, result: (_count, main, side) => main + side }],
]);
