import { expect, test } from "bun:test";
import { checkFails, rowTexts } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

const fixture = new QueryFixture();
await fixture.sql(`CREATE TABLE part (child STRING, parent STRING, ts TIMESTAMP TIME INDEX, PRIMARY KEY (child));
  INSERT INTO part VALUES ('engine', 'car', 1), ('piston', 'engine', 2), ('ring', 'piston', 3), ('wheel', 'car', 4), ('boat', NULL, 5)`);

const check = async (sql: string, want: readonly string[]): Promise<void> => expect(await rowTexts(fixture, sql), sql).toEqual([...want]);

const fails = (sql: string, why: RegExp): Promise<void> => checkFails(fixture, sql, why);

test("counts up to its condition", async () => {
  await check("WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT sum(n), max(n) FROM c", ["15 5"]);
  await check("WITH RECURSIVE c AS (VALUES (1) UNION ALL SELECT column1 * 2 FROM c WHERE column1 < 10) SELECT * FROM c", [
    "1",
    "2",
    "4",
    "8",
    "16",
  ]);
});

test("walks a tree, by joins of rows and of tables", async () => {
  await check(
    `WITH RECURSIVE below (name, depth) AS (
       SELECT child, 1 FROM part WHERE parent = 'car' UNION ALL
       SELECT part.child, depth + 1 FROM below JOIN part ON part.parent = below.name)
     SELECT depth, name FROM below ORDER BY depth, name`,
    ["1 engine", "1 wheel", "2 piston", "3 ring"],
  );
});

test("without ALL ends where nothing new comes", async () => {
  await check("WITH RECURSIVE c (n) AS (SELECT 0 UNION SELECT (n + 1) % 4 FROM c) SELECT n FROM c ORDER BY n", ["0", "1", "2", "3"]);
  await check("WITH RECURSIVE c (a, b) AS (SELECT 1, NULL UNION SELECT a, b FROM c) SELECT count(*) FROM c", ["1"]);
});

test("stops where nobody reads on", async () => {
  await check("WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c LIMIT 3", ["1", "2", "3"]);
});

test("may be read twice, and by itself as a part of a query", async () => {
  await check(
    `WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3)
     SELECT a.n, b.n FROM c AS a JOIN c AS b ON a.n = b.n + 1 ORDER BY 1`,
    ["2 1", "3 2"],
  );
  await check("WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT * FROM (SELECT n + 1 FROM c WHERE n < 4) AS s) SELECT max(n) FROM c", [
    "4",
  ]);
});

test("a query that does not read itself is an ordinary one", async () => {
  await check("WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT 2), b AS (SELECT 3) SELECT * FROM a UNION ALL SELECT * FROM b", [
    "1",
    "2",
    "3",
  ]);
});

test("what cannot be run says why", async () => {
  await fails("WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a", /Table not found: greptime.public.a/);
  await fails("WITH RECURSIVE a AS (SELECT 1 UNION ALL SELECT 1, 2 FROM a) SELECT 1", /different number of columns/);
  await fails("WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n FROM a LIMIT 2) SELECT 1", /belong to the query that reads it/);
  await fails("WITH a AS (SELECT 1 UNION ALL SELECT * FROM a) SELECT 1", /Table not found: greptime.public.a/);
});

test("a query without an end is ended", async () => {
  const endless = "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT 1 FROM c) SELECT count(*) FROM c";
  const stop = new AbortController();
  const cancelled = new QueryFixture(stop.signal);
  const running = cancelled.sql(endless);
  setTimeout(() => stop.abort(), 20);
  expect(running).rejects.toThrow(/cancelled/);
});
