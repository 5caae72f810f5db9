import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compareFiles, type DataFile } from "../sst/data-file.ts";
import { pickAll, pickFiles } from "./picker.ts";

const DAY = 86_400;
const MIB = 1024 * 1024;
const OPTIONS = { triggerFiles: 4, outputBytesMax: 1024 * MIB };

/** A file whose id is its sequence unless said otherwise; times in days, sizes in MiB. */
function file(sequence: number, fromDay: number, toDay: number, mib: number, id: number = sequence): DataFile {
  const times = { minTime: BigInt(Math.round(fromDay * DAY)), maxTime: BigInt(Math.round(toDay * DAY)) };
  return { id, name: `${id}`, rowCount: 1, byteLength: mib * MIB, ...times, sequence, schemaVersion: 1 };
}

/** Files of these sizes in one day, oldest first. */
function day(number: number, ...sizes: readonly number[]): DataFile[] {
  return sizes.map((mib, i) => file(i + 1, number + 0.1, number + 0.2, mib));
}

/** The files, of which the last one deletes rows; all together have 100. */
function deleting(files: readonly DataFile[], rows: number, count = 1): DataFile[] {
  return files.map((found, i) => ({
    ...found,
    rowCount: i === 0 ? 100 : 0,
    ...(i < files.length - 1 ? {} : { tombstones: { count, rowCount: rows } }),
  }));
}

function ids(picked: readonly (readonly DataFile[])[]): number[][] {
  return picked.map((files) => files.map(({ id }) => id));
}

describe("merges in the background", () => {
  const cases: readonly (readonly [name: string, files: readonly DataFile[], want: readonly (readonly number[])[]])[] = [
    ["of no file are none", [], []],
    ["wait for enough files", day(0, 64, 64, 64), []],
    ["take files of one size", day(0, 64, 64, 64, 64), [[1, 2, 3, 4]]],
    ["take all that fit together", day(0, 100, 64, 64, 64, 64), [[1, 2, 3, 4, 5]]],
    ["leave a file that is larger than all newer ones together", day(0, 900, 64, 64, 64, 64), [[2, 3, 4, 5]]],
    ["leave newer files that are too few", day(0, 64, 64, 64, 64, 1), [[1, 2, 3, 4]]],
    ["leave newer files beside an old merge", day(0, 256, 64, 64, 64), []],
    ["of merged files come when there are enough of them", day(0, 256, 250, 260, 240), [[1, 2, 3, 4]]],
    ["stay below the largest file", day(0, 300, 300, 300, 300, 300, 300), []],
    ["leave files that are as large as allowed", day(0, 1024, 1024, 1024, 1024, 1024), []],
    [
      "come of each day, the newest first",
      [...day(0, 1, 1, 1, 1), ...day(9, 1, 1, 1, 1).map((f) => ({ ...f, id: f.id + 10 }))],
      [
        [11, 12, 13, 14],
        [1, 2, 3, 4],
      ],
    ],
    ["never bring days together that still get rows", [0, 1, 2, 3].map((d) => file(d + 1, d, d + 0.5, 1)), []],
    ["bring old days together", [0, 1, 2, 3, 9].map((d) => file(d + 1, d, d + 0.5, 1, d)), [[0, 1, 2, 3]]],
    ["leave old days that are large", [0, 1, 2, 3, 9].map((d) => file(d + 1, d, d + 0.5, 100, d)), []],
    ["bring old weeks together", [0, 8, 16, 24, 64].map((d) => file(d + 1, d, d + 7, 1, d)), [[0, 8, 16, 24]]],
    [
      "of wide files include the narrow ones between them",
      [1, 2, 3].map((s) => file(s, 0, 7, 1)).concat(file(4, 3, 3.5, 1)),
      [[1, 2, 3, 4]],
    ],
    ["do not pass a wide file that lies between in sequence", [...day(0, 1, 1, 1, 1), file(2, 0, 20, 900, 20)], []],
    ["pass a wide file that is older or newer than all", [...day(0, 1, 1, 1, 1), file(9, 0, 20, 900), file(0, 0, 20, 900)], [[1, 2, 3, 4]]],
    ["do not mind files of other days between", [...day(0, 1, 1, 1, 1), file(2, 1, 1.5, 900, 20)], [[1, 2, 3, 4]]],
    [
      "keep files of one flush together",
      [file(1, 0, 7, 1, 1), file(2, 0, 0.5, 1, 2), file(2, 1, 1.5, 1, 3), file(2, 2, 2.5, 1, 4)],
      [[1, 2, 3, 4]],
    ],
    ["lie before 1970 too", day(-3, 1, 1, 1, 1), [[1, 2, 3, 4]]],
    ["wait while little of a window is deleted", deleting(day(0, 64, 1), 24), []],
    ["take a window whole of which a quarter is deleted", deleting(day(0, 64, 1), 25), [[1, 2]]],
    ["take a window whole that has very many tombstones", deleting(day(0, 64, 1), 0, 1_048_576), [[1, 2]]],
    ["leave a window that is too large to be merged, however much is deleted", deleting(day(0, 1024, 1), 99), []],
    ["of deleting files do not pass a wide file in between", [...deleting(day(0, 1, 1, 1), 99), file(2, 0, 20, 1100, 20)], []],
    ["take a wide file with what deletes of its days", [file(1, 0, 7, 64), ...deleting([file(2, 3, 3.5, 1)], 50)], [[1, 2]]],
  ];
  test.each(cases)("%s", (_, files, want) => {
    expect(ids(pickFiles(files, "second", OPTIONS))).toEqual(want.map((group) => [...group]));
    expect(ids(pickFiles(files.toReversed(), "second", OPTIONS))).toEqual(want.map((group) => [...group]));
  });

  const HOUR = 3600;
  /** Files of 64 MiB whose newest rows are of these hours, oldest first; they all begin at the start of the day. */
  const hours = (...newest: readonly number[]): DataFile[] => newest.map((hour, i) => file(i + 1, 0, hour / 24, 64));
  const expiring: readonly (readonly [name: string, files: readonly DataFile[], want: readonly (readonly number[])[]])[] = [
    ["take files that expire soon after one another", hours(1, 2, 2.5, 3), [[1, 2, 3, 4]]],
    ["leave files that expire long before", hours(1, 9, 9, 10, 11), [[2, 3, 4, 5]]],
    ["do not go on behind a file that expires long before", hours(1, 2, 3, 3, 20), [[1, 2, 3, 4]]],
    ["leave files that all expire at other times", hours(1, 4, 7, 10, 13), []],
    ["take files that came late with those that expire with them", hours(10, 1, 1, 1, 1), [[2, 3, 4, 5]]],
  ];
  test.each(expiring)("where rows expire %s", (_, files, want) => {
    const options = { ...OPTIONS, expiryApartMax: BigInt(2 * HOUR) };
    expect(ids(pickFiles(files, "second", options))).toEqual(want.map((group) => [...group]));
  });

  test("come in the end where rows expire, whatever the times are", () => {
    const apart = Array.from({ length: 40 }, (_, i) => i / 2);
    expect(pickFiles(hours(...apart), "second", { ...OPTIONS, expiryApartMax: 60n })).toHaveLength(1);
  });

  test("come in the end, whatever the sizes are", () => {
    const falling = Array.from({ length: 40 }, (_, i) => 2 ** ((40 - i) / 4));
    expect(pickFiles(day(0, ...falling), "second", { ...OPTIONS, triggerFiles: 8 })).toHaveLength(1);
  });
});

describe("all merges", () => {
  const cases: readonly (readonly [name: string, files: readonly DataFile[], want: readonly (readonly number[])[]])[] = [
    ["of no file are none", [], []],
    ["of one file are none", day(0, 64), []],
    ["leave one file a day", [...day(0, 900, 1), ...day(1, 1).map((f) => ({ ...f, id: 10 }))], [[1, 2]]],
    ["take the days of a wide file with it", [file(1, 0, 7, 1), file(2, 1, 1.5, 1), file(3, 2, 2.5, 1), file(4, 9, 9.5, 1)], [[1, 2, 3]]],
    ["stay below the largest file", day(0, 600, 600, 300, 1), [[2, 3, 4]]],
    ["leave a file alone that is too large", day(0, 2000, 1, 1), [[2, 3]]],
  ];
  test.each(cases)("%s", (_, files, want) => {
    expect(ids(pickAll(files, "second", OPTIONS))).toEqual(want.map((group) => [...group]));
  });
});

const WINDOWS = [1, 1, 1, 8, 64] as const;
const history = fc.array(
  fc.record({
    windows: fc.uniqueArray(fc.record({ days: fc.constantFrom(...WINDOWS), at: fc.integer({ min: 0, max: 90 }) }), {
      minLength: 1,
      maxLength: 3,
      selector: ({ at }) => Math.floor(at / 64),
    }),
    mib: fc.integer({ min: 1, max: 700 }),
  }),
  { maxLength: 30 },
);

/** Ids of the flushes in each file. */
type Contents = Map<number, { readonly file: DataFile; readonly parts: readonly DataFile[] }>;

/** Whether a list, oldest first, has older rows before newer ones wherever two flushes overlap. */
function isInOrder(contents: Contents): boolean {
  const list = [...contents.values()].sort((a, b) => compareFiles(a.file, b.file));
  const parts = list.flatMap(({ parts }, at) => parts.map((part) => ({ part, at })));
  return parts.every((a) => parts.every((b) => a.at >= b.at || !isOverwritten(a.part, b.part)));
}

/** Whether flush b is older than a and may hold the same rows. */
function isOverwritten(a: DataFile, b: DataFile): boolean {
  return a.sequence > b.sequence && a.minTime <= b.maxTime && b.minTime <= a.maxTime;
}

test("rows keep their order through any history of flushes and merges, and merging ends", () => {
  fc.assert(
    fc.property(history, fc.constantFrom(2, 3, 4), fc.boolean(), fc.constantFrom(undefined, 0n, BigInt(3 * DAY)), (...drawn) => {
      const [flushes, triggerFiles, isAll, expiryApartMax] = drawn;
      const contents: Contents = new Map();
      let nextId = 1;
      for (const [i, { windows, mib }] of flushes.entries()) {
        for (const { days, at } of windows) {
          const start = Math.floor(at / days) * days;
          const made = file(i + 1, start, start + days - 0.001, mib, nextId++);
          contents.set(made.id, { file: made, parts: [made] });
        }
        for (let rounds = 0; ; rounds++) {
          expect(rounds).toBeLessThan(200);
          const files = [...contents.values()].map((entry) => entry.file);
          const [picked] = isAll
            ? pickAll(files, "second", OPTIONS)
            : pickFiles(files, "second", { ...OPTIONS, triggerFiles, expiryApartMax });
          if (picked === undefined) break;
          const first = picked.reduce((a, b) => (a.minTime < b.minTime ? a : b));
          const last = picked.reduce((a, b) => (a.maxTime > b.maxTime ? a : b));
          const sequence = Math.max(...picked.map((input) => input.sequence));
          const byteLength = picked.reduce((sum, input) => sum + input.byteLength, 0);
          expect(byteLength).toBeLessThanOrEqual(OPTIONS.outputBytesMax);
          const parts = picked.flatMap((input) => contents.get(input.id)?.parts ?? []);
          const merged = { ...first, maxTime: last.maxTime, sequence, byteLength, id: nextId++ };
          for (const input of picked) contents.delete(input.id);
          contents.set(merged.id, { file: merged, parts });
          expect(isInOrder(contents)).toBe(true);
        }
      }
    }),
    { seed: 17, numRuns: 60 },
  );
});
