/**
 * The series that a group keeps at each step: the largest, the smallest, or the first.
 */
import type { StepSeries } from "../../scope.ts";

/** One that a step keeps. */
interface Kept {
  readonly series: number;
  readonly value: number;
}

/** A heap a step, the worst on top. */
export class Chosen {
  private readonly heaps: Kept[][];
  /** Whether `a` goes before `b` does. */
  private readonly isWorse: (a: number, b: number) => boolean;

  constructor(steps: number, isWorse: (a: number, b: number) => boolean) {
    this.heaps = Array.from({ length: steps }, () => []);
    this.isWorse = isWorse;
  }

  /** How many steps took a value of the series in. @param sizes most that a step keeps */
  add(series: StepSeries, id: number, sizes: Float64Array): number {
    let taken = 0;
    for (let i = 0; i < this.heaps.length; i++) {
      if (series.present[i] === 0 || !(sizes[i]! >= 1)) continue;
      const heap = this.heaps[i]!;
      const one = { series: id, value: series.values[i]! };
      if (heap.length < sizes[i]!) {
        heap.push(one);
        this.up(heap, heap.length - 1);
      } else if (this.isWorse(heap[0]!.value, one.value)) {
        heap[0] = one;
        this.down(heap, 0);
      } else continue;
      taken++;
    }
    return taken;
  }

  /** Each kept value: step by step, the best first. */
  each(take: (series: number, step: number, value: number) => void): void {
    for (const [step, heap] of this.heaps.entries()) {
      const ordered = heap.toSorted((a, b) => {
        if (this.isWorse(a.value, b.value)) return 1;
        return this.isWorse(b.value, a.value) ? -1 : a.series - b.series;
      });
      for (const { series, value } of ordered) take(series, step, value);
    }
  }

  private up(heap: Kept[], from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.isWorse(heap[at]!.value, heap[parent]!.value)) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  private down(heap: Kept[], from: number): void {
    for (let at = from; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && this.isWorse(heap[child]!.value, heap[worst]!.value)) worst = child;
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst]!, heap[at]!];
      at = worst;
    }
  }
}

/** All values of a group, a list a step. */
export class Listed {
  private readonly lists: number[][];

  constructor(steps: number) {
    this.lists = Array.from({ length: steps }, () => []);
  }

  add({ values, present }: StepSeries): void {
    for (let i = 0; i < this.lists.length; i++) if (present[i] === 1) this.lists[i]!.push(values[i]!);
  }

  /** A number of each step's values in order, NaN first; steps of none have none. */
  results(result: (ordered: readonly number[], step: number) => number): { values: Float64Array; present: Uint8Array } {
    const values = new Float64Array(this.lists.length);
    const present = new Uint8Array(this.lists.length);
    for (const [step, list] of this.lists.entries()) {
      if (list.length === 0) continue;
      list.sort((a, b) => (Number.isNaN(a) || Number.isNaN(b) ? (Number.isNaN(b) ? 1 : 0) - (Number.isNaN(a) ? 1 : 0) : a - b));
      values[step] = result(list, step);
      present[step] = 1;
    }
    return { values, present };
  }
}

/** Adds one to the count of each value that a series has, and makes its counts where there are none. */
export function countValues(series: StepSeries, countsOf: (value: number) => StepSeries): void {
  let last: StepSeries | undefined;
  let lastValue = 0;
  for (let i = 0; i < series.present.length; i++) {
    if (series.present[i] === 0) continue;
    const value = series.values[i]!;
    if (last === undefined || !Object.is(value, lastValue)) last = countsOf(value);
    lastValue = value;
    last.values[i]!++;
    last.present[i] = 1;
  }
}
