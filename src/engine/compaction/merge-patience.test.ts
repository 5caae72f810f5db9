import { describe, expect, test } from "bun:test";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { mayWait, MergePatience } from "./merge-patience.ts";

/** A table, and what a patience says of it after each of the steps: so many milliseconds later, rows of so many bytes, perhaps a flush. */
function check(steps: readonly (readonly [millis: number, bytes: number, flush: boolean])[], want: readonly boolean[]): void {
  let now = 1e6;
  const table = { activeBytes: 0 };
  const patience = new MergePatience<typeof table>({ monotonicMillis: () => now });
  const found = steps.map(([millis, bytes, flush]) => {
    now += millis;
    table.activeBytes = bytes;
    if (flush) patience.flushed(table);
    return patience.busyUntil(table) !== undefined;
  });
  expect(found).toEqual([...want]);
}

describe("fresh files of a table wait", () => {
  test("while its flushes follow each other and rows come in", () =>
    check(
      [
        [0, 0, true],
        [500, 0, true],
        [100, 50, false],
        [200, 50, false],
        [250, 90, false],
        [250, 20, true],
      ],
      [false, true, true, true, true, true],
    ));

  test("until no row came for a while", () =>
    check(
      [
        [0, 0, true],
        [500, 0, true],
        [250, 50, false],
        [250, 50, false],
        [10, 50, false],
      ],
      [false, true, true, false, false],
    ));

  test("not where flushes are rare", () =>
    check(
      [
        [0, 0, true],
        [3000, 9, true],
        [100, 50, false],
      ],
      [false, false, false],
    ));

  test("not long after the last flush, however many rows come", () =>
    check(
      [
        [0, 0, true],
        [500, 0, true],
        [2999, 50, false],
        [1, 90, false],
      ],
      [false, true, true, false],
    ));
});

describe("files that are picked for a merge", () => {
  /** A file whose rows are of the seconds `[from, to]`. */
  function file(sequence: number, from: number, to: number): DataFile {
    const times = { minTime: BigInt(from), maxTime: BigInt(to) };
    return { id: sequence, name: `${sequence}`, rowCount: 1, byteLength: 1, ...times, sequence, schemaVersion: 1 };
  }

  const after = (count: number): DataFile[] => Array.from({ length: count }, (_, i) => file(i + 1, i * 10, i * 10 + 12));
  const over = (count: number): DataFile[] => Array.from({ length: count }, (_, i) => file(i + 1, i, 100));
  const cases: readonly (readonly [name: string, files: readonly DataFile[], newest: number, want: boolean])[] = [
    ["can wait where they lie one after another", after(15), 15, true],
    ["cannot where they are many", after(16), 16, false],
    ["can where few lie over each other", over(3), 3, true],
    ["cannot where as many lie over each other as merge", over(4), 4, false],
    ["cannot where there are newer ones", after(15), 16, false],
    ["cannot where one deletes rows", [...after(3), { ...file(4, 50, 60), tombstones: { count: 1, rowCount: 1 } }], 4, false],
  ];
  test.each(cases)("%s", (_, files, newest, want) => expect(mayWait(files, newest, 4)).toBe(want));
});
