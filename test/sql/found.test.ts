/** What random queries found, one test each. Every query runs through loops and reference, on plain rows and on the engine. */
import { beforeAll, expect, test } from "bun:test";
import { EngineFixture } from "../support/engine-fixture.ts";
import { QueryFixture } from "../support/query-fixture.ts";

const plain = new QueryFixture();
let engine: EngineFixture;

beforeAll(async () => {
  engine = await EngineFixture.start();
  for (const text of [
    "CREATE TABLE t (h STRING PRIMARY KEY, i BIGINT, u BIGINT UNSIGNED, y TINYINT, d DATE, ts TIMESTAMP TIME INDEX)",
    "INSERT INTO t VALUES ('a', 1, 18446744073709551615, 1, '2024-01-01', 1), ('', 2, 2, -1, '2024-01-01', 1)",
    "INSERT INTO t VALUES (NULL, NULL, 5, NULL, NULL, 1)",
    "INSERT INTO t VALUES ('a', 2, 9223372036854775808, 127, '2024-01-02', 2)",
  ]) {
    await plain.sql(text);
    await engine.sql(text);
  }
});

async function check(text: string, ...want: readonly string[]): Promise<void> {
  for (const fixture of [plain, engine]) {
    const { rows } = await fixture.both(text);
    expect([text, ...rows.map((row) => row.map((cell) => String(cell ?? "NULL")).join(" ")).sort()]).toEqual([text, ...want]);
  }
}

test("a condition with a sub-query is a key of GROUP BY", async () => {
  await check(
    "SELECT (i IN (SELECT max(i) FROM t)), count(*) FROM t GROUP BY (i IN (SELECT max(i) FROM t))",
    "NULL 1",
    "false 1",
    "true 2",
  );
  await check("SELECT count(*) FROM t GROUP BY (SELECT max(i) FROM t) HAVING (SELECT max(i) FROM t) = 2", "4");
});

test("a sub-query in two grouping sets is one key", async () => {
  const key = "(SELECT max(i) FROM t)";
  await check(`SELECT ${key}, count(*) FROM t GROUP BY GROUPING SETS ((${key}, h), (${key}))`, "2 1", "2 1", "2 2", "2 4");
});

test("integers of a list that the column cannot hold are merely unequal", async () => {
  await check("SELECT i FROM t WHERE u IN (18446744073709551615, 2)", "1", "2");
  await check("SELECT i FROM t WHERE u IN (-1, 5)", "NULL");
  await check("SELECT count(*) FROM t WHERE u NOT IN (-1, 5)", "3");
  await check("SELECT count(*) FROM t WHERE y IN (1000, 127)", "1");
  await check("SELECT count(*) FROM t WHERE i IN (18446744073709551615, 2, NULL)", "2");
  await check("SELECT count(*) FROM t WHERE u IN (9223372036854775808, i)", "2");
});

test("integers of a sub-query that the column cannot hold are merely unequal", async () => {
  await check("SELECT u FROM t WHERE i IN (SELECT u FROM t)", "2", "9223372036854775808");
  await check("SELECT count(*) FROM t WHERE u > ALL (SELECT i FROM t WHERE i IS NOT NULL)", "3");
  await check("SELECT count(*) FROM t WHERE u = ANY (SELECT y FROM t)", "0");
});

test("a tag that is empty is another than one that is not there", async () => {
  await check("SELECT count(*) FROM t GROUP BY h", "1", "1", "2");
  await check("SELECT i FROM t WHERE h = ''", "2");
  await check("SELECT count(*) FROM t WHERE h IS NULL", "1");
});
