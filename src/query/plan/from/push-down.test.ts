import { beforeEach, expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql(`CREATE TABLE t (host STRING, id INT, a INT, b DOUBLE, s STRING, ts TIMESTAMP TIME INDEX, PRIMARY KEY (host, id));
    INSERT INTO t VALUES ('x', 1, 1, 1.5, '7', 1), ('x', 2, 2, NULL, '8', 2), ('y', 1, 3, 3.5, 'no', 3), ('z', NULL, NULL, 4.5, '9', 4)`);
});

/** The lines of the physical plan that begin with a word; the rows are those of the plan as it is written. */
async function check(sql: string, line: string, rows: number): Promise<void> {
  const plan = await fixture.sql(`EXPLAIN ${sql}`);
  const physical = String(plan.rows[1]?.[1]);
  expect([sql, physical]).toEqual([sql, expect.stringContaining(line)]);
  expect([sql, (await fixture.both(sql)).rows.length]).toEqual([sql, rows]);
}

test("a scan in a sub-query reads what is wanted of it", async () => {
  await check("SELECT a FROM (SELECT * FROM t)", "projection=[a], time=[-inf, +inf)", 4);
  await check("SELECT count(*) FROM (SELECT host, a FROM t)", "projection=[], ", 1);
  await check("SELECT a FROM (SELECT * FROM t WHERE b > 1)", "projection=[a, b]", 3);
  await check("SELECT x FROM (SELECT a AS y, b AS x FROM (SELECT * FROM t) AS i) AS o WHERE y > 1", "projection=[a, b]", 2);
});

test("conditions on time and tags go to storage, through aliases and casts", async () => {
  await check(
    "SELECT n FROM (SELECT a AS n, ts AS at FROM t) WHERE at >= 2 AND at < 4",
    "projection=[a], time=[1970-01-01T00:00:00.002, 1970-01-01T00:00:00.004)",
    2,
  );
  await check("SELECT n FROM (SELECT a AS n, host AS h FROM t) WHERE h = 'x'", "host in ('x')", 2);
  await check("SELECT n FROM (SELECT a AS n, id AS i FROM t WHERE a < 3) WHERE i = 2", "id in ('2')", 1);
  await fixture.sql("CREATE VIEW v AS SELECT * FROM t; CREATE VIEW w AS SELECT a, ts FROM v WHERE a > 1");
  await check("SELECT a FROM w WHERE ts > 2", "time=[1970-01-01T00:00:00.003, +inf)", 1);
  await check("SELECT v.a FROM v JOIN w ON v.a = w.a WHERE v.ts > 2 AND w.ts > 1", "time=[1970-01-01T00:00:00.003, +inf)", 1);
});

test("conditions stay above what counts rows or makes them", async () => {
  const whole = "time=[-inf, +inf)";
  await check("SELECT a FROM (SELECT a, ts FROM t ORDER BY ts LIMIT 2) WHERE ts > 1", whole, 1);
  await check("SELECT a FROM (SELECT a, ts FROM t LIMIT 3) WHERE ts > 100", whole, 0);
  await check("SELECT m FROM (SELECT host, max(ts) AS m FROM t GROUP BY host) WHERE m > 2", whole, 2);
  await check("SELECT n FROM (SELECT a + 1 AS n FROM t) WHERE n > 2", whole, 2);
  const late = "time=[1970-01-01T00:00:00.002, +inf)";
  await check("SELECT a FROM (SELECT DISTINCT a, ts FROM t) WHERE ts > 1", late, 3);
  await check("SELECT a FROM (SELECT a, ts FROM t UNION ALL SELECT a, ts FROM t) WHERE ts > 1", late, 6);
});

test("a condition does not meet rows that the sub-query keeps away from it", async () => {
  await check("SELECT s FROM (SELECT s FROM t WHERE s <> 'no') WHERE CAST(s AS INT) > 7", "projection=[s]", 2);
  await check("SELECT s FROM (SELECT s, CAST(s AS INT) AS n FROM t WHERE s <> 'no') WHERE n > 7", "projection=[s]", 2);
});

test("outer columns in a sub-query of a sub-query", async () => {
  const sql =
    "SELECT o.a FROM t o WHERE EXISTS (SELECT 1 FROM (SELECT a AS n, ts AS at FROM t WHERE a > 1) AS i WHERE i.at = o.ts AND i.n = o.a)";
  expect((await fixture.both(sql)).rows.length).toBe(2);
});
