/** DELETE and UPDATE whose conditions ask other tables, of rows that are elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Machine } from "../../../test/engine/machine.ts";
import { type RemoteCatalog, remoteCatalog } from "../../../test/support/cluster/remote-catalog.ts";
import { BESIDE, SUB_QUERY_CONDITIONS } from "../../../test/support/delete-conditions.ts";
import { engineSql } from "../../../test/support/engine-sql.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { type Answer, FIXTURE_NOW, runSql } from "../../../test/support/query-fixture.ts";
import { fixedClock, systemClock } from "../../base/clock.ts";
import { Scheduler } from "../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { QueryContext } from "../../query/query-context.ts";
import { RemoteWorkers } from "./remote-workers.ts";

const SHARDS = 3;
const COLUMNS = "(host STRING, dc INT, ts TIMESTAMP(3), cpu DOUBLE, note STRING, TIME INDEX (ts), PRIMARY KEY (host, dc))";
const workers = new RemoteWorkers(SHARDS);

let machine: Machine;
let remote: RemoteCatalog;
beforeAll(async () => {
  machine = await Machine.start({ shards: SHARDS });
  await engineSql(machine.engine, `CREATE TABLE m ${COLUMNS}; ${BESIDE}`);
  const rows = Array.from(
    { length: 400 },
    (_, i) => `('h${i % 4}', ${i % 2}, ${i * 1000}, ${i % 10}, ${i % 3 === 0 ? "NULL" : `'n${i % 5}'`})`,
  );
  await engineSql(machine.engine, `INSERT INTO m VALUES ${rows.join(",")}`);
  remote = remoteCatalog(machine.engine, SHARDS);
});
afterAll(() => machine.engine.close());

function contextOf(catalog: QueryContext["catalog"]): QueryContext {
  const { engine } = machine;
  const clock = { ...fixedClock(FIXTURE_NOW), monotonicMillis: () => systemClock.monotonicMillis() };
  const variables = { database: "public", timeZone: "UTC" };
  return {
    catalog,
    writer: engine,
    admin: engine,
    clock,
    scheduler: new Scheduler(clock),
    variables,
    signal: new AbortController().signal,
  };
}

const there = (sql: string): Promise<Answer> => runSql(sql, contextOf(remote.catalog), { workers });
const here = (sql: string): Promise<Answer> => runSql(sql, contextOf(machine.engine));

/** A copy of `m` of another name, for a condition that names it `m`. */
async function copied(): Promise<void> {
  await engineSql(machine.engine, `DROP TABLE IF EXISTS d; CREATE TABLE d ${COLUMNS}; INSERT INTO d SELECT * FROM m`);
}

const ofCopy = (condition: string): string => condition.replaceAll("m.", "d.");

/** Rows of several values, more than are tested one after another. */
const OF_MANY_ROWS = [
  "(host, ts) IN (SELECT host, ts FROM m WHERE dc = 1 OR note IS NULL)",
  "(dc, note, ts) IN (SELECT dc, note, ts FROM m WHERE dc = 0)",
  "(note, dc) IN (SELECT CASE WHEN value % 7 = 0 THEN NULL ELSE 'n' || value END, value % 2 FROM generate_series(3, 200) AS s(value))",
  "(note, dc) NOT IN (SELECT 'n' || value, value % 2 FROM generate_series(3, 200) AS s(value))",
  "(note, dc) IN (SELECT 'n' || value, value % 2 FROM generate_series(3, 200) AS s(value)) IS NOT NULL",
  "(note, cpu) IN (SELECT 'n' || value % 5, value FROM generate_series(3, 200) AS s(value))",
  "EXISTS (SELECT 1 FROM m WHERE m.host = d.host AND m.ts = d.ts AND m.cpu > 3)",
];

describe("DELETE takes the rows that a SELECT of the condition finds", () => {
  test.each([...SUB_QUERY_CONDITIONS.map(ofCopy), ...OF_MANY_ROWS])("%s", async (where) => {
    await copied();
    const [[found] = []] = (await here(`SELECT count(*) FROM d WHERE ${where}`)).rows;
    const left = await here(`SELECT * FROM d WHERE (${where}) IS NOT TRUE ORDER BY ts, host`);
    expect((await there(`DELETE FROM d WHERE ${where}`)).affected).toBe(Number(found));
    expect((await here("SELECT * FROM d ORDER BY ts, host")).rows).toEqual(left.rows);
    expect(remote.shards.open).toBe(0);
  });
});

test.each(["host IN (SELECT h FROM r)", "cpu > (SELECT avg(v) FROM r)", "EXISTS (SELECT 1 FROM r WHERE r.h = d.host AND r.v < d.cpu)"])(
  "UPDATE changes the rows where %s",
  async (where) => {
    await copied();
    const [[found] = []] = (await here(`SELECT count(*) FROM d WHERE ${where}`)).rows;
    const wanted = await here(`SELECT host, dc, ts, CASE WHEN ${where} THEN -1.0 ELSE cpu END, note FROM d ORDER BY ts, host`);
    expect((await there(`UPDATE d SET cpu = -1 WHERE ${where}`)).affected).toBe(Number(found));
    expect((await here("SELECT * FROM d ORDER BY ts, host")).rows).toEqual(wanted.rows);
  },
);

test("a list that tags or times are of is all that shards are asked to delete by", async () => {
  await copied();
  const asked = remote.shards.asked.length;
  expect((await there("DELETE FROM d WHERE (host, dc) IN (SELECT 'h1', 1)")).affected).toBe(100);
  expect((await there("DELETE FROM d WHERE host = 'h2' AND dc IN (SELECT d FROM r WHERE v = 3) AND ts < (SELECT 10000)")).affected).toBe(2);
  const deletes = remote.shards.asked.slice(asked).filter((request) => "kind" in request && request.kind === "delete");
  expect(deletes).toHaveLength(2);
});

test("what no row can meet asks no shard", async () => {
  await copied();
  const asked = remote.shards.asked.length;
  expect((await there("DELETE FROM d WHERE ts < (SELECT max(ts) FROM r WHERE v > 100)")).affected).toBe(0);
  expect(remote.shards.asked.slice(asked).filter((request) => "kind" in request && request.kind === "delete")).toEqual([]);
});

test("what cannot be tested elsewhere is refused and says why; nothing is deleted", async () => {
  await copied();
  for (const [where, why] of [
    ["cpu > (SELECT avg(v) FROM r WHERE r.h = d.host)", "a sub-query reads columns of d in another way than EXISTS or IN"],
    ["EXISTS (SELECT 1 FROM r WHERE r.v < d.cpu)", "a sub-query reads columns of d in another way"],
    ["cpu NOT IN (SELECT v FROM r WHERE r.h = d.host)", "a sub-query reads columns of d in another way"],
    ["cpu < random() AND host IN (SELECT h FROM r)", "it calls a function that gives another value each time"],
    ["cpu + random() IN (SELECT v FROM r)", "a sub-query compares whole structs, or something else at each look"],
    ["note IN (SELECT 'n' || value FROM generate_series(1, 100001) AS s(value))", "more than 100000 different rows"],
    ["(note, cpu) IN (SELECT 'n' || value, value FROM generate_series(1, 5000) AS s(value))", "in more than 4096 combinations"],
    ["note IN (SELECT repeat('long', 1000000) || value FROM generate_series(1, 5) AS s(value))", "rows of more than 16777216 bytes"],
  ] as const) {
    const { code, message } = await failureOf(there(`DELETE FROM d WHERE ${where}`));
    expect([where, code, message.includes(why) ? why : message]).toEqual([where, StatusCode.Unsupported, why]);
  }
  const { message } = await failureOf(there("DELETE FROM d WHERE cpu = (SELECT v FROM r)"));
  expect(message).toContain("returned more than one row");
  expect((await here("SELECT count(*) FROM d")).rows).toEqual([[400]]);
});

test("a list as long as may be is taken, of one value or of several", async () => {
  await copied();
  expect((await there("DELETE FROM d WHERE cpu IN (SELECT value FROM generate_series(5, 100004) AS s(value))")).affected).toBe(200);
  const rows = "SELECT 'n' || value % 1000, value FROM generate_series(1, 100000) AS s(value)";
  const [[found] = []] = (await here(`SELECT count(*) FROM d WHERE (note, dc) IN (${rows})`)).rows;
  expect((await there(`DELETE FROM d WHERE (note, dc) IN (${rows})`)).affected).toBe(Number(found));
  expect(Number(found)).toBeGreaterThan(0);
});
