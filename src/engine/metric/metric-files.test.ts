/** Other readers see a physical table's files as tables with a column a label. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { Machine } from "../../../test/engine/machine.ts";
import { metricBatch, type Sample } from "../../../test/support/metric-batch.ts";

const OPTIONS = { autoCreate: true, tableOptions: {}, physicalTable: "p" };

let folder = "";
let connection: DuckDBConnection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-metric-"));
  connection = await (await DuckDBInstance.create(":memory:")).connect();
});
afterAll(async () => {
  connection.closeSync();
  await rm(folder, { recursive: true });
});

/** What DuckDB answers about the only file of the machine. */
async function ask(machine: Machine, query: string): Promise<unknown> {
  expect(machine.files.size).toBe(1);
  const path = join(folder, "data.parquet");
  for (const bytes of machine.files.values()) await Bun.write(path, bytes);
  const answer = await connection.runAndReadAll(query.replaceAll("FILE", `'${path}'`));
  return answer.getRowsJson();
}

function write(machine: Machine, samples: readonly Sample[]): Promise<unknown> {
  return machine.engine.write("public", metricBatch(samples, "p"), OPTIONS);
}

test("a file has the labels that its rows have, also after a merge", async () => {
  const machine = await Machine.start({ shards: 1 }); // All rows in one file.
  const first = [
    { metric: "cpu", labels: { host: "a", core: "0" }, time: 1, value: 1 },
    { metric: "up", labels: { job: "x" }, time: 1, value: 2 },
  ];
  await write(machine, first);
  await machine.engine.flushTable("public", "p");
  const names = ["greptime_timestamp", "greptime_value", "__table_id"];
  expect(await ask(machine, "SELECT list(column_name) FROM (DESCRIBE SELECT * FROM FILE)")).toEqual([[[...names, "core", "host", "job"]]]);
  expect(await ask(machine, "SELECT greptime_value, host, core, job FROM FILE")).toEqual([
    [1, "a", "0", null],
    [2, null, null, "x"],
  ]);
  await write(machine, [{ metric: "up", labels: { job: "x", zone: "eu" }, time: 2, value: 3 }]);
  await machine.engine.dropTable("public", "cpu", false);
  await machine.engine.flushTable("public", "p");
  await machine.engine.compactTable("public", "p");
  expect(await ask(machine, "SELECT greptime_value, job, zone FROM FILE")).toEqual([
    [2, "x", null],
    [3, "x", "eu"],
  ]);
});

test("labels that few rows have cost next to nothing", async () => {
  const bytesWith = async (labels: number): Promise<number> => {
    const machine = await Machine.start({ shards: 1 }); // All rows in one file.
    const samples = Array.from({ length: 20_000 }, (_, i) => ({
      metric: `m${i % 100}`,
      labels: { host: `h${i % 1000}`, ...(i < labels ? { [`rare${i}`]: "x" } : {}) },
      time: 1_700_000_000_000 + Math.floor(i / 1000) * 15_000,
      value: i % 10,
    }));
    await write(machine, samples);
    await machine.engine.flushTable("public", "p");
    expect(await ask(machine, "SELECT count(*)::INT FROM FILE")).toEqual([[20_000]]);
    return [...machine.files.values()].reduce((sum, { length }) => sum + length, 0);
  };
  expect(((await bytesWith(200)) - (await bytesWith(0))) / 200).toBeLessThan(600);
});
