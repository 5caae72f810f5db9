import { tableId } from "../../../base/units.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { errorOf } from "../../../../test/support/failure-of.ts";
import { FIELDS, requestOf } from "../../../../test/support/storage/arbitrary-rows.ts";
import type { Request } from "../../../../test/support/storage/rows.ts";
import { type FileRow, jobOf, readFileRows, tableOf, wantedRows } from "../../../../test/support/storage/table.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { MergeMode } from "../../../table/schema.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { memoryFileStore } from "../../file-store/memory-file-store.ts";
import { type DataFile, dataFileName } from "../data-file.ts";
import { Arena, SlabPool } from "../../memtable/arena.ts";
import { type Chunk, chunkMaxTime, chunkMinTime } from "../../memtable/chunk.ts";
import type { TimeSpan } from "../../memtable/pick-rows.ts";
import { buildDeleteChunk } from "../../memtable/delete-chunk.ts";
import { type FlushJob, filesOfFlushMax, flushChunks } from "./flush.ts";

const NOW = 1_700_000_000;
const DAY = 86_400;

/** Rows of one field. */
function request(...rows: readonly (readonly [series: number, time: bigint, value: number])[]): Request {
  return { rows: rows.map(([series, time, value]) => ({ series, time, values: [value] })), columnIds: [FIELDS[0]!.id] };
}

/** Oldest and newest time of the chunks. */
function spanOf(chunks: readonly Chunk[]): TimeSpan {
  const mins = chunks.map(chunkMinTime);
  const maxs = chunks.map(chunkMaxTime);
  return { min: mins.reduce((a, b) => (a < b ? a : b)), max: maxs.reduce((a, b) => (a > b ? a : b)) };
}

/** Flushes the requests and expects the naive merge in the files, all of them in order, none with times of another's window. */
async function check(requests: readonly Request[], unit: TimeUnit, mergeMode: MergeMode = "last_row"): Promise<readonly DataFile[]> {
  const store = memoryFileStore();
  const schema = tableOf(unit, mergeMode);
  const job = jobOf(schema, requests, 7);
  const files = await flushChunks(job, store);
  expect(files.length).toBeLessThanOrEqual(filesOfFlushMax(schema, job.chunks, spanOf(job.chunks)));
  expect([...(await store.list("tables"))].sort()).toEqual(files.map((file) => file.name));
  const wanted = wantedRows(requests, mergeMode);
  const rows: FileRow[] = [];
  for (const [i, file] of files.entries()) {
    const found = await readFileRows(file, store, schema);
    const times = found.map((row) => row[2] as bigint);
    const isIn = (time: bigint): boolean => time >= file.minTime && time <= file.maxTime;
    expect(file).toEqual({
      id: 7 + i,
      name: dataFileName(tableId(42), 7 + i),
      rowCount: found.length,
      byteLength: (await store.open(file.name)).byteLength,
      minTime: times.reduce((a, b) => (a < b ? a : b)),
      maxTime: times.reduce((a, b) => (a > b ? a : b)),
      sequence: file.sequence,
      schemaVersion: 3,
      crc: crc32(await (await store.open(file.name)).read(0, file.byteLength)),
    });
    const newest = requests.findLastIndex((candidate) => candidate.rows.some(({ time }) => isIn(time)));
    expect(file.sequence >= 101 + newest && file.sequence <= 100 + requests.length).toBe(true);
    expect(found).toEqual(wanted.filter((row) => isIn(row[2] as bigint)));
    rows.push(...found);
  }
  expect(rows).toHaveLength(wanted.length);
  for (let i = 1; i < files.length; i++) expect(files[i]!.minTime).toBeGreaterThan(files[i - 1]!.maxTime);
  return files;
}

describe("deletes", () => {
  const at = (seconds: number): bigint => BigInt(NOW + seconds) * 1000n;
  const DAY_MS = 86_400_000n;
  const first = at(0) - (at(0) % DAY_MS);

  /** Flushes two rows of series 0, a day apart, and a delete of series 1 over `length` ms from the first day's noon on. */
  async function flushed(length: number, older: FlushJob["older"]): Promise<readonly DataFile[]> {
    const schema = tableOf("millisecond", "last_row");
    const job = jobOf(schema, [request([0, first, 1], [0, first + DAY_MS, 2], [1, first, 3])], 7);
    const source = { sequence: 200, count: 1, series: Uint32Array.of(1), seriesMax: 1, timeBase: first + DAY_MS / 2n };
    const arrays = { firsts: Float64Array.of(0), lengths: Float64Array.of(length), rows: undefined };
    const chunk = buildDeleteChunk({ ...source, ...arrays }, new Arena(new SlabPool(0)));
    const files = await flushChunks(
      { ...job, chunks: [...job.chunks, chunk], ...(older === undefined ? {} : { older }) },
      memoryFileStore(),
    );
    expect(files.length).toBeLessThanOrEqual(filesOfFlushMax(schema, [...job.chunks, chunk], spanOf(job.chunks)));
    return files;
  }
  const summary = (files: readonly DataFile[]): string[] =>
    files.map(
      (f) =>
        `${f.rowCount} rows, ${f.tombstones?.count ?? 0} deleted, days ${(f.minTime - first) / DAY_MS} to ${(f.maxTime - first) / DAY_MS}`,
    );

  test("go to the windows of their times, with rows or alone, under the sequence of the newest", async () => {
    const files = await flushed(3 * 86_400_000, undefined);
    expect(summary(files)).toEqual([
      "2 rows, 1 deleted, days 0 to 0",
      "1 rows, 1 deleted, days 1 to 1",
      "0 rows, 1 deleted, days 2 to 2",
      "0 rows, 1 deleted, days 3 to 3",
    ]);
    expect(files.map(({ sequence }) => sequence)).toEqual([200, 200, 200, 200]);
  });

  test("stay only where an older file may hold their rows", async () => {
    expect(summary(await flushed(3 * 86_400_000, []))).toEqual(["2 rows, 0 deleted, days 0 to 0", "1 rows, 0 deleted, days 1 to 1"]);
    const older = [
      { minTime: first + DAY_MS * 2n + 5n, maxTime: first + DAY_MS * 2n + 9n },
      { minTime: -(2n ** 63n), maxTime: first },
    ];
    const files = await flushed(3 * 86_400_000, older);
    expect(summary(files)).toEqual(["2 rows, 0 deleted, days 0 to 0", "1 rows, 0 deleted, days 1 to 1", "0 rows, 1 deleted, days 2 to 2"]);
    expect([files[2]?.minTime, files[2]?.maxTime]).toEqual([older[0]!.minTime, older[0]!.maxTime]);
  });
});

describe("files hold the rows of their chunks", () => {
  const around = (unit: TimeUnit, days: number): fc.Arbitrary<bigint> => {
    const second = BigInt(UNITS_PER_SECOND[unit]);
    return fc.integer({ min: 0, max: days * 8 }).map((step) => (BigInt(NOW) + BigInt(step * (DAY / 8))) * second);
  };
  for (const mode of ["last_row", "last_non_null", "append"] as const) {
    test(`in merge mode ${mode}, over one window and several`, async () => {
      const units = fc.constantFrom<TimeUnit>("second", "millisecond", "microsecond", "nanosecond");
      const cases = fc.tuple(units, fc.constantFrom(0, 3, 90)).chain(([unit, days]) => {
        return fc.tuple(fc.constant(unit), fc.array(requestOf(8, around(unit, days)), { minLength: 1, maxLength: 4 }));
      });
      await fc.assert(
        fc.asyncProperty(cases, async ([unit, requests]) => void (await check(requests, unit, mode))),
        { seed: 13, numRuns: 12 },
      );
    });
  }

  test("of one row", () => check([request([0, 5n, 1])], "second"));
  test("of many pages", async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => [i % 8, BigInt(NOW * 1000 + (i >> 3)), i % 100] as const);
    const files = await check([request(...rows.slice(0, 10_000)), request(...rows.slice(10_000))], "millisecond");
    expect(files).toHaveLength(1);
  });
  test("of a table without tags", async () => {
    const schema = { ...tableOf("second", "last_row"), primaryKey: [] };
    const untagged = { ...schema, columns: schema.columns.filter(({ semantic }) => semantic !== "tag") };
    const job = jobOf(schema, [request([0, 5n, 1], [0, 3n, 2], [0, 5n, 3])]);
    const store = memoryFileStore();
    const [file] = await flushChunks({ ...job, schema: untagged, tags: [] }, store);
    const rows = await readFileRows(file!, store, untagged);
    expect(rows.map((row) => [row[2], row[3]])).toEqual([
      [3n, 2],
      [5n, 3],
    ]);
  });
});

describe("rows far apart", () => {
  const all: readonly (readonly [TimeUnit, bigint])[] = [
    ["second", 1n],
    ["millisecond", 1000n],
    ["microsecond", 1_000_000n],
    ["nanosecond", 1_000_000_000n],
  ];
  test.each(all)("in %ss, from the first 64-bit time to the last, come back exactly", async (unit, second) => {
    const times = [-(2n ** 63n), -(2n ** 63n) + 1n, -1n, 0n, BigInt(NOW) * second, 2n ** 63n - 2n, 2n ** 63n - 1n];
    const files = await check(
      times.map((time, i) => request([i % 3, time, i])),
      unit,
    );
    expect([files[0]?.minTime, files.at(-1)?.maxTime]).toEqual([-(2n ** 63n), 2n ** 63n - 1n]);
  });

  test("of one request, a million groups apart, make a file each and no more", async () => {
    const step = 2n ** 40n;
    const times = [0n, step, 2n ** 51n, 2n ** 51n + step, 2n ** 52n - 1n];
    const files = await check([request(...times.map((time, i) => [0, time, i] as const))], "second");
    expect(files.map(({ minTime }) => minTime)).toEqual(times);
  });
});

describe("windows", () => {
  const day = BigInt(DAY * 1000);
  test("are days", async () => {
    const files = await check([request([0, 0n, 1], [1, day - 1n, 2], [0, day, 3], [0, 3n * day, 4])], "millisecond");
    expect(files.map(({ rowCount }) => rowCount)).toEqual([2, 1, 1]);
  });
  test("before 1970 too", async () => {
    const files = await check([request([0, -1n, 1], [0, 0n, 2], [0, -day, 3], [0, -day - 1n, 4])], "millisecond");
    expect(files.map(({ rowCount }) => rowCount)).toEqual([1, 2, 1]);
  });
  test("are eight days where days would make too many files", async () => {
    const files = await check([request(...Array.from({ length: 64 }, (_, i) => [i % 3, BigInt(i) * day, i] as const))], "millisecond");
    expect(files.map(({ rowCount }) => rowCount)).toEqual(new Array(8).fill(8));
  });
});

describe("a store that fails", () => {
  /** Fails at the n-th call of one kind, counted over all files. */
  function failing(kind: "create" | "write" | "finish", at: number): { store: FileStore; files: Map<string, Uint8Array> } {
    const files = new Map<string, Uint8Array>();
    const inner = memoryFileStore(files);
    let calls = 0;
    const pass = (call: typeof kind): void => {
      if (call === kind && ++calls === at) throw new DbError(StatusCode.StorageUnavailable, `cannot ${kind} file: the disk is full`);
    };
    return {
      files,
      store: {
        ...inner,
        async create(name) {
          pass("create");
          const writer = await inner.create(name);
          return {
            write(bytes) {
              pass("write");
              writer.write(bytes);
            },
            async finish() {
              pass("finish");
              return writer.finish();
            },
            abort: () => writer.abort(),
          };
        },
      },
    };
  }

  const requests = [request([0, 0n, 1], [0, BigInt(DAY), 2], [0, 5n * BigInt(DAY), 3])];
  for (const kind of ["create", "write", "finish"] as const) {
    test(`on ${kind} leaves no file of the flush`, async () => {
      for (const at of [1, 2, 3]) {
        const { store, files } = failing(kind, at);
        const flushing = flushChunks(jobOf(tableOf("second", "last_row"), requests), store);
        expect((await errorOf(flushing)).message).toContain(`cannot ${kind} file: the disk is full`);
        expect([...files.keys()]).toEqual([]);
      }
    });
  }

  test("on deleting what was written tells the first failure", async () => {
    const { store } = failing("finish", 3);
    const stuck: FileStore = { ...store, delete: () => Promise.reject(new Error("cannot delete")) };
    const flushing = flushChunks(jobOf(tableOf("second", "last_row"), requests), stuck);
    expect((await errorOf(flushing)).message).toContain("the disk is full");
  });
});
