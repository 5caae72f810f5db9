/** A catalogue that others share: changes are made again on what they did, and writes wait for it. */
import { afterEach, expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { InfluxDecoder } from "../../ingest/influx/decode.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { copiedAndWritten, decodedAndWritten } from "../../table/decoded-and-written.ts";
import type { TableDefinition } from "../../table/schema.ts";
import type { WriteBatch, WriteOptions } from "../../table/write-batch.ts";
import { ALL_TIME } from "../../table/scan.ts";

const AUTO: WriteOptions = { autoCreate: true, tableOptions: {} };
let machine: Machine;

async function started(threads = 0, stallMillis = 5000): Promise<Machine> {
  machine = await Machine.start({ threads, lateCatalog: seededRandom(7), limits: { stallMillis } });
  return machine;
}

afterEach(() => machine.engine.close());

function definition(name: string): TableDefinition {
  const columns = [{ name: "ts", type: { kind: "timestamp", unit: "millisecond" }, semantic: "timestamp", nullable: false } as const];
  return { database: "public", name, columns, primaryKey: [], engine: "mito", options: {} };
}

function decoded(lines: string, thread: number): WriteBatch {
  const options = {
    database: "public",
    precision: "ns" as const,
    defaultTimeNanos: 0n,
    schemas: machine.writer(thread),
    timeColumn: "greptime_timestamp",
  };
  return new InfluxDecoder().decode(new TextEncoder().encode(lines), options).batch;
}

function put(lines: string, thread = 0): Promise<unknown> {
  return decodedAndWritten(async () => {
    const writer = machine.writer(thread);
    if ("refresh" in writer) writer.refresh();
    return writer.write("public", decoded(lines, thread), AUTO);
  });
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return Object.entries(StatusCode).find(([, code]) => code === error.code)?.[0];
  }
}

async function rowsOf(name: string): Promise<number> {
  let count = 0;
  const table = machine.engine.table("public", name);
  if (table === undefined) return 0;
  const projection = table.schema.columns.filter(({ semantic }) => semantic === "timestamp").map((column) => column.name);
  const scan = table.scan({ projection, timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "none" });
  for await (const batch of scan) count += batch.rowCount;
  return count;
}

test("IF NOT EXISTS gives the table that others made first, and without it the change is refused", async () => {
  const { engine, catalog } = await started();
  const hold = Promise.withResolvers<void>();
  catalog.held = hold.promise;
  catalog.next = "later";
  const asked = engine.createTable(definition("a"), true);
  const refused = codeOf(engine.createTable(definition("b"), false));
  catalog.others(definition("a"));
  catalog.others(definition("b"));
  hold.resolve();
  expect((await asked).schema).toEqual(engine.table("public", "a")?.schema as never);
  expect(await refused).toBe("TableAlreadyExists");
  expect(catalog.counts.outdated).toBeGreaterThan(0);
});

test("two that drop one table: the first drops it, the second hears that it is gone", async () => {
  const { engine } = await started();
  await engine.createTable(definition("a"), false);
  await put("b,host=x v=1i 1");
  await engine.flushTable("public", "b");
  const drops = await Promise.all([engine.dropTable("public", "b", true), engine.dropTable("public", "b", true)]);
  expect(drops).toEqual([true, false]);
  expect(await codeOf(Promise.all([engine.dropTable("public", "a", false), engine.dropTable("public", "a", false)]))).toBe("TableNotFound");
  expect(machine.meta.list("file/")).toEqual([]);
});

test.each([0, 1])("first writes of many tables at once are all taken, each once (thread %i)", async (thread) => {
  await started(1);
  await Promise.all(Array.from({ length: 40 }, (_, i) => put(`t${i % 20},host=h v=${i}i ${i}\nt${i % 20},k=h w=${i} ${i}`, thread)));
  for (let i = 0; i < 20; i++) expect(await rowsOf(`t${i}`)).toBe(4);
  expect(machine.catalog.counts.later).toBeGreaterThan(0);
});

test("of a batch with tables that refuse their rows, the others are written where they are made later", async () => {
  const { engine, catalog } = await started();
  const view = { database: "public", query: "SELECT 1", queryDatabase: "public", sources: ["1"], columns: ["1"], definition: "" };
  await engine.createView({ ...view, name: "view" }, false);
  catalog.next = "later";
  const lines = Array.from({ length: 16 }, (_, i) => `${i === 11 ? "view" : `t${i}`} v=1i 1`).join("\n");
  expect(await codeOf(put(lines))).toBe("TableAlreadyExists");
  for (let i = 0; i < 16; i++) if (i !== 11) expect(await rowsOf(`t${i}`)).toBe(1);
});

test.each([0, 1])("a write gives up after the stall time, and its table is there later (thread %i)", async (thread) => {
  const { catalog } = await started(1, 20);
  const hold = Promise.withResolvers<void>();
  catalog.held = hold.promise;
  catalog.next = "later";
  expect(await codeOf(put("a v=1i 1", thread))).toBe("StorageUnavailable");
  hold.resolve();
  while (machine.engine.table("public", "a") === undefined) await Bun.sleep(1);
  await put("a v=1i 1", thread);
  expect(await rowsOf("a")).toBe(1);
});

test.each([0, 1])("a write whose signal fires does not wait on (thread %i)", async (thread) => {
  const { catalog } = await started(1);
  const hold = Promise.withResolvers<void>();
  catalog.held = hold.promise;
  catalog.next = "later";
  const controller = new AbortController();
  const writing = codeOf(machine.writer(thread).write("public", decoded("a v=1i 1", thread), { ...AUTO, signal: controller.signal }));
  controller.abort();
  expect(await writing).toBe("Cancelled");
  hold.resolve();
});

test("an answer that was lost fails the write, and what was made stays", async () => {
  const { catalog } = await started();
  catalog.next = "answer lost";
  expect(await codeOf(put("a v=1i 1"))).toBe("StorageUnavailable");
  await put("a v=1i 1");
  expect(await rowsOf("a")).toBe(1);
});

test("lent arrays are kept until a write that waited has copied them", async () => {
  const { engine, catalog } = await started();
  catalog.next = "later";
  const batch = decoded("a v=1i 1\na v=2i 2", 0);
  const { done } = await copiedAndWritten(AUTO, (options) => engine.write("public", batch, options));
  for (const { keys, fields } of batch.tables) {
    keys.fill(99);
    for (const { vector } of fields)
      if ("values" in vector && ArrayBuffer.isView(vector.values)) new Uint8Array(vector.values.buffer).fill(9);
  }
  await done;
  expect(await rowsOf("a")).toBe(2);
});

test("tables that others make and drop come and go, and are there after a restart", async () => {
  const { engine, catalog } = await started();
  catalog.others(definition("theirs"));
  await put("theirs v=1i 1");
  await engine.flushTable("public", "theirs");
  for (let i = 0; i < 50; i++) catalog.others();
  await machine.restart();
  expect(await rowsOf("theirs")).toBe(1);
  expect(machine.engine.tables("others").length).toBe(machine.meta.list("table/").length - 1);
});
