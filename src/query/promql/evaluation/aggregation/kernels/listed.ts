/**
 * All values of a group, and those at places of their order: a quantile needs all, but not in order. A row a series, in blocks that grow;
 * the one at a place is selected (Hoare 1961), which costs a few looks at each value.
 */
import type { Steps } from "../../scope.ts";

/** Values of a block, at most; the first ones are smaller. */
const BLOCK = 65_536;
/** Values that are put in order one by one. */
const FEW = 12;

interface Block {
  readonly values: Float64Array;
  readonly present: Uint8Array;
  readonly rows: number;
  used: number;
}

/** See the file header. */
export class Listed {
  private readonly steps: number;
  private readonly reserve: (bytes: number) => void;
  private readonly blocks: Block[] = [];
  /** Rows of all blocks. */
  private rows = 0;
  private scratch: Float64Array = new Float64Array(0);

  /** @param reserve counts bytes before they are taken */
  constructor(steps: number, reserve: (bytes: number) => void) {
    this.steps = steps;
    this.reserve = reserve;
  }

  /** Takes a series in. @throws DbError for memory */
  add({ values, present }: Steps): void {
    let block = this.blocks.at(-1);
    if (block === undefined || block.used === block.rows) {
      const rows = Math.max(1, Math.min(this.rows, Math.floor(BLOCK / this.steps)));
      // The values, their mask, and their place where one step's are put together.
      this.reserve(rows * (9 * this.steps + 8));
      block = { values: new Float64Array(rows * this.steps), present: new Uint8Array(rows * this.steps), rows, used: 0 };
      this.blocks.push(block);
      this.rows += rows;
    }
    block.values.set(values, block.used * this.steps);
    block.present.set(present, block.used * this.steps);
    block.used++;
  }

  /** Values of most steps, nearly. */
  get size(): number {
    return this.rows;
  }

  /** Puts a number of each step's values into `out`, of steps `[from, to)`; steps of none have none. */
  results(out: Steps, from: number, to: number, result: (values: StepValues, step: number) => number): void {
    if (this.scratch.length < this.rows) this.scratch = new Float64Array(this.rows);
    for (let step = from; step < to; step++) {
      const values = this.valuesOf(step);
      if (values.count === 0) continue;
      out.values[step] = result(values, step);
      out.present[step] = 1;
    }
  }

  private valuesOf(step: number): StepValues {
    const { scratch, steps } = this;
    let count = 0;
    let nans = 0;
    for (const { values, present, used } of this.blocks) {
      for (let at = step; at < used * steps; at += steps) {
        if (present[at] === 0) continue;
        const value = values[at]!;
        if (value === value) scratch[count++] = value;
        else nans++;
      }
    }
    return new StepValues(scratch, count, nans);
  }
}

/** The values of one step. */
export class StepValues {
  readonly count: number;
  private readonly nans: number;
  private readonly numbers: Float64Array;
  private readonly size: number;

  /** @param numbers of which `size` count, in any order; they are moved */
  constructor(numbers: Float64Array, size: number, nans: number) {
    this.numbers = numbers;
    this.size = size;
    this.nans = nans;
    this.count = size + nans;
  }

  /** The value at a place of their order; NaN comes first. */
  at(place: number): number {
    if (place < this.nans) return Number.NaN;
    select(this.numbers, this.size, place - this.nans);
    return this.numbers[place - this.nans]!;
  }
}

/** Moves values so that what is at `place` is what would be there in order, smaller ones before it. */
function select(values: Float64Array, count: number, place: number): void {
  let low = 0;
  let high = count - 1;
  let seed = 1;
  while (high - low > FEW) {
    // The middle of three places that nobody foresees: no order of the values is slow.
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    const pivot = middleOf(values[low]!, values[low + (seed % (high - low))]!, values[high]!);
    let left = low;
    let right = high;
    while (left <= right) {
      while (values[left]! < pivot) left++;
      while (values[right]! > pivot) right--;
      if (left > right) break;
      const value = values[left]!;
      values[left++] = values[right]!;
      values[right--] = value;
    }
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else return;
  }
  for (let i = low + 1; i <= high; i++) {
    const value = values[i]!;
    let at = i;
    for (; at > low && values[at - 1]! > value; at--) values[at] = values[at - 1]!;
    values[at] = value;
  }
}

function middleOf(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
