/**
 * Aggregations that fold series into arrays of one number a step, so that a group needs memory for its steps alone.
 */
import type { StepSeries } from "../../scope.ts";

/** What a group has seen: a count a step and up to two numbers, by the aggregation. */
export interface Accumulator {
  readonly count: Float64Array;
  readonly main: Float64Array;
  readonly side: Float64Array;
}

/** One aggregation. */
export interface Aggregation {
  readonly add: (into: Accumulator, series: StepSeries) => void;
  /** The result of a step. */
  readonly result: (count: number, main: number, side: number) => number;
}

/** Bytes of a group with so many steps, its result with it. */
export function accumulatorBytes(steps: number): number {
  return steps * 25 + 512;
}

/** Of no series. */
export function newAccumulator(steps: number): Accumulator {
  return { count: new Float64Array(steps), main: new Float64Array(steps), side: new Float64Array(steps) };
}

/** Puts the results into the accumulator's own array. */
export function finished({ count, main, side }: Accumulator, { result }: Aggregation): { values: Float64Array; present: Uint8Array } {
  const present = new Uint8Array(main.length);
  for (let i = 0; i < main.length; i++) {
    if (count[i] === 0) continue;
    present[i] = 1;
    main[i] = result(count[i]!, main[i]!, side[i]!);
  }
  return { values: main, present };
}

/** Compensated (Neumaier 1974). */
function addSum({ count, main, side }: Accumulator, { values, present }: StepSeries): void {
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

/** The mean of those before, moved by each further one: for what is too large to be added up. */
function addMean({ count, main, side }: Accumulator, { values, present }: StepSeries): void {
  for (let i = 0; i < main.length; i++) {
    if (present[i] === 0) continue;
    const value = values[i]!;
    const size = ++count[i]!;
    const mean = main[i]!;
    if (size === 1) {
      main[i] = value;
    } else if (Number.isFinite(mean)) {
      // mean + lost + (value - mean) / size, each part small enough.
      const step = value / size - mean / size - side[i]! / size;
      const next = mean + step;
      if (next - next !== 0) side[i] = 0;
      else if (Math.abs(mean) >= Math.abs(step)) side[i]! += mean - next + step;
      else side[i]! += step - next + mean;
      main[i] = next;
    } else if (Number.isNaN(value) || value === -mean) main[i] = Number.NaN;
  }
}

function addCount({ count }: Accumulator, { present }: StepSeries): void {
  for (let i = 0; i < count.length; i++) count[i]! += present[i]!;
}

function addMin({ count, main }: Accumulator, { values, present }: StepSeries): void {
  for (let i = 0; i < main.length; i++) {
    if (present[i] === 0) continue;
    const value = values[i]!;
    const least = main[i]!;
    if (count[i]!++ === 0 || value < least || least !== least) main[i] = value;
  }
}

function addMax({ count, main }: Accumulator, { values, present }: StepSeries): void {
  for (let i = 0; i < main.length; i++) {
    if (present[i] === 0) continue;
    const value = values[i]!;
    const most = main[i]!;
    if (count[i]!++ === 0 || value > most || most !== most) main[i] = value;
  }
}

/** `main` is the mean, `side` the sum of squared deviations (Welford 1962). */
function addDeviation({ count, main, side }: Accumulator, { values, present }: StepSeries): void {
  for (let i = 0; i < main.length; i++) {
    if (present[i] === 0) continue;
    const value = values[i]!;
    const size = ++count[i]!;
    const delta = value - main[i]!;
    main[i]! += delta / size;
    side[i]! += delta * (value - main[i]!);
  }
}

/** By the name of the aggregation. */
export const AGGREGATIONS: ReadonlyMap<string, Aggregation> = new Map<string, Aggregation>([
  ["avg", { add: addMean, result: (_count, main, side) => (Number.isFinite(main) ? main + side : main) }],
  ["count", { add: addCount, result: (count) => count }],
  ["group", { add: addCount, result: () => 1 }],
  ["max", { add: addMax, result: (_count, main) => main }],
  ["min", { add: addMin, result: (_count, main) => main }],
  ["stddev", { add: addDeviation, result: (count, _main, side) => Math.sqrt(side / count) }],
  ["stdvar", { add: addDeviation, result: (count, _main, side) => side / count }],
  ["sum", { add: addSum, result: (_count, main, side) => main + side }],
]);
