/**
 * An order of chunks in which their rows are moved to few places at a time.
 *
 * Scrapes send the same series again and again, a request some thousands of them: chunk k has those of chunk k + 50. Taken by age, each row
 * goes to a part of the target that left the cache long ago. Taken request by request of the scrape, all rows of its series go there one
 * after the other. Series numbers are given in the order of first appearance, so chunks of one such request share a range of numbers.
 *
 *   series ─►   |== chunks 0, 50, 100 ==|   |== 1, 51, 101 ==|   |= 2, 52 =|    clusters: ranges that meet, also through others
 *
 * Measured, 2.4M rows of 100,000 series in 1,200 chunks, sorted and a column moved: 86 to 95 ns a row before, 49 to 72 now.
 */
import type { Chunk } from "./chunk.ts";

/** Rows below which all of the target is in the cache anyway. */
const ROWS_MIN = 131_072;

interface Ranged<T> {
  readonly item: T;
  readonly age: number;
  readonly min: number;
  readonly max: number;
}

/** The items cluster by cluster; within a cluster in their order, so those that share a series stay in it. */
export function clusteredBySeries<T extends { readonly chunk: Chunk }>(items: readonly T[], rowsMin: number = ROWS_MIN): readonly T[] {
  let rowCount = 0;
  for (const { chunk } of items) rowCount += chunk.rowCount;
  if (items.length < 3 || rowCount < rowsMin) return items;
  const ranged = items.map((item, age): Ranged<T> => ({ item, age, ...rangeOf(item.chunk.series, item.chunk.rowCount) }));
  ranged.sort((a, b) => a.min - b.min);
  const clusterOf = new Uint32Array(items.length);
  let end = -1;
  let cluster = 0;
  for (const { age, min, max } of ranged) {
    if (min > end) cluster++;
    if (max > end) end = max;
    clusterOf[age] = cluster;
  }
  ranged.sort((a, b) => clusterOf[a.age]! - clusterOf[b.age]! || a.age - b.age);
  return ranged.map(({ item }) => item);
}

function rangeOf(series: Chunk["series"], count: number): { readonly min: number; readonly max: number } {
  let min = series[0]!;
  let max = min;
  for (let i = 1; i < count; i++) {
    const number = series[i]!;
    if (number < min) min = number;
    if (number > max) max = number;
  }
  return { min, max };
}
