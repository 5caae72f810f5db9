/** Native histograms on physical tables: a second field, of the same region. */
import { expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { metricBatch } from "../../../test/support/metric-batch.ts";
import { StatusCode } from "../../base/status-code.ts";
import { encodeNested } from "../../column/nested.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import { NATIVE_HISTOGRAM } from "../../table/native-histogram.ts";
import type { WriteBatch, WriteOptions } from "../../table/write-batch.ts";

const LOGICAL: WriteOptions = { autoCreate: true, tableOptions: {}, physicalTable: "p" };

/** A histogram whose sum is the value; the rest does not matter here. */
function histogram(sum: number): Uint8Array {
  const list = (i: number): Uint8Array | undefined => {
    const type = NATIVE_HISTOGRAM.fields[i]?.type;
    return type?.kind === "list" ? encodeNested(type, []) : undefined;
  };
  return encodeNested(
    NATIVE_HISTOGRAM,
    NATIVE_HISTOGRAM.fields.map(({ name }, i) => (name === "sum" ? sum : list(i))),
  );
}

/** The same samples as native histograms. */
function histograms(batch: WriteBatch): WriteBatch {
  const tables = batch.tables.map((write) => {
    const vector = write.fields[0]?.vector;
    if (vector?.kind !== "number") throw new Error("numbers");
    const values = Array.from(vector.values.subarray(0, write.rowCount), histogram);
    return { ...write, fields: [{ name: "h", type: NATIVE_HISTOGRAM, vector: vectorOf(NATIVE_HISTOGRAM, values) }] };
  });
  return { ...batch, tables };
}

function batch(metric: string, host: string, time: number, value: number): WriteBatch {
  return metricBatch([{ metric, labels: { host }, time, value }], "p");
}

/** The same rows as a write that names their table, which has one metric. */
function ordinary(of: WriteBatch): WriteBatch {
  const tables = of.tables.map(({ tablesOfKeys: _, ...write }) => ({ ...write, table: of.dictionary.tagsOf(write.keys[0] ?? 0).table }));
  return { ...of, tables };
}

async function check(machine: Machine, text: string, ...lines: readonly string[]): Promise<void> {
  expect((await engineSql(machine.engine, text)).split("\n")).toEqual([...lines]);
}

const SUMS = "SELECT host, get_field(h, 'sum') AS s FROM lat ORDER BY host, greptime_timestamp";

async function filled(): Promise<Machine> {
  const machine = await Machine.start();
  await machine.engine.write("public", batch("up", "a", 1, 1), LOGICAL);
  await machine.engine.write("public", histograms(batch("lat", "a", 1, 10.5)), LOGICAL);
  await machine.engine.write("public", histograms(batch("lat", "b", 2, 20)), LOGICAL);
  return machine;
}

test("are read from memory, from the log, from files and from merged files", async () => {
  const machine = await filled();
  const want = ["a|10.5", "b|20"];
  await check(machine, SUMS, ...want);
  await machine.crash();
  await check(machine, SUMS, ...want);
  await machine.engine.flushTable("public", "p");
  await check(machine, SUMS, ...want);
  await machine.engine.write("public", histograms(batch("lat", "a", 1, 11)), LOGICAL);
  await machine.engine.write("public", batch("up", "b", 5, 2), LOGICAL);
  await machine.engine.flushTable("public", "p");
  await machine.engine.compactTable("public", "p");
  await check(machine, SUMS, "a|11", "b|20");
  await check(machine, "SELECT host, greptime_value FROM up ORDER BY host", "a|1", "b|2");
  await check(machine, "SELECT count(*), count(greptime_value), count(h) FROM p", "4|2|2");
});

test("are written by ingest threads, in tables made by them and by others", async () => {
  const machine = await Machine.start({ threads: 1 });
  await machine.writer(1).write("public", batch("up", "a", 1, 1), LOGICAL);
  await machine.writer(1).write("public", histograms(batch("lat", "a", 1, 10)), LOGICAL);
  await machine.engine.write("public", histograms(batch("lat", "b", 2, 20)), LOGICAL);
  await machine.writer(1).write("public", histograms(batch("lat", "c", 3, 30)), LOGICAL);
  const failure = await failureOf(machine.writer(1).write("public", batch("lat", "d", 3, 1), LOGICAL));
  expect(failure.message).toContain("cannot share a table");
  await check(machine, SUMS, "a|10", "b|20", "c|30");
  await machine.engine.flushTable("public", "p");
  await check(machine, SUMS, "a|10", "b|20", "c|30");
});

test("come first, and the physical table has a field of numbers all the same", async () => {
  const machine = await Machine.start();
  await machine.engine.write("public", histograms(batch("lat", "a", 1, 10)), LOGICAL);
  await machine.engine.write("public", batch("up", "a", 1, 3), LOGICAL);
  await check(machine, "SELECT greptime_value FROM up", "3");
  await check(machine, SUMS, "a|10");
});

test("and numbers do not share a table, whichever came first", async () => {
  const machine = await filled();
  const numbers = await failureOf(machine.engine.write("public", batch("lat", "c", 3, 1), LOGICAL));
  expect([numbers.code, numbers.message]).toEqual([StatusCode.InvalidArguments, expect.stringContaining("cannot share a table")]);
  const other = await failureOf(machine.engine.write("public", histograms(batch("up", "c", 3, 1)), LOGICAL));
  expect([other.code, other.message]).toEqual([StatusCode.InvalidArguments, expect.stringContaining("cannot share a table")]);
  const named = await failureOf(machine.engine.write("public", ordinary(batch("lat", "c", 3, 1)), LOGICAL));
  expect(named.message).toContain("a logical table has one field");
  await check(machine, "SELECT count(*) FROM lat", "2");
});

test("are columns of ordinary tables, too, and do not share those", async () => {
  const machine = await Machine.start();
  const plain: WriteOptions = { autoCreate: true, tableOptions: {} };
  await machine.engine.write("public", ordinary(histograms(batch("lat", "a", 1, 10))), plain);
  await machine.engine.write("public", ordinary(batch("up", "a", 1, 1)), plain);
  await machine.engine.flushTable("public", "lat");
  await check(machine, SUMS, "a|10");
  for (const write of [ordinary(batch("lat", "a", 2, 1)), ordinary(histograms(batch("up", "a", 2, 1)))]) {
    expect((await failureOf(machine.engine.write("public", write, plain))).message).toContain("cannot share a table");
  }
  await check(machine, "SELECT count(*) FROM lat", "1");
});
