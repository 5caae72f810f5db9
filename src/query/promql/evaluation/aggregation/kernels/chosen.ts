/**
 * The series that a group keeps at each step: the largest, the smallest, or the first. A heap a step, the worst on top, all in arrays that
 * grow together, so that a series that no step keeps costs a comparison a step.
 */
import type { Labels, NativeHistogram } from "../../series-source.ts";
import type { StepSeries } from "../../scope.ts";

/** What is kept: the largest values, the smallest, or what came first. NaN goes first. */
export type Wanted = "largest" | "smallest" | "first";

/** A series of which a step keeps something. */
interface KeptSeries {
  readonly labels: Labels;
  readonly dropsName: boolean;
  /** Which one it was of all. */
  readonly order: number;
  /** Steps that keep it. */
  steps: number;
}

/** Bytes of a place of a heap, and of a series that is kept. */
const PLACE_BYTES = 12;
const SERIES_BYTES = 256;

/** See the file header. */
export class Chosen {
  /** Series by number; undefined: the number is free. */
  readonly kept: (KeptSeries | undefined)[] = [];
  private readonly free: number[] = [];
  private readonly steps: number;
  /** 1 where larger values are better, -1 where smaller ones are, 0: none is. */
  private readonly sign: number;
  private readonly reserve: (bytes: number) => void;
  private readonly sizes: Int32Array;
  private room = 0;
  private values: Float64Array = new Float64Array(0);
  private numbers: Int32Array = new Int32Array(0);
  private histograms: (NativeHistogram | undefined)[] | undefined;
  private seen = 0;

  /** @param reserve counts bytes before they are taken */
  constructor(steps: number, wanted: Wanted, reserve: (bytes: number) => void) {
    this.steps = steps;
    this.sign = wanted === "first" ? 0 : wanted === "largest" ? 1 : -1;
    this.reserve = reserve;
    this.reserve(4 * steps + SERIES_BYTES);
    this.sizes = new Int32Array(steps);
  }

  /** Takes a series in at `[from, to)`. @param most that a step keeps @returns its number for the next steps; -1: none keeps it */
  add(series: StepSeries, most: Float64Array, from: number, to: number, known: number): number {
    const { values, present, histograms } = series;
    const { sizes, sign } = this;
    if (from === 0) this.seen++;
    let number = known;
    for (let i = from; i < to; i++) {
      if (present[i] === 0 || !(most[i]! >= 1)) continue;
      const size = sizes[i]!;
      const isFull = size >= most[i]!;
      if (isFull) {
        // As `isWorse` does: most values are none of the best.
        const worst = this.values[i * this.room]!;
        if (sign === 0 || (worst === worst ? !(sign * worst < sign * values[i]!) : values[i] !== values[i])) continue;
      }
      if (number < 0) number = this.numberOf(series);
      this.kept[number]!.steps++;
      if (isFull) {
        this.drop(this.numbers[i * this.room]!);
        this.put(i * this.room, values[i]!, number, histograms?.[i]);
        this.down(i * this.room, size);
      } else {
        if (size === this.room) this.grow();
        this.put(i * this.room + size, values[i]!, number, histograms?.[i]);
        sizes[i] = size + 1;
        this.up(i * this.room, size);
      }
    }
    return number;
  }

  /** Calls `take` for what the steps `[from, to)` keep, in no order. */
  each(
    from: number,
    to: number,
    take: (number: number, step: number, value: number, histogram: NativeHistogram | undefined) => void,
  ): void {
    for (let step = from; step < to; step++) {
      const heap = step * this.room;
      for (let at = heap; at < heap + this.sizes[step]!; at++) take(this.numbers[at]!, step, this.values[at]!, this.histograms?.[at]);
    }
  }

  /** Whether `a` goes before `b` does. */
  isWorse(a: number, b: number): boolean {
    if (this.sign === 0) return false;
    return a !== a ? b === b : this.sign * a < this.sign * b;
  }

  private numberOf({ labels, dropsName }: StepSeries): number {
    const one = { labels, dropsName, order: this.seen, steps: 0 };
    const number = this.free.pop();
    if (number !== undefined) {
      this.kept[number] = one;
      return number;
    }
    this.reserve(SERIES_BYTES);
    return this.kept.push(one) - 1;
  }

  private drop(number: number): void {
    const one = this.kept[number]!;
    if (--one.steps > 0) return;
    this.kept[number] = undefined;
    this.free.push(number);
  }

  private grow(): void {
    const { steps, sizes } = this;
    const room = Math.max(1, this.room * 2);
    this.reserve((room - this.room) * steps * PLACE_BYTES);
    const values = new Float64Array(room * steps);
    const numbers = new Int32Array(room * steps);
    const histograms = this.histograms && new Array<NativeHistogram | undefined>(room * steps).fill(undefined);
    for (let step = 0; step < steps; step++) {
      const from = step * this.room;
      const to = step * room;
      for (let at = 0; at < sizes[step]!; at++) {
        values[to + at] = this.values[from + at]!;
        numbers[to + at] = this.numbers[from + at]!;
        if (histograms !== undefined) histograms[to + at] = this.histograms?.[from + at];
      }
    }
    this.room = room;
    this.values = values;
    this.numbers = numbers;
    this.histograms = histograms;
  }

  private put(at: number, value: number, number: number, histogram: NativeHistogram | undefined): void {
    this.values[at] = value;
    this.numbers[at] = number;
    if (histogram !== undefined) this.histograms ??= new Array<undefined>(this.values.length).fill(undefined);
    if (this.histograms !== undefined) this.histograms[at] = histogram;
  }

  private swap(a: number, b: number): void {
    const { values, numbers, histograms } = this;
    const [value, number] = [values[a]!, numbers[a]!];
    values[a] = values[b]!;
    numbers[a] = numbers[b]!;
    values[b] = value;
    numbers[b] = number;
    if (histograms !== undefined) [histograms[a], histograms[b]] = [histograms[b], histograms[a]];
  }

  private up(heap: number, from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.isWorse(this.values[heap + at]!, this.values[heap + parent]!)) return;
      this.swap(heap + at, heap + parent);
      at = parent;
    }
  }

  private down(heap: number, size: number): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      let worst = at;
      if (left < size && this.isWorse(this.values[heap + left]!, this.values[heap + worst]!)) worst = left;
      if (left + 1 < size && this.isWorse(this.values[heap + left + 1]!, this.values[heap + worst]!)) worst = left + 1;
      if (worst === at) return;
      this.swap(heap + at, heap + worst);
      at = worst;
    }
  }
}
