/**
 * Makes a `TombstoneSet` of ranges that come in any order and may overlap: sorted by series and time, then cut so that each time is
 * covered once, by the newest range that covers it.
 *
 *   given      |---- age 1 ----|          made   |- 1 -|--- 2 ---|
 *                    |--- age 2 ---|
 *
 * Counting sort by series; ranges of a series mostly come in order of time, and then nothing is compared but neighbours.
 */
import { assert } from "../../base/assert.ts";
import { longer } from "../../base/bytes/longer-array.ts";
import { TombstoneSet } from "./tombstone-set.ts";

/** See the file header. */
export class TombstoneBuilder {
  private readonly base: bigint;
  private count = 0;
  private rowCount = 0;
  private series: Uint32Array = new Uint32Array(64);
  private firsts: Float64Array = new Float64Array(64);
  private lasts: Float64Array = new Float64Array(64);
  private ages: Uint32Array = new Uint32Array(64);

  /** @param base what times count from */
  constructor(base: bigint) {
    this.base = base;
  }

  /** Adds a range, inclusive on both ends, as offsets from the base. */
  add(series: number, first: number, last: number, age: number): void {
    if (this.count === this.series.length) this.grow();
    const i = this.count++;
    this.series[i] = series;
    this.firsts[i] = first;
    this.lasts[i] = last;
    this.ages[i] = age;
  }

  /** Adds all ranges of a set as of one age. */
  addSet(set: TombstoneSet, age: number): void {
    assert(set.base === this.base, `ranges that count from ${this.base}; got ${set.base}`);
    for (let position = 0; position < set.series.length; position++) {
      for (let i = set.startOf(position); i < set.ends[position]!; i++) {
        this.add(set.series[position]!, set.firsts[i]!, set.lasts[i]!, age);
      }
    }
    this.addRows(set.rowCount);
  }

  /** Counts rows that were deleted: see `TombstoneSet.rowCount`. */
  addRows(count: number): void {
    this.rowCount += count;
  }

  /** The set; undefined when nothing was added. */
  finish(): TombstoneSet | undefined {
    const { count } = this;
    if (count === 0) return undefined;
    const order = this.bySeries();
    const out: Ranges = { firsts: [], lasts: [], ages: [] };
    const series: number[] = [];
    const ends: number[] = [];
    for (let from = 0; from < count; ) {
      const number = this.series[order[from]!]!;
      let to = from + 1;
      while (to < count && this.series[order[to]!] === number) to++;
      this.coverSeries(order.subarray(from, to), out);
      series.push(number);
      ends.push(out.firsts.length);
      from = to;
    }
    return new TombstoneSet({
      base: this.base,
      series: Uint32Array.from(series),
      ends: Uint32Array.from(ends),
      firsts: Float64Array.from(out.firsts),
      lasts: Float64Array.from(out.lasts),
      ages: Uint32Array.from(out.ages),
      rowCount: this.rowCount,
    });
  }

  /** Positions of the ranges by ascending series; those of one series in the order in which they came. */
  private bySeries(): Uint32Array {
    const { series, count } = this;
    let max = 0;
    for (let i = 0; i < count; i++) if (series[i]! > max) max = series[i]!;
    const cursors = new Uint32Array(max + 2);
    for (let i = 0; i < count; i++) cursors[series[i]! + 1]!++;
    for (let s = 0; s <= max; s++) cursors[s + 1]! += cursors[s]!;
    const order = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const at = cursors[series[i]!]!;
      cursors[series[i]!] = at + 1;
      order[at] = i;
    }
    return order;
  }

  /** Appends what the ranges `order` of one series cover. */
  private coverSeries(order: Uint32Array, out: Ranges): void {
    const { firsts, lasts, ages } = this;
    const start = out.firsts.length;
    if (!this.isAscending(order)) order.sort((a, b) => firsts[a]! - firsts[b]! || ages[b]! - ages[a]!);
    if (this.isApart(order)) {
      for (let i = 0; i < order.length; i++) push(out, start, firsts[order[i]!]!, lasts[order[i]!]!, ages[order[i]!]!);
      return;
    }
    const open = new NewestFirst(ages);
    let next = 0;
    let at = 0;
    for (;;) {
      open.dropWhile((i) => lasts[i]! < at);
      if (open.isEmpty) {
        if (next === order.length) return;
        at = firsts[order[next]!]!;
      }
      while (next < order.length && firsts[order[next]!]! <= at) open.add(order[next++]!);
      open.dropWhile((i) => lasts[i]! < at);
      const newest = open.newest;
      if (newest === undefined) continue;
      const limit = next < order.length ? firsts[order[next]!]! - 1 : Number.POSITIVE_INFINITY;
      const end = Math.min(lasts[newest]!, limit);
      push(out, start, at, end, ages[newest]!);
      at = end + 1;
    }
  }

  private isAscending(order: Uint32Array): boolean {
    for (let i = 1; i < order.length; i++) if (this.firsts[order[i]!]! < this.firsts[order[i - 1]!]!) return false;
    return true;
  }

  private isApart(order: Uint32Array): boolean {
    for (let i = 1; i < order.length; i++) if (this.firsts[order[i]!]! <= this.lasts[order[i - 1]!]!) return false;
    return true;
  }

  private grow(): void {
    this.series = longer(this.series);
    this.firsts = longer(this.firsts);
    this.lasts = longer(this.lasts);
    this.ages = longer(this.ages);
  }
}

interface Ranges {
  readonly firsts: number[];
  readonly lasts: number[];
  readonly ages: number[];
}

/** Appends a range, or makes the last one of the series longer when they touch and are of one age. */
function push(out: Ranges, start: number, first: number, last: number, age: number): void {
  const at = out.firsts.length - 1;
  if (at >= start && out.lasts[at]! + 1 === first && out.ages[at] === age) {
    out.lasts[at] = last;
    return;
  }
  out.firsts.push(first);
  out.lasts.push(last);
  out.ages.push(age);
}

/** Ranges that are open at a time, the newest on top: a binary heap of their positions. */
class NewestFirst {
  private readonly ages: Uint32Array;
  private readonly heap: number[] = [];

  constructor(ages: Uint32Array) {
    this.ages = ages;
  }

  get isEmpty(): boolean {
    return this.heap.length === 0;
  }

  get newest(): number | undefined {
    return this.heap[0];
  }

  /** Takes newest ones away while they are over. Older ones that are over stay until they come up. */
  dropWhile(isOver: (i: number) => boolean): void {
    while (this.heap.length > 0 && isOver(this.heap[0]!)) this.removeTop();
  }

  add(i: number): void {
    const { heap } = this;
    let at = heap.push(i) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.ages[heap[parent]!]! >= this.ages[i]!) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = i;
  }

  private removeTop(): void {
    const { heap, ages } = this;
    const moved = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && ages[heap[child + 1]!]! > ages[heap[child]!]!) child++;
      if (ages[heap[child]!]! <= ages[moved]!) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
  }
}
