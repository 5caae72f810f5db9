/** Tables whose rows are elsewhere give the same rows, in the same order, as the tables that have them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { Machine } from "../../../test/engine/machine.ts";
import { type RemoteCatalog, remoteCatalog } from "../../../test/support/cluster/remote-catalog.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { metricBatch } from "../../../test/support/metric-batch.ts";
import { DbError } from "../../base/error.ts";
import { ServerMemory } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";
import { scalarAt } from "../../column/scalar.ts";
import type { Table } from "../../table/catalog.ts";
import { columnNamed } from "../../table/not-found.ts";
import { ALL_TIME, newScanMetrics, type ScanRequest, type TagPredicate } from "../../table/scan.ts";
import { markOf, placementOf, shardOf } from "../../table/shards/placement.ts";
import { tagsOf } from "./remote-series.ts";

const SHARDS = 3;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

let machine: Machine;
let remote: RemoteCatalog;

beforeAll(async () => {
  machine = await Machine.start({ shards: SHARDS });
  const { engine } = machine;
  await engineSql(
    engine,
    "CREATE TABLE plain (host STRING, zone STRING NULL, v DOUBLE, s STRING, ts TIMESTAMP TIME INDEX, PRIMARY KEY (host, zone))",
  );
  await engineSql(engine, "CREATE TABLE flat (v BIGINT, ts TIMESTAMP TIME INDEX)");
  const values: string[] = [];
  for (let i = 0; i < 900; i++) {
    values.push(`('h${i % 70}', ${i % 7 === 0 ? "NULL" : `'z${i % 3}'`}, ${i / 4}, '${"x".repeat(i % 5)}', ${i * 1000})`);
  }
  await engineSql(engine, `INSERT INTO plain VALUES ${values.join(", ")}`);
  await engine.flushTable("public", "plain");
  await engineSql(engine, "INSERT INTO plain VALUES ('h1', 'z1', -1, 'new', 1000), ('h999', 'z1', -2, 'new', 5000000)");
  await engineSql(engine, "INSERT INTO flat VALUES (1, 1), (2, 2), (3, 3)");
  const samples = Array.from({ length: 400 }, (_, i) => ({
    metric: i % 3 === 0 ? "up" : "down",
    labels: i % 4 === 0 ? { host: `h${i % 50}` } : { host: `h${i % 50}`, job: `j${i % 6}` },
    time: 1000 * i,
    value: i,
  }));
  await machine.writer(0).write("public", metricBatch(samples, "phy"), { autoCreate: true, tableOptions: {}, physicalTable: "phy" });
  remote = remoteCatalog(engine, SHARDS);
});

afterAll(() => machine.engine.close());

const tables = (name: string): readonly [Table, Table] => [
  machine.engine.table("public", name) as Table,
  remote.catalog.table("public", name) as Table,
];

/** Rows with the tags of their series, as text, in their order. */
async function rowsOf(table: Table, request: ScanRequest): Promise<string[]> {
  const numbers = table.series;
  const types = request.projection.map((name) => columnNamed(table.schema, name).type);
  const names = tagsOf(table.schema).map(({ name }) => name);
  const rows: string[] = [];
  for await (const { rowCount, vectors, runs } of table.scan({ ...request, numbers })) {
    for (let run = 0; run + 1 < runs.starts.length; run++) {
      const tags = names.map((name) => numbers.tagOf(name, runs.series[run] as number) ?? "-").join();
      for (let row = runs.starts[run] as number; row < Math.min(rowCount, runs.starts[run + 1] as number); row++) {
        rows.push([tags, ...vectors.map((vector, i) => String(scalarAt(vector, types[i] as (typeof types)[number], row)))].join("|"));
      }
    }
  }
  return rows;
}

/** Some request that the table may be asked. */
function requestOf({ schema }: Table, seed: number): ScanRequest {
  const random = seededRandom(seed);
  const projection = schema.columns.map(({ name }) => name).filter(() => random.below(3) > 0);
  const tags = tagsOf(schema).filter(({ name }) => name.length < 6);
  const tagPredicates: TagPredicate[] = [];
  const tag = tags[random.below(Math.max(1, tags.length))];
  if (tag !== undefined && random.below(2) === 0)
    tagPredicates.push({ kind: "test", column: tag.name, test: (value) => value?.endsWith("1") !== true });
  if (tag !== undefined && random.below(3) === 0)
    tagPredicates.push({ kind: "in", column: tag.name, values: ["h1", "h22", "z1", undefined, "j3"] });
  return {
    projection,
    timeRange: random.below(2) === 0 ? ALL_TIME : { start: BigInt(random.below(100)) * 1000n, end: 400_000n },
    tagPredicates,
    fieldBounds: [],
    order: (["none", "series-time", "listed"] as const)[random.below(3)] ?? "none",
    ...(random.below(3) === 0 ? { newestPerSeries: true } : {}),
  };
}

describe.each(["plain", "flat", "up", "down", "phy"])("table %s", (name) => {
  test.each(SEEDS)("seed %i: a scan gives the same rows", async (seed) => {
    const [here, there] = tables(name);
    const request = requestOf(here, seed);
    const [wanted, found] = [await rowsOf(here, request), await rowsOf(there, request)];
    const isOrdered = request.order !== "none";
    expect(isOrdered ? found : found.toSorted()).toEqual(isOrdered ? wanted : wanted.toSorted());
  });

  test("tells its sizes, times and files once it is asked", async () => {
    const [here, there] = tables(name);
    await there.refreshed?.("figures");
    await there.refreshed?.("files");
    expect([there.statistics(), there.timeBounds(), there.files().length]).toEqual([
      here.statistics(),
      here.timeBounds(),
      here.files().length * (name === "plain" || name === "flat" ? 1 : 1),
    ]);
  });
});

const ALL: ScanRequest = { projection: ["v"], timeRange: ALL_TIME, tagPredicates: [], fieldBounds: [], order: "series-time" };

test("before it was told times are unbounded, and there are no rows", () => {
  const { catalog } = remoteCatalog(machine.engine, SHARDS);
  const table = catalog.table("public", "plain") as Table;
  expect([table.timeBounds(), table.statistics().rowCount]).toEqual([ALL_TIME, 0]);
});

test("tags that are empty in some series are known with the first rows", async () => {
  await engineSql(machine.engine, "CREATE TABLE e (host STRING, zone STRING, v DOUBLE, ts TIMESTAMP TIME INDEX, PRIMARY KEY (host, zone))");
  await engineSql(
    machine.engine,
    "INSERT INTO e VALUES ('a', NULL, 1, 1), ('a', '', 2, 2), ('b', 'z', 3, 3), ('c', 'z', 4, 4), ('d', 'z', 5, 5)",
  );
  const [, there] = tables("e");
  const numbers = there.series;
  expect(numbers.hasValue("zone", "")).toBe(false);
  for await (const _ of there.scan({ ...ALL, numbers, timeRange: { start: 1n, end: 2n } })) {
    expect([numbers.hasValue("zone", ""), numbers.hasValue("host", "")]).toEqual([isTogether(), false]);
  }
});

/** Whether both series of `a` lie in one shard: another one is not asked for its first rows, since it has none. */
function isTogether(): boolean {
  const { schema } = tables("e")[0];
  const placement = placementOf(schema, SHARDS);
  const shards = [undefined, ""].map((zone) =>
    shardOf(
      placement,
      markOf(
        placement,
        placement.tags.map(({ name }) => (name === "host" ? "a" : zone)),
      ),
      placement.spans[0]?.spread ?? 1,
    ),
  );
  return shards[0] === shards[1];
}

test("a limit ends a scan, and nothing stays under way", async () => {
  const [, there] = tables("plain");
  const rows = await rowsOf(there, { ...ALL, limit: 5 });
  expect([rows.length >= 5, remote.shards.open]).toEqual([true, 0]);
});

test("whoever leaves a scan leaves its streams", async () => {
  const [, there] = tables("plain");
  for await (const batch of there.scan(ALL)) {
    expect(batch.rowCount).toBeGreaterThan(0);
    break;
  }
  expect(remote.shards.open).toBe(0);
});

test("a full tag set is asked of one shard", async () => {
  const [, there] = tables("plain");
  const before = remote.shards.asked.length;
  const tagPredicates: TagPredicate[] = [
    { kind: "in", column: "host", values: ["h3"] },
    { kind: "in", column: "zone", values: ["z0"] },
  ];
  const rows = await rowsOf(there, { ...ALL, tagPredicates });
  const asked = remote.shards.asked.slice(before).filter((each) => "plan" in each);
  expect([rows.length > 0, asked.length]).toEqual([true, 1]);
});

test("series that were let go stay with their readers", async () => {
  const memory = new ServerMemory(1);
  const { catalog } = remoteCatalog(machine.engine, SHARDS, {}, memory);
  const table = catalog.table("public", "plain") as Table;
  const numbers = table.series;
  const wanted = await rowsOf(tables("plain")[0], ALL);
  expect(await rowsOf(table, ALL)).toEqual(wanted);
  expect(memory.bytesOf("remote_series")).toBeGreaterThan(0);
  memory.isOver();
  expect([memory.bytesOf("remote_series"), table.series === numbers]).toEqual([0, false]);
  let rows = 0;
  for await (const { rowCount, runs } of table.scan({ ...ALL, numbers })) {
    for (const series of runs.series) expect(numbers.tagOf("host", series)).toMatch(/^h\d+$/);
    rows += rowCount;
  }
  expect(rows).toBe(wanted.length);
  expect(await rowsOf(table, ALL)).toEqual(wanted);
});

test("metrics of scans add up what shards read", async () => {
  const metrics = newScanMetrics();
  for await (const _ of tables("plain")[1].scan(ALL, metrics));
  expect(metrics.rowsReturned).toBeGreaterThan(900 - 1);
});

test("errors come as they were thrown", async () => {
  const why = new DbError(StatusCode.StorageUnavailable, "cannot read file x: it is gone");
  const { catalog } = remoteCatalog(machine.engine, SHARDS, {
    before: () => {
      throw why;
    },
  });
  const table = catalog.table("public", "plain") as Table;
  const error = await failureOf(rowsOf(table, ALL));
  expect([error instanceof DbError && error.code, String(error)]).toEqual([StatusCode.StorageUnavailable, String(why)]);
});

test("a table that was forgotten is not found", async () => {
  const { catalog, tables: all } = remoteCatalog(machine.engine, SHARDS);
  const table = catalog.table("public", "plain") as Table;
  all.forget(table.schema.id);
  expect(String(await failureOf(rowsOf(table, ALL)))).toContain("plain");
});

test("deletes by ranges and keys go where the rows are; those that need a watch here are refused", async () => {
  await engineSql(machine.engine, "CREATE TABLE d (host STRING PRIMARY KEY, v DOUBLE, ts TIMESTAMP TIME INDEX)");
  await engineSql(machine.engine, "INSERT INTO d VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 3), ('d', 4, 4)");
  const [here, there] = tables("d");
  const only = (value: string): readonly TagPredicate[] => [{ kind: "in", column: "host", values: [value] }];
  expect(await there.deleteRange({ timeRange: ALL_TIME, tagPredicates: only("a") })).toBe(1);
  for await (const { rowCount, vectors, runs } of there.scan({
    ...ALL,
    projection: ["ts"],
    tagPredicates: only("b"),
    numbers: there.series,
  })) {
    const [times] = vectors;
    if (times?.kind !== "time") throw new Error("times");
    await there.deleteRows({ rowCount, series: runs.series.slice(), numbers: there.series, times });
  }
  expect(await rowsOf(here, ALL)).toEqual(["c|3", "d|4"]);
  expect(() => there.watchOverwrites(ALL_TIME)).toThrow("other machines");
});
