import { expect, test } from "bun:test";
import { FIELDS } from "../../../test/support/storage/arbitrary-rows.ts";
import { chunkOf } from "../../../test/support/storage/rows.ts";
import { ALL_TIME } from "../../table/scan.ts";
import { Arena, SlabPool } from "../memtable/arena.ts";
import type { Chunk } from "../memtable/chunk.ts";
import { Overwrites } from "./overwrites.ts";

const FAR = 2n ** 62n;

function chunk(...rows: readonly (readonly [series: number, time: bigint])[]): Chunk {
  const given = rows.map(([series, time]) => ({ series, time, values: [] }));
  return chunkOf(1, { rows: given, columnIds: [] }, FIELDS, new Arena(new SlabPool(0)));
}

/** Which of the keys were not written. */
function left(watch: Overwrites, base: bigint, ...keys: readonly (readonly [series: number, offset: number])[]): string[] {
  const series = Uint32Array.from(keys, ([number]) => number);
  const offsets = Float64Array.from(keys, ([, offset]) => offset);
  const count = watch.unwritten({ count: keys.length, series, base, offsets });
  return Array.from({ length: count }, (_, i) => `${series[i]}@${offsets[i]}`);
}

test("knows rows by series and time, whatever their times count from", () => {
  const watch = new Overwrites(ALL_TIME, () => undefined);
  expect(left(watch, 0n, [1, 5])).toEqual(["1@5"]);
  watch.add(chunk([1, 5n], [2, 2n ** 40n]));
  watch.add(chunk([3, -7n]));
  watch.add(chunk([4, FAR + 9n]));
  expect(left(watch, 0n, [1, 5], [1, 6], [2, 5], [2, 2 ** 40], [0, 5])).toEqual(["1@6", "2@5", "0@5"]);
  expect(left(watch, -(2n ** 33n), [3, 2 ** 33 - 7], [3, 2 ** 33 - 8])).toEqual([`3@${2 ** 33 - 8}`]);
  expect(left(watch, FAR - 1n, [4, 10], [4, 9])).toEqual(["4@9"]);
});

test("keeps thousands of rows, and none of them twice", () => {
  const watch = new Overwrites(ALL_TIME, () => undefined, 5000);
  const rows = Array.from({ length: 5000 }, (_, i) => [i % 7, BigInt(i * 1_000_003)] as const);
  for (let from = 0; from < rows.length; from += 100) watch.add(chunk(...rows.slice(from, from + 100)));
  const keys = rows.map(([series, time]) => [series, Number(time)] as const);
  expect(left(watch, 0n, ...keys)).toEqual([]);
  expect(left(watch, 1n, ...keys)).toHaveLength(5000);
  expect(watch.isFull).toBe(false);
});

test("beyond its limit every row counts as written", () => {
  const watch = new Overwrites(ALL_TIME, () => undefined, 2);
  watch.add(chunk([1, 1n], [1, 2n]));
  expect(watch.isFull).toBe(false);
  watch.add(chunk([1, 3n]));
  expect([watch.isFull, left(watch, 0n, [9, 9])]).toEqual([true, []]);
});

test("rows outside its times cost nothing", () => {
  const watch = new Overwrites({ start: 10n, end: 20n }, () => undefined, 1);
  for (const time of [1n, 9n, 20n, 30n]) watch.add(chunk([1, time]));
  expect(watch.isFull).toBe(false);
  watch.add(chunk([1, 10n]));
  expect(left(watch, 0n, [1, 10], [1, 11])).toEqual(["1@11"]);
});

test("once its table's series have other numbers every row counts as written", () => {
  const watch = new Overwrites(ALL_TIME, () => undefined);
  watch.add(chunk([1, 1n]));
  watch.overflow();
  watch.add(chunk([2, 2n]));
  expect([watch.isFull, left(watch, 0n, [3, 3])]).toEqual([true, []]);
});
