/** Queries whose fragments run where the rows are: what they answer, and what is left when they fail or are left. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { type RemoteCatalog, remoteCatalog } from "../../../test/support/cluster/remote-catalog.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { type Answer, FIXTURE_NOW, runSql, sameAnswers } from "../../../test/support/query-fixture.ts";
import { fixedClock, systemClock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { QueryContext } from "../../query/query-context.ts";
import type { FragmentRequest, ShardCall } from "../wire/shard-request.ts";
import { RemoteWorkers } from "./remote-workers.ts";

const SHARDS = 3;
const workers = new RemoteWorkers(SHARDS);

let machine: Machine;
let remote: RemoteCatalog;
let before: (request: FragmentRequest | ShardCall) => void = () => undefined;

beforeAll(async () => {
  machine = await Machine.start({ shards: SHARDS });
  const { engine } = machine;
  await engineSql(
    engine,
    "CREATE TABLE m (host STRING, zone STRING, a BIGINT, x DOUBLE, ts TIMESTAMP TIME INDEX, PRIMARY KEY (host, zone))",
  );
  const rows = Array.from({ length: 3000 }, (_, i) => `('h${i % 90}', 'z${i % 4}', ${(i * 7919) % 1000}, ${i / 8}, ${i * 1000})`);
  await engineSql(engine, `INSERT INTO m VALUES ${rows.join(", ")}`);
  remote = remoteCatalog(engine, SHARDS, { before: (request) => before(request) });
});

afterAll(() => machine.engine.close());

function contextOf(catalog: QueryContext["catalog"], signal: AbortSignal = new AbortController().signal): QueryContext {
  const { engine } = machine;
  const clock = { ...fixedClock(FIXTURE_NOW), monotonicMillis: () => systemClock.monotonicMillis() };
  const admin = {
    buildIndexes: async () => undefined,
    flushTable: async () => undefined,
    compactTable: async () => undefined,
    backups: engine.backups,
  };
  const variables = { database: "public", timeZone: "UTC" };
  return { catalog, writer: engine, admin, clock, scheduler: new Scheduler(clock), variables, signal };
}

const there = (sql: string, signal?: AbortSignal): Promise<Answer> => runSql(sql, contextOf(remote.catalog, signal), { workers });
const here = (sql: string): Promise<Answer> => runSql(sql, contextOf(machine.engine));

describe("answers are those of the engine that has the rows", () => {
  test.each([
    "SELECT host, count(*), sum(a), avg(x), min(x), max(a) FROM m GROUP BY host",
    "SELECT date_bin('10 minutes'::INTERVAL, ts) AS b, zone, avg(a) FROM m WHERE host <> 'h3' GROUP BY b, zone",
    "SELECT count(*), sum(x) FROM m WHERE a > 500 AND zone = 'z1'",
    "SELECT host, ts, a FROM m WHERE a BETWEEN 100 AND 120",
    "SELECT host, a, ts FROM m ORDER BY x DESC LIMIT 17",
    "SELECT host, last_value(a ORDER BY ts) FROM m GROUP BY host",
    "SELECT stddev(x), approx_distinct(host) FROM m WHERE zone LIKE 'z%'",
    "SELECT l.host, l.a, r.a FROM m l JOIN m r ON l.host = r.host AND l.ts = r.ts WHERE l.a < 20",
    "SELECT host, a, row_number() OVER (PARTITION BY host ORDER BY ts) FROM m WHERE a < 50",
    "SELECT * FROM m WHERE host IN (SELECT host FROM m WHERE a > 990)",
    "SELECT host FROM m WHERE upper(host) || zone = 'H7z3' AND ts >= now() - INTERVAL '100 years'",
  ])("%s", async (sql) => {
    sameAnswers(sql, ["elsewhere", await there(sql)], ["here", await here(sql)]);
    expect(remote.shards.open).toBe(0);
  });
});

test("rows keep their order where the scan has one", async () => {
  const sql = "SELECT host, zone, ts FROM m WHERE a > 200 ORDER BY host, zone, ts";
  expect((await there(sql)).rows).toEqual((await here(sql)).rows);
});

test("conditions on tags are tested where the rows are, and a full tag set asks one shard", async () => {
  const asked = remote.shards.asked.length;
  await there("SELECT sum(a) FROM m WHERE host = 'h5' AND zone = 'z1'");
  expect(remote.shards.asked.slice(asked).filter((request) => "plan" in request)).toHaveLength(1);
});

test("newest rows are looked for where they are: each shard is asked once, and nothing is asked first", async () => {
  for (const sql of [
    "SELECT * FROM m ORDER BY ts DESC LIMIT 3",
    "SELECT * FROM m WHERE host = 'h5' ORDER BY ts DESC LIMIT 1",
    "SELECT ts, a FROM m WHERE a > 990 ORDER BY ts DESC LIMIT 5 OFFSET 4",
    "SELECT ts FROM m WHERE host = 'nobody' ORDER BY ts DESC LIMIT 2",
  ]) {
    const asked = remote.shards.asked.length;
    const { rows } = await there(sql);
    expect([sql, remote.shards.asked.slice(asked).filter((request) => "plan" in request).length]).toEqual([sql, SHARDS]);
    expect(rows).toEqual((await here(sql)).rows);
  }
});

test("what reads all shards in their order asks for all together; what may have enough early, or merges them, does not", async () => {
  for (const [sql, together] of [
    ["SELECT host, sum(a) FROM m GROUP BY host", [SHARDS]],
    ["SELECT count(*) FROM m", [SHARDS]],
    ["SELECT * FROM m WHERE host = 'h5' ORDER BY ts DESC LIMIT 1", [SHARDS]],
    ["SELECT a FROM m ORDER BY x LIMIT 3", [SHARDS]],
    ["SELECT sum(a) FROM m WHERE host = 'h5' AND zone = 'z1'", [1]],
    ["SELECT * FROM m WHERE a > 990", []],
    ["SELECT host, zone, ts FROM m WHERE a > 990 ORDER BY host, zone, ts", []],
  ] as const) {
    const asked = remote.shards.together.length;
    await there(sql);
    expect([sql, remote.shards.together.slice(asked)]).toEqual([sql, [...together]]);
  }
});

test("EXPLAIN ANALYZE tells in how many parts it ran", async () => {
  const { rows } = await there("EXPLAIN ANALYZE SELECT host, sum(a) FROM m WHERE a > 3 GROUP BY host");
  expect(String(rows[0]?.[2])).toMatch(/AggregateExec[^\n]*tasks: 3\b/);
});

test("a shard that fails fails the query as it said, and leaves nothing", async () => {
  before = (request) => {
    if ("plan" in request && request.shard === 1) throw new DbError(StatusCode.StorageUnavailable, "cannot read file f: it is gone");
  };
  try {
    for (const sql of ["SELECT sum(a) FROM m", "SELECT * FROM m", "SELECT * FROM m WHERE a > 1", "SELECT a FROM m ORDER BY x LIMIT 3"]) {
      const { code, message } = await failureOf(there(sql));
      expect([sql, code, message]).toEqual([sql, StatusCode.StorageUnavailable, "cannot read file f: it is gone"]);
      expect(remote.shards.open).toBe(0);
    }
  } finally {
    before = () => undefined;
  }
});

test("a fragment that fails once runs again from here", async () => {
  let failures = 0;
  before = (request) => {
    if ("plan" in request && request.shard === 2 && failures++ === 0) throw new DbError(StatusCode.StorageUnavailable, "gone");
  };
  try {
    const sql = "SELECT host, sum(a) FROM m GROUP BY host";
    sameAnswers(sql, ["elsewhere", await there(sql)], ["here", await here(sql)]);
  } finally {
    before = () => undefined;
  }
});

test.each([1, 2, 3, 5, 8])("a query that is cancelled after %i answers leaves no stream", async (most) => {
  const ending = new AbortController();
  let begun = 0;
  before = (request) => {
    if ("plan" in request && ++begun >= most % 3) ending.abort();
  };
  try {
    for (const sql of ["SELECT host, sum(a) FROM m GROUP BY host", "SELECT * FROM m WHERE a > 1", "SELECT * FROM m ORDER BY x"]) {
      const { code } = await failureOf(there(sql, ending.signal));
      expect([sql, code, remote.shards.open]).toEqual([sql, StatusCode.Cancelled, 0]);
    }
  } finally {
    before = () => undefined;
  }
});

test("DELETE with a condition on values runs where the rows are", async () => {
  await engineSql(machine.engine, "CREATE TABLE gone (host STRING PRIMARY KEY, a BIGINT, ts TIMESTAMP TIME INDEX)");
  await engineSql(machine.engine, "INSERT INTO gone SELECT host, a, ts FROM m");
  const { rows } = await here("SELECT count(*) FROM gone WHERE a % 2 = 0 AND host <> 'h3'");
  expect((await there("DELETE FROM gone WHERE a % 2 = 0 AND host <> 'h3'")).affected).toBe(Number(rows[0]?.[0]));
  expect((await here("SELECT count(*) FROM gone WHERE a % 2 = 0 AND host <> 'h3'")).rows).toEqual([[0]]);
  expect((await there("DELETE FROM gone WHERE host = 'h5'")).affected).toBeGreaterThan(0);
  expect((await here("SELECT count(*) FROM gone WHERE host = 'h5'")).rows).toEqual([[0]]);
});

test("UPDATE writes rows anew", async () => {
  await engineSql(machine.engine, "CREATE TABLE up (host STRING PRIMARY KEY, a BIGINT, ts TIMESTAMP TIME INDEX)");
  await engineSql(machine.engine, "INSERT INTO up VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 3)");
  expect((await there("UPDATE up SET a = a * 10 WHERE a > 1")).affected).toBe(2);
  expect((await there("SELECT a FROM up ORDER BY host")).rows).toEqual([[1], [20], [30]]);
});
