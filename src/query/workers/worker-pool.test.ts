import { beforeAll, expect } from "bun:test";
import { rowsHere } from "../../../test/support/cluster/rows-here.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { type LocalWorker, localWorkers } from "../../../test/support/local-workers.ts";
import { openMemorySnapshot } from "../../../test/support/memory-catalog.ts";
import { QueryFixture, runSql, sameAnswers } from "../../../test/support/query-fixture.ts";
import { systemClock } from "../../base/clock.ts";
import { MemoryPool, ServerMemory } from "../../base/memory/server-memory.ts";
import { type DataType, INT64 } from "../../column/data-type.ts";
import { WorkerPool } from "./worker-pool.ts";

const { describe, test } = rowsHere("threads of its process");

const HOSTS = 20;
const ROWS_PER_HOST = 40;

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE m (host STRING PRIMARY KEY, v BIGINT, x DOUBLE, ts TIMESTAMP(3) TIME INDEX)");
  const rows = Array.from({ length: HOSTS * ROWS_PER_HOST }, (_, i) => `('h${i % HOSTS}', ${i}, ${i / 8}, ${i * 1000})`);
  await data.sql(`INSERT INTO m VALUES ${rows.join(", ")}`);
});

/** Runs a query with workers and without, insists on equal rows, and gives how often workers were asked. */
async function pullsOf(sql: string, limits = { rowsMin: 1, partRows: 50, partsMax: 7 }): Promise<number> {
  const pool = localWorkers(openMemorySnapshot, limits);
  const got = await data.sql(sql, { workers: pool });
  expect(got.rows).toEqual((await data.sql(sql)).rows);
  await settled(pool);
  return pool.counts.pulls;
}

/** All that was opened is closed again. */
async function settled(pool: WorkerPool): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(pool.counts).toMatchObject({ running: 0, waiting: 0 });
}

describe("what goes to workers", () => {
  const shared = [
    "SELECT count(*), sum(v), avg(v), avg(x), min(x), max(v) FROM m",
    "SELECT host, count(v), sum(x) FROM m GROUP BY host ORDER BY host",
    "SELECT date_trunc('minute', ts) AS t, last_value(v ORDER BY ts), first_value(x ORDER BY ts) FROM m GROUP BY t ORDER BY t",
    "SELECT last_value(v ORDER BY ts) FROM m WHERE host <> 'h3' AND v > 3",
    "SELECT sum(v) FILTER (WHERE x > 20), bit_xor(v), bool_or(v > 700) FROM m",
    "SELECT upper(host) AS h, max(v) - min(v) FROM m WHERE x > 3 GROUP BY h HAVING count(*) > 2 ORDER BY h",
    "SELECT host, v, ts FROM m WHERE v % 7 = 3",
    "SELECT DISTINCT host, v % 3 FROM m ORDER BY 1, 2",
    "SELECT host, count(DISTINCT v % 3), sum(v), count(*) FROM m GROUP BY host ORDER BY host",
    "SELECT count(DISTINCT v % 5), sum(DISTINCT v % 5) FROM m WHERE v >= 10",
    "SELECT count(DISTINCT host) FROM m WHERE v < 0 AND x < 100",
    "SELECT host, v FROM m ORDER BY x DESC, v LIMIT 5",
    "SELECT ts, host, max(v) RANGE '1m' FROM m ALIGN '30s' BY (host) ORDER BY host, ts",
  ];
  for (const sql of shared) test(sql, async () => expect(await pullsOf(sql)).toBeGreaterThan(0));

  const kept = [
    "SELECT array_agg(DISTINCT v) FROM m",
    "SELECT host, median(x) FROM m GROUP BY host ORDER BY host",
    "SELECT host, v FROM m",
    "SELECT v FROM m ORDER BY v",
  ];
  for (const sql of kept) test(`not ${sql}`, async () => expect(await pullsOf(sql)).toBe(0));

  test("not a table of few rows", async () => {
    expect(await pullsOf("SELECT sum(v) FROM m", { rowsMin: 10_000, partRows: 50, partsMax: 7 })).toBe(0);
  });
});

test("variances of parts are put together", async () => {
  const pool = localWorkers(openMemorySnapshot);
  const sql = "SELECT host, stddev(x), var_pop(v), var(v + 1000000000), std(v) FILTER (WHERE v > 790) FROM m GROUP BY host";
  sameAnswers(sql, ["in parts", await data.sql(sql, { workers: pool })], ["whole", await data.sql(sql)]);
  expect(pool.counts.pulls).toBeGreaterThan(0);
});

test("a LIMIT that is content ends the parts", async () => {
  const all = await pullsOf("SELECT v FROM m WHERE v > 3");
  expect(await pullsOf("SELECT v FROM m WHERE v > 3 LIMIT 2")).toBeLessThan(all);
});

test("EXPLAIN ANALYZE tells of the tasks, and what all of them read", async () => {
  const pool = localWorkers(openMemorySnapshot);
  const answer = await data.sql("EXPLAIN ANALYZE SELECT host, sum(v) FROM m GROUP BY host", { workers: pool });
  expect(String(answer.rows[0]?.[2])).toMatch(/AggregateExec.*tasks: [67], tasks_elapsed/);
  expect(String(answer.rows[0]?.[2])).toMatch(/ScanExec.*output_rows: 800/);
});

describe("a worker that dies", () => {
  test("fails the query that it ran, and another is started", async () => {
    const started: LocalWorker[] = [];
    const pool = localWorkers(openMemorySnapshot, { rowsMin: 1, partRows: 50, partsMax: 7 }, started);
    const answer = data.sql("SELECT sum(v) FROM m", { workers: pool });
    while (started.length === 0) await new Promise((resolve) => setImmediate(resolve));
    started[0]?.die();
    const failure = await failureOf(answer);
    expect(String(failure)).toContain("the worker that ran a part of it stopped");
    await settled(pool);
    expect(pool.counts.deaths).toBe(1);
    const again = await data.sql("SELECT sum(v) FROM m", { workers: pool });
    expect(again.rows).toEqual((await data.sql("SELECT sum(v) FROM m")).rows);
    expect(started.length).toBeGreaterThan(2);
  });
});

test("a cancelled query says so, and its parts end", async () => {
  const canceller = new AbortController();
  const other = new QueryFixture(canceller.signal);
  await other.sql("CREATE TABLE m (host STRING PRIMARY KEY, v BIGINT, ts TIMESTAMP(3) TIME INDEX)");
  await other.sql("INSERT INTO m VALUES ('a', 1, 1), ('b', 2, 2), ('c', 3, 3)");
  const pool = localWorkers(openMemorySnapshot);
  const answer = other.sql("SELECT host, sum(v) FROM m GROUP BY host", { workers: pool });
  canceller.abort();
  expect(String(await failureOf(answer))).toContain("cancelled");
  await settled(pool);
});

test("queries side by side all end", async () => {
  const pool = localWorkers(openMemorySnapshot);
  const sql = "SELECT host, sum(v) FROM m GROUP BY host ORDER BY host";
  const want = (await data.sql(sql)).rows;
  const answers = await Promise.all(Array.from({ length: 12 }, () => data.sql(sql, { workers: pool })));
  for (const { rows } of answers) expect(rows).toEqual(want);
  await settled(pool);
});

test("a closed pool refuses", async () => {
  const pool = localWorkers(openMemorySnapshot);
  pool.close();
  expect(pool.hasRoom).toBe(false);
  expect((await data.sql("SELECT sum(v) FROM m", { workers: pool })).rows).toEqual((await data.sql("SELECT sum(v) FROM m")).rows);
});

test("a query whose parts hold too much is refused", async () => {
  const pool = localWorkers(openMemorySnapshot);
  const answer = data.sql("SELECT host, v, sum(x) FROM m GROUP BY host, v", { workers: pool, memoryBytesMax: 4000 });
  expect(String(await failureOf(answer))).toContain("memory");
  await settled(pool);
});

test("values of placeholders are in the plan", async () => {
  const pool = localWorkers(openMemorySnapshot);
  const valueOf = (): { readonly type: DataType; readonly value: number } => ({ type: INT64, value: 100 });
  const variables = { ...data.context.variables, placeholders: { valueOf, note: () => undefined } };
  const got = await runSql("SELECT host, sum(v) FROM m WHERE v < ? GROUP BY host", { ...data.context, variables }, { workers: pool });
  sameAnswers("placeholders", ["given", got], ["written", await data.sql("SELECT host, sum(v) FROM m WHERE v < 100 GROUP BY host")]);
  expect(pool.counts.pulls).toBeGreaterThan(0);
});

describe("memory of a query", () => {
  const memoryOf = (bytesMax: number): MemoryPool => new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", bytesMax);

  test("is given back when a LIMIT is content", async () => {
    const pool = localWorkers(openMemorySnapshot);
    const queries = memoryOf(1 << 20);
    const answer = await data.sql("SELECT v, x, host FROM m WHERE v > 3 LIMIT 2", { workers: pool, memory: queries.account() });
    expect(answer.rows.length).toBe(2);
    expect(pool.counts.pulls).toBeGreaterThan(0);
    expect(queries.used).toBe(0);
    await settled(pool);
  });

  test("is what all queries may hold: parts that hold more fail the query, which says why", async () => {
    const pool = localWorkers(openMemorySnapshot);
    const queries = memoryOf(2000);
    const answer = data.sql("SELECT host, v, sum(x) FROM m GROUP BY host, v", { workers: pool, memory: queries.account() });
    expect(String(await failureOf(answer))).toContain("all queries together hold as much memory as they may");
    expect(queries.used).toBe(0);
    await settled(pool);
  });
});

test("workers that die without an answer are left alone for a while", async () => {
  let millis = 0;
  let starts = 0;
  const limits = { rowsMin: 1, partRows: 50, partsMax: 7 };
  const pool = new WorkerPool({
    threads: 2,
    aloneMs: 0,
    groupsMin: Number.POSITIVE_INFINITY,
    limits,
    clock: { ...systemClock, monotonicMillis: () => millis },
    startWorker() {
      starts++;
      throw new Error("no more threads");
    },
    onWarning: () => undefined,
  });
  const sql = "SELECT host, sum(v) FROM m GROUP BY host";
  for (let i = 0; i < 3; i++) {
    const outcome = await data.sql(sql, { workers: pool }).then(() => "answered", String);
    if (outcome === "answered") break;
    expect(outcome).toContain("run it again");
  }
  expect(pool.hasRoom).toBe(false);
  const before = starts;
  sameAnswers(sql, ["here", await data.sql(sql, { workers: pool })], ["alone", await data.sql(sql)]);
  expect(starts).toBe(before);
  millis = 60_000;
  expect(pool.hasRoom).toBe(true);
});
