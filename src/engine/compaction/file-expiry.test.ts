import { describe, expect, test } from "bun:test";
import type { DataFile } from "../../storage/sst/data-file.ts";
import { expiredFiles, livingFrom, olderOf, truncationOf } from "./file-expiry.ts";

/** A file whose sequence is its id; `deletes` stretches. */
function file(id: number, minTime: number, maxTime: number, rowCount = 10, deletes = 0): DataFile {
  const times = { minTime: BigInt(minTime), maxTime: BigInt(maxTime) };
  const tombstones = deletes === 0 ? {} : { tombstones: { count: deletes, rowCount: deletes } };
  return { id, name: `${id}`, rowCount, byteLength: 1, ...times, sequence: id, schemaVersion: 1, ...tombstones };
}

const ids = (files: readonly DataFile[]): number[] => files.map(({ id }) => id);

describe("files that may go unread", () => {
  const check = (files: readonly DataFile[], minTime: bigint | undefined, want: readonly number[]): void =>
    expect(ids(expiredFiles(files, minTime))).toEqual([...want]);

  test("are those whose times have all expired", () => {
    check([file(1, 0, 9), file(2, 5, 10), file(3, 20, 30)], 10n, [1]);
    check([file(1, 0, 9), file(2, 5, 10)], 11n, [1, 2]);
    check([file(1, 0, 9)], undefined, []);
    check([], 5n, []);
  });

  test("are not those that an older file overlaps which stays", () => {
    check([file(1, 0, 20), file(2, 0, 5), file(3, 0, 4)], 10n, []);
    check([file(1, 0, 5), file(2, 0, 20), file(3, 30, 31)], 10n, [1]);
    check([file(1, 6, 20), file(2, 0, 5)], 10n, [2]);
  });

  test("are those that only delete, once nothing older is left", () => {
    check([file(1, 0, 9, 0, 2)], undefined, [1]);
    check([file(1, 0, 9), file(2, 5, 5, 0, 1)], undefined, []);
    check([file(1, 0, 4), file(2, 5, 5, 0, 1)], undefined, [2]);
    check([file(1, 0, 9), file(2, 5, 5, 0, 1)], 10n, [1, 2]);
  });
});

test("older files of a merge are those that overlap one of its inputs", () => {
  const all = [file(1, 0, 10), file(2, 20, 30), file(3, 5, 8), file(4, 5, 8), file(5, 5, 8)];
  const [, , third, fourth] = all as [DataFile, DataFile, DataFile, DataFile];
  expect(ids(olderOf([third, fourth], all))).toEqual([1]);
  expect(ids(olderOf([fourth], all))).toEqual([1, 3]);
});

test("a merge leaves out expired rows only where nothing older is beneath them", () => {
  expect(livingFrom(undefined, [file(1, 0, 9)])).toBeUndefined();
  expect(livingFrom(10n, [])).toBe(10n);
  expect(livingFrom(10n, [file(1, 4, 9), file(2, 6, 7)])).toBe(4n);
  expect(livingFrom(10n, [file(1, 14, 19)])).toBe(10n);
});

describe("a truncation", () => {
  const check = (files: readonly DataFile[], chosen: readonly number[], removed: readonly number[], stripped: readonly number[]): void => {
    const result = truncationOf(files, ({ id }) => chosen.includes(id));
    expect([ids(result.removed), ids(result.stripped)]).toEqual([[...removed], [...stripped]]);
  };

  test("removes what is chosen", () => {
    check([file(1, 0, 9), file(2, 0, 9)], [1, 2], [1, 2], []);
    check([file(1, 0, 9), file(2, 0, 9)], [2], [2], []);
    check([file(1, 0, 9)], [], [], []);
  });

  test("leaves tombstones over an older file that stays", () => {
    check([file(1, 0, 9), file(2, 3, 4, 5, 1), file(3, 3, 4, 0, 1)], [2, 3], [], [2]);
    check([file(1, 0, 2), file(2, 3, 4, 5, 1)], [2], [2], []);
    check([file(1, 0, 9), file(2, 3, 4, 5, 1)], [1, 2], [1, 2], []);
  });
});
