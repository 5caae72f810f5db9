/** Fragments over HTTP give what a scan on the same machine gives. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { EngineHost } from "../../../test/support/cluster/engine-host.ts";
import { answerOf, fragmentOf, rowsHere, scanOf } from "../../../test/support/cluster/fragment-rows.ts";
import { ShardNode } from "../../../test/support/cluster/shard-node.ts";
import { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { exporterSeries, metricBatch } from "../../../test/support/metric-batch.ts";
import { planOf } from "../../../test/support/plan-run.ts";
import { systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import type { PlanNode } from "../../query/operator/contract/node.ts";
import type { Table } from "../../table/catalog.ts";
import { HttpTransport } from "../wire/http-transport.ts";
import { NodeShardClient } from "../wire/node-shard-client.ts";
import type { PartListener } from "./internal-listener.ts";

let fixture: EngineFixture;
let node: ShardNode;
let host: EngineHost;
let listener: PartListener;
let transport: HttpTransport;
let client: NodeShardClient;

beforeAll(async () => {
  fixture = await EngineFixture.start();
  node = new ShardNode();
  host = new EngineHost(0, fixture.machine.engine);
  node.hosts.set(0, host);
  listener = node.listen();
  transport = new HttpTransport({});
  const owners = { ownerOf: () => ({ address: `127.0.0.1:${listener.port}` }), nextChange: () => new Promise<void>(() => undefined) };
  client = new NodeShardClient({ shards: 1, owners, transport, log: { last: () => Promise.resolve(0) }, clock: systemClock });
  await fixture.sql(`
    CREATE TABLE plain (ts TIMESTAMP TIME INDEX, host STRING, dc STRING, v DOUBLE, n BIGINT UNSIGNED, s STRING, PRIMARY KEY (host, dc));
    CREATE TABLE untagged (ts TIMESTAMP TIME INDEX, v DOUBLE);
    CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE = metric WITH (physical_metric_table = '');
    CREATE TABLE cpu (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE = metric WITH (on_physical_table = 'phy');
    CREATE TABLE mem (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING, kind STRING, PRIMARY KEY (host, kind))
      ENGINE = metric WITH (on_physical_table = 'phy')`);
  const plain = (i: number): string => {
    const dc = i % 3 === 0 ? "NULL" : `'d${i % 2}'`;
    const n = i % 5 === 0 ? "18446744073709551615" : i;
    const s = i % 4 === 0 ? "NULL" : `'text ${i % 10}'`;
    return `${i * 1000}, 'h${i % 7}', ${dc}, ${i}.5, ${n}, ${s}`;
  };
  const mem = (i: number): string => `${i}, ${i}.5, 'h${i % 5}', ${i % 3 === 0 ? "NULL" : `'k${i % 4}'`}`;
  await fixture.sql(`INSERT INTO plain VALUES ${values(3000, plain)}`);
  await fixture.sql(`INSERT INTO untagged VALUES ${values(50, (i) => `${i}, ${i}.25`)}`);
  await fixture.sql(`INSERT INTO cpu (ts, val, host) VALUES ${values(200, (i) => `${i}, ${i}.5, 'h${i % 11}'`)}`);
  await fixture.sql(`INSERT INTO mem (ts, val, host, kind) VALUES ${values(300, mem)}`);
  await fixture.sql("ADMIN flush_table('plain')");
  await fixture.sql("INSERT INTO plain VALUES (5000, 'h5', 'd1', 77, 7, 'newer'), (9000000, 'late', NULL, 1, 1, 'x')");
});

afterAll(async () => {
  transport.close();
  await listener.stop(0);
  await fixture.machine.engine.close();
});

function values(count: number, of: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => `(${of(i)})`).join(", ");
}

function tableNamed(name: string): Table {
  const table = fixture.machine.engine.table("public", name);
  if (table === undefined) throw new Error(`table ${name}`);
  return table;
}

test("series that are numbered anew beside an answer", async () => {
  const table = tableNamed("plain");
  for (const order of ["none", "series-time"] as const) {
    const before = await answerOf(client, fragmentOf(table, scanOf(table, { order })));
    await fixture.machine.engine.keepUp();
    const after = await answerOf(client, fragmentOf(table, scanOf(table, { order })));
    expect([...after.rows].sort()).toEqual([...before.rows].sort());
    if (order === "series-time") expect(after.rows).toEqual(before.rows);
  }
});

describe.each(["plain", "untagged", "cpu", "mem", "phy"])("table %s", (name) => {
  test.each(["none", "series-time", "listed"] as const)("in order %s", async (order) => {
    const table = tableNamed(name);
    const { rows, end } = await answerOf(client, fragmentOf(table, scanOf(table, { order })));
    const here = await rowsHere(table, { order });
    // Series may be numbered anew in between, and without an order rows come by their numbers.
    if (order === "none") expect([...rows].sort()).toEqual([...here].sort());
    else expect(rows).toEqual([...here]);
    expect(rows.length).toBeGreaterThan(10);
    expect(end).toMatchObject({ kind: "end", metrics: undefined });
  });

  test("without series", async () => {
    const table = tableNamed(name);
    const { rows, series } = await answerOf(client, fragmentOf(table, scanOf(table), { wantsRuns: false }));
    const here = await rowsHere(table);
    expect(series).toBe(0);
    expect([...rows].sort()).toEqual(here.map((row) => row.replace(/^\[.*?\] /, " ")).sort());
  });

  test("without columns", async () => {
    const table = tableNamed(name);
    const { rows } = await answerOf(client, fragmentOf(table, scanOf(table, { projection: [] })));
    expect([...rows].sort()).toEqual([...(await rowsHere(table, { projection: [] }))].sort());
  });
});

test("tags are those of all labels of a physical table, and its own", async () => {
  const table = tableNamed("phy");
  expect(table.schema.primaryKey).toEqual(["__table_id", "__tsid", "host", "kind"]);
  const { rows } = await answerOf(client, fragmentOf(table, scanOf(table, { projection: ["val"] })));
  const ids = new Set(rows.map((row) => (JSON.parse(row.slice(0, row.lastIndexOf(" "))) as string[])[0]));
  expect(ids).toEqual(new Set(["cpu", "mem"].map((name) => String(tableNamed(name).schema.id))));
});

test("conditions on tags and fields, projections and groups run there", async () => {
  for (const sql of [
    "SELECT host, v FROM plain WHERE host IN ('h1', 'h2') AND v > 100",
    "SELECT host, count(*), sum(v), max(s) FROM plain WHERE dc IS NULL OR dc LIKE 'd%' GROUP BY host",
    "SELECT s, v + 1 FROM plain ORDER BY v DESC LIMIT 7",
  ]) {
    const { plan, table } = await planned(sql);
    const { rows, end } = await answerOf(client, fragmentOf(table, plan, { wantsRuns: false, wantsMetrics: true }));
    const here = await fixture.sql(sql);
    expect(rows.length).toBe(here.rows.length);
    expect(end?.metrics?.[0]?.scan?.rowsReturned).toBeGreaterThan(0);
    expect(end?.metrics?.at(-1)?.rows).toBe(rows.length);
  }
});

async function planned(sql: string): Promise<{ readonly plan: PlanNode; readonly table: Table }> {
  return { plan: planOf(sql, fixture.machine.engine).plan, table: tableNamed("plain") };
}

test("what is not there is an error by its name", async () => {
  const table = tableNamed("plain");
  const gone = { ...table.schema, id: tableId(99_999) };
  const other = { schema: gone } as unknown as Table;
  expect(await failureOf(answerOf(client, fragmentOf(other, scanOf(other))))).toMatchObject({ code: StatusCode.TableNotFound });
  const mixed = { ...fragmentOf(table, scanOf(tableNamed("cpu"))), tableId: table.schema.id };
  expect(await failureOf(answerOf(client, mixed))).toMatchObject({ code: StatusCode.RequestOutdated });
  const projection = ["nosuch"];
  expect(await failureOf(answerOf(client, fragmentOf(table, scanOf(table, { projection }))))).toMatchObject({
    code: StatusCode.TableColumnNotFound,
  });
  const predicate = { kind: "in" as const, column: "v", values: ["x"] };
  expect(await failureOf(answerOf(client, fragmentOf(table, scanOf(table, { tagPredicates: [predicate] }))))).toMatchObject({
    code: StatusCode.RequestOutdated,
  });
  const plan = Uint8Array.of(1, 2, 3);
  expect(await failureOf(answerOf(client, { ...fragmentOf(table, scanOf(table)), plan }))).toMatchObject({
    code: StatusCode.InvalidArguments,
  });
});

test("a column of another type than the plan was made for is seen", async () => {
  const table = tableNamed("plain");
  const node = scanOf(table, { projection: ["v"] });
  const columns = [{ name: "v", type: { kind: "string" } as const }];
  const asked = fragmentOf(table, { ...node, columns });
  expect(await failureOf(answerOf(client, asked))).toMatchObject({ code: StatusCode.RequestOutdated });
});

test("a shard waits until it has seen what it must have seen", async () => {
  const table = tableNamed("untagged");
  const answer = answerOf(client, fragmentOf(table, scanOf(table), { least: 5 }));
  await Bun.sleep(100);
  expect(node.running.list()).toMatchObject([{ kind: "fragment", shard: 0, tableId: table.schema.id }]);
  host.apply(5);
  expect((await answer).rows.length).toBe(50);
  expect(node.running.list()).toEqual([]);
});

test("a fragment beyond its memory fails by its name, and gives all back", async () => {
  const { plan, table } = await planned("SELECT v, count(*) FROM plain GROUP BY v");
  const asked = fragmentOf(table, plan, { wantsRuns: false, memoryBytesMax: 1000 });
  expect(await failureOf(answerOf(client, asked))).toMatchObject({ code: StatusCode.RuntimeResourcesExhausted });
  expect(node.pool.used).toBe(0);
});

test("a physical table of very many labels, of which each series has few", async () => {
  const samples = Array.from({ length: 1500 }, (_, i) => ({ ...exporterSeries(i % 100, Math.floor(i / 100)), time: i, value: i }));
  const options = { autoCreate: true, tableOptions: {}, physicalTable: "wide" };
  await fixture.machine.engine.write("public", metricBatch(samples, "wide"), options).catch(async (error: unknown) => {
    if (!(error instanceof DbError) || error.code !== StatusCode.RegionBusy) throw error;
    await fixture.machine.engine.write("public", metricBatch(samples, "wide"), options); // Its tables were made meanwhile.
  });
  const wide = tableNamed("wide");
  expect(wide.schema.primaryKey.length).toBeGreaterThan(200);
  const request = { projection: ["greptime_value"] };
  const { rows, series } = await answerOf(client, fragmentOf(wide, scanOf(wide, request)));
  expect(series).toBe(1500);
  expect([...rows].sort()).toEqual([...(await rowsHere(wide, request))].sort());
});
