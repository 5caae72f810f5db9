import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { errorOf, failureOf } from "../../../test/support/failure-of.ts";
import { FIELDS, requestOf } from "../../../test/support/storage/arbitrary-rows.ts";
import type { Request } from "../../../test/support/storage/rows.ts";
import { jobOf, readFileRows, tableOf, wantedRows } from "../../../test/support/storage/table.ts";
import { INT64 } from "../../column/data-type.ts";
import type { MergeMode, TableSchema } from "../../table/schema.ts";
import type { FileStore } from "../file-store/file-store.ts";
import { localFileStore } from "../file-store/local-file-store.ts";
import { memoryFileStore } from "../file-store/memory-file-store.ts";
import type { DataFile } from "../sst/data-file.ts";
import { flushChunks } from "../sst/write/flush.ts";
import { type MergeJob, mergeFiles } from "./merge.ts";
import { workerMergeExecutor } from "./merge-executor.ts";

const root = mkdtempSync(join(tmpdir(), "varve-merge-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const NOW = 1_700_000_000_000n;
const DAY = 86_400_000n;

/** Each list of requests flushed on its own, all files oldest first. */
async function flushAll(flushes: readonly (readonly Request[])[], schema: TableSchema, store: FileStore): Promise<DataFile[]> {
  const files: DataFile[] = [];
  for (const requests of flushes) files.push(...(await flushChunks(jobOf(schema, requests, files.length + 1), store)));
  return files;
}

function mergeJob(schema: TableSchema, inputs: readonly DataFile[]): MergeJob {
  return { schema, inputs, defaults: [], minTime: undefined, older: [], fileId: 1000 };
}

/** Rows of one field, one a series and step of a second. */
function steps(first: number, count: number, seriesCount = 8): Request {
  const rows = Array.from({ length: count }, (_, i) => {
    const step = first + Math.floor(i / seriesCount);
    return { series: i % seriesCount, time: NOW + BigInt(step * 1000), values: [step % 100] };
  });
  return { rows, columnIds: [FIELDS[0]!.id] };
}

describe("a merge holds the rows of its inputs", () => {
  for (const mode of ["last_row", "last_non_null", "append"] as const) {
    test(`in merge mode ${mode}`, async () => {
      const time = fc.integer({ min: 0, max: 30 }).map((step) => NOW + (BigInt(step) * DAY) / 8n);
      const flushes = fc.array(fc.array(requestOf(8, time), { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 4 });
      await fc.assert(
        fc.asyncProperty(flushes, (lists) => checkMerge(lists, mode)),
        { seed: 21, numRuns: 15 },
      );
    });
  }

  async function checkMerge(flushes: readonly (readonly Request[])[], mode: MergeMode): Promise<void> {
    const schema = tableOf("millisecond", mode);
    const store = memoryFileStore();
    const inputs = await flushAll(flushes, schema, store);
    const file = await mergeFiles(mergeJob(schema, inputs), store);
    if (file === undefined) throw new Error("rows make a file");
    const wanted = wantedRows(flushes.flat(), mode);
    const found = await readFileRows(file, store, schema);
    expect(inTies(found)).toEqual(inTies(wanted));
    const times = wanted.map((row) => row[2] as bigint).sort((a, b) => (a < b ? -1 : 1));
    const sequence = Math.max(...inputs.map((input) => input.sequence));
    expect(file).toMatchObject({ id: 1000, rowCount: wanted.length, minTime: times[0]!, maxTime: times.at(-1)!, sequence });
    expect(file.byteLength).toBe((await store.open(file.name)).byteLength);
  }

  /** Rows as text; those of equal tags and time, which only append mode has, in the order of their text. */
  function inTies(rows: readonly (readonly unknown[])[]): string[] {
    const texts = rows.map((row) => ({ key: Bun.inspect(row.slice(0, 3)), text: Bun.inspect(row) }));
    const out: string[] = [];
    for (let from = 0; from < texts.length; ) {
      let to = from;
      while (to < texts.length && texts[to]!.key === texts[from]!.key) to++;
      const tied = texts.slice(from, to).map(({ text }) => text);
      out.push(...tied.sort());
      from = to;
    }
    return out;
  }

  test("of many pages and batches, one series overlapping in all its rows", async () => {
    const schema = tableOf("millisecond", "last_row");
    const store = memoryFileStore();
    const flushes = [[steps(0, 60_000, 1)], [steps(0, 50_000, 1)], [steps(30_000, 60_000, 1)]];
    const file = await mergeFiles(mergeJob(schema, await flushAll(flushes, schema, store)), store);
    expect(await readFileRows(file!, store, schema)).toEqual(wantedRows(flushes.flat(), "last_row"));
  });

  test("in the columns of the schema now", async () => {
    const old = tableOf("millisecond", "last_row");
    const added = { id: 300, name: "added", type: INT64, semantic: "field", nullable: true } as const;
    const schema: TableSchema = { ...old, version: 4, columns: [...old.columns.filter(({ id }) => Number(id) !== 18), added] };
    const store = memoryFileStore();
    const inputs = await flushAll([[steps(0, 100)], [steps(5, 100)]], old, store);
    const file = await mergeFiles({ ...mergeJob(schema, inputs), defaults: [{ columnId: 300, value: 7 }] }, store);
    const rows = await readFileRows(file!, store, schema);
    expect([file?.schemaVersion, rows[0]?.length, new Set(rows.map((row) => row.at(-1)))]).toEqual([
      4,
      schema.columns.length,
      new Set([7]),
    ]);
  });

  test("but those before a time, and none at all makes no file", async () => {
    const schema = tableOf("millisecond", "last_row");
    const files = new Map<string, Uint8Array>();
    const store = memoryFileStore(files);
    const inputs = await flushAll([[steps(0, 160)], [steps(20, 160)]], schema, store);
    const file = await mergeFiles({ ...mergeJob(schema, inputs), minTime: NOW + 30_000n }, store);
    expect([file?.rowCount, file?.minTime]).toEqual([80, NOW + 30_000n]);
    expect(await mergeFiles({ ...mergeJob(schema, inputs), fileId: 2000, minTime: NOW + DAY }, store)).toBeUndefined();
    expect(files.size).toBe(3);
  });

  test("with seconds beyond what milliseconds hold", async () => {
    const schema = tableOf("second", "last_row");
    const store = memoryFileStore();
    const far = 2n ** 62n;
    const request = (time: bigint): Request => ({ rows: [{ series: 0, time, values: [1] }], columnIds: [FIELDS[0]!.id] });
    const file = await mergeFiles(mergeJob(schema, await flushAll([[request(far)], [request(far + 1n)]], schema, store)), store);
    expect((await readFileRows(file!, store, schema)).map((row) => row[2])).toEqual([far, far + 1n]);
  });
});

describe("a merge that fails", () => {
  const schema = tableOf("millisecond", "last_row");

  test("names the damaged file and leaves nothing", async () => {
    const files = new Map<string, Uint8Array>();
    const store = memoryFileStore(files);
    const inputs = await flushAll([[steps(0, 100)], [steps(5, 100)]], schema, store);
    files.get(inputs[1]!.name)!.fill(0);
    expect((await failureOf(mergeFiles(mergeJob(schema, inputs), store))).message).toContain(inputs[1]!.name);
    expect(files.size).toBe(2);
  });

  test("on a full disk leaves nothing", async () => {
    const files = new Map<string, Uint8Array>();
    const store = memoryFileStore(files);
    const inputs = await flushAll([[steps(0, 100)], [steps(5, 100)]], schema, store);
    const full: FileStore = {
      ...store,
      create: async (name) => ({ ...(await store.create(name)), finish: () => Promise.reject(new Error("the disk is full")) }),
    };
    expect((await errorOf(mergeFiles(mergeJob(schema, inputs), full))).message).toContain("the disk is full");
    expect(files.size).toBe(2);
  });
});

describe("the worker", () => {
  test("merges local files, and DuckDB reads the same sums", async () => {
    const schema = tableOf("millisecond", "last_row");
    const store = localFileStore(root);
    const flushes = [[steps(0, 8000)], [steps(500, 8000)], [steps(900, 8000)]];
    const inputs = await flushAll(flushes, schema, store);
    const executor = workerMergeExecutor(root);
    const file = await executor.merge(mergeJob(schema, inputs));
    expect(await executor.merge({ ...mergeJob(schema, inputs), fileId: 1001, minTime: NOW + DAY })).toBeUndefined();
    const lost = { ...inputs[0]!, name: "tables/none.parquet" };
    expect((await failureOf(executor.merge(mergeJob(schema, [lost])))).message).toContain("tables/none.parquet");
    await executor.close();
    expect((await failureOf(executor.merge(mergeJob(schema, inputs)))).message).toContain("the server is closing");
    expect(readdirSync(join(root, "tables/0000000042"))).toHaveLength(inputs.length + 1);
    const wanted = wantedRows(flushes.flat(), "last_row");
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const result = await connection.runAndReadAll(`SELECT count(*), sum(f_10), min(epoch_ms(ts)) FROM '${join(root, file!.name)}'`);
    connection.closeSync();
    const sum = wanted.reduce((total, row) => total + Number(row[3]), 0);
    expect(result.getRows().map((row) => row.map(Number))).toEqual([[wanted.length, sum, Number(NOW)]]);
  });
});
