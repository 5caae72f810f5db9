import { afterEach, beforeEach, expect, test } from "bun:test";
import { EngineHost } from "../../../test/support/cluster/engine-host.ts";
import { scanOf } from "../../../test/support/cluster/fragment-rows.ts";
import { inProcessShardClient } from "../../../test/support/cluster/in-process-shard-client.ts";
import { ShardNode } from "../../../test/support/cluster/shard-node.ts";
import { EngineFixture } from "../../../test/support/engine-fixture.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { planOf } from "../../../test/support/plan-run.ts";
import { StatusCode } from "../../base/status-code.ts";
import { tableId } from "../../base/units.ts";
import { encodePlan } from "../../query/operator/contract/plan-bytes.ts";
import type { PlanNode } from "../../query/operator/contract/node.ts";
import type { Table } from "../../table/catalog.ts";
import type { ShardClient } from "../wire/shard-client.ts";

const MOMENT = { shard: 0, catalogVersion: 0, least: 0 };
const ENVIRONMENT = { now: 0n, timeZone: "UTC", database: "public" };

let fixture: EngineFixture;
let client: ShardClient;

beforeEach(async () => {
  fixture = await EngineFixture.start();
  const node = new ShardNode();
  node.hosts.set(0, new EngineHost(0, fixture.machine.engine));
  const owners = { ownerOf: () => ({ address: "a" }), nextChange: () => new Promise<void>(() => undefined) };
  client = inProcessShardClient(1, new Map([["a", node.service]]), owners, { last: async () => 0 }, { ownerMillis: 300 });
  await fixture.sql(`
    CREATE TABLE t (ts TIMESTAMP TIME INDEX, host STRING, dc STRING, v DOUBLE, PRIMARY KEY (host, dc));
    CREATE TABLE idle (ts TIMESTAMP TIME INDEX, v DOUBLE);
    CREATE TABLE phy (ts TIMESTAMP TIME INDEX, val DOUBLE) ENGINE = metric WITH (physical_metric_table = '');
    CREATE TABLE cpu (ts TIMESTAMP TIME INDEX, val DOUBLE, host STRING PRIMARY KEY) ENGINE = metric WITH (on_physical_table = 'phy');
    INSERT INTO t VALUES (1, 'a', NULL, 1), (2, 'a', 'x', 2), (3, 'b', 'x', 3), (4, 'b', 'y', 4);
    INSERT INTO cpu (ts, val, host) VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c')`);
});

afterEach(() => fixture.machine.engine.close());

function tableNamed(name: string): Table {
  return fixture.machine.engine.table("public", name) as Table;
}

const idOf = (name: string) => tableNamed(name).schema.id;

async function rowsOf(sql: string): Promise<string> {
  return (await fixture.sql(sql)).rows.map((row) => row.join(",")).join(" ");
}

/** Deletes what the input of a query's plan gives. */
function deleted(name: string, plan: PlanNode): Promise<number> {
  return client.call({ ...MOMENT, kind: "delete", tableId: idOf(name), plan: encodePlan(plan), environment: ENVIRONMENT });
}

test("a table is flushed, merged and truncated, whatever kind it is", async () => {
  for (const name of ["t", "cpu", "phy"]) {
    await client.call({ ...MOMENT, kind: "flush", tableId: idOf(name) });
    await client.call({ ...MOMENT, kind: "compact", tableId: idOf(name), timeRange: undefined });
    await client.call({ ...MOMENT, kind: "build-indexes", tableId: idOf(name) });
  }
  const files = await client.call({ ...MOMENT, kind: "files", tableId: idOf("t") });
  expect(tableNamed("t").files()).toMatchObject([...files]);
  expect(files.reduce((sum, { rowCount }) => sum + rowCount, 0)).toBe(4);
  await client.call({ ...MOMENT, kind: "truncate", tableId: idOf("t"), ranges: [{ start: 100n, end: 200n }] });
  expect(await rowsOf("SELECT count(*) FROM t")).toBe("4");
  await client.call({ ...MOMENT, kind: "truncate", tableId: idOf("t"), ranges: undefined });
  expect(await rowsOf("SELECT count(*) FROM t")).toBe("0");
});

test("facts are those of tables with rows, or of one", async () => {
  const all = await client.call({ ...MOMENT, kind: "facts", tableId: undefined });
  expect(new Set(all.map(({ tableId: id }) => id))).toEqual(new Set(["t", "cpu", "phy"].map(idOf)));
  const table = tableNamed("t");
  const own = { tableId: table.schema.id, statistics: table.statistics(), timeBounds: table.timeBounds() };
  expect(await client.call({ ...MOMENT, kind: "facts", tableId: idOf("t") })).toEqual([own]);
  const [idle] = await client.call({ ...MOMENT, kind: "facts", tableId: idOf("idle") });
  expect(idle).toMatchObject({ statistics: { rowCount: 0 }, timeBounds: undefined });
});

test("rows that a plan's filter gives are deleted", async () => {
  const { plan } = planOf("SELECT ts FROM t WHERE v > 1 AND v < 4", fixture.machine.engine);
  expect(await deleted("t", plan)).toBe(2);
  expect(await rowsOf("SELECT v FROM t ORDER BY v")).toBe("1 4");
});

test("all rows of a scan of some tags are deleted", async () => {
  const tagPredicates = [{ kind: "in" as const, column: "host", values: ["b"] }];
  expect(await deleted("t", scanOf(tableNamed("t"), { tagPredicates, projection: ["ts"] }))).toBe(2);
  expect(await rowsOf("SELECT v FROM t ORDER BY v")).toBe("1 2");
});

test("rows of a logical table are deleted by what they hold", async () => {
  const { plan } = planOf("SELECT ts FROM cpu WHERE val >= 2", fixture.machine.engine);
  expect(await deleted("cpu", plan)).toBe(2);
  expect(await rowsOf("SELECT host FROM cpu")).toBe("a");
});

test("plans that give other rows than those of a scan delete nothing", async () => {
  for (const [sql, why] of [
    ["SELECT ts FROM t ORDER BY v LIMIT 1", "they come from a scan with filters"],
    ["SELECT max(ts) AS ts FROM t", "they come from a scan with filters"],
    ["SELECT host FROM t WHERE v > 1", "the plan does not give the rows' times"],
  ] as const) {
    const error = await failureOf(deleted("t", planOf(sql, fixture.machine.engine).plan));
    expect(error).toMatchObject({ code: StatusCode.InvalidArguments });
    expect(error.message).toContain(why);
  }
  expect(await rowsOf("SELECT count(*) FROM t")).toBe("4");
});

test("rows are deleted by their keys, NULL among the tags", async () => {
  const tags = [
    ["a", "b", "nobody"],
    [undefined, "y", undefined],
  ];
  await client.call({ ...MOMENT, kind: "delete-keys", tableId: idOf("t"), tags, times: [1n, 4n, 1n] });
  expect(await rowsOf("SELECT v FROM t ORDER BY v")).toBe("2 3");
  await client.call({ ...MOMENT, kind: "delete-keys", tableId: idOf("cpu"), tags: [["b"]], times: [2n] });
  expect(await rowsOf("SELECT host FROM cpu ORDER BY host")).toBe("a c");
});

test("keys of times far apart are deleted", async () => {
  await fixture.sql("CREATE TABLE far (ts TIMESTAMP(9) TIME INDEX, host STRING PRIMARY KEY)");
  const times = [-(2n ** 62n), 0n, 2n ** 62n];
  await fixture.sql(`INSERT INTO far VALUES ${times.map((time) => `(${time}, 'a')`).join(", ")}, (7, 'a')`);
  await client.call({ ...MOMENT, kind: "delete-keys", tableId: idOf("far"), tags: [["a", "a", "a"]], times });
  expect(await rowsOf("SELECT count(*) FROM far")).toBe("1");
});

test("keys with more tags than the table has are refused", async () => {
  const tags = [["a"], ["b"], ["c"]];
  const error = await failureOf(client.call({ ...MOMENT, kind: "delete-keys", tableId: idOf("t"), tags, times: [1n] }));
  expect(error).toMatchObject({ code: StatusCode.InvalidArguments });
});

test("what cannot be done fails by its name", async () => {
  const gone = tableId(99_999);
  for (const kind of ["flush", "files", "facts"] as const) {
    expect(await failureOf(client.call({ ...MOMENT, kind, tableId: gone }))).toMatchObject({ code: StatusCode.TableNotFound });
  }
  const { plan } = planOf("SELECT ts FROM phy WHERE val > 1", fixture.machine.engine);
  expect(await failureOf(deleted("phy", plan))).toMatchObject({ code: StatusCode.Unsupported });
});
