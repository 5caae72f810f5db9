import { beforeAll, describe, expect, test } from "bun:test";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql(
    "CREATE TABLE t (host STRING PRIMARY KEY, v SMALLINT, i INT, b BIGINT, u INT UNSIGNED, x DOUBLE, ts TIMESTAMP(3) TIME INDEX)",
  );
  const rows = Array.from({ length: 200 }, (_, i) => {
    const v = i % 7 === 0 ? "NULL" : i % 11;
    return `('h${i % 5}', ${v}, ${i % 2 === 0 ? 2_147_483_647 : -2_147_483_648}, ${i}, ${i}, ${i}.5, ${i * 1000})`;
  });
  await data.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
});

/** The aggregates of the plan of a query. The rows are those of the interpreter. */
async function aggregatesOf(sql: string): Promise<string> {
  await data.both(sql);
  const { rows } = await data.sql(`EXPLAIN ${sql}`);
  return /aggregates=\[(.*)\]/.exec(rows.map((row) => String(row.at(-1))).join("\n"))?.[1] ?? "";
}

describe("one sum and one count", () => {
  test.each([
    ["SELECT sum(v), sum(v + 1), sum(v - 2), sum(3 + v) FROM t", "sum(v), count(v)"],
    ["SELECT sum(v + 1) FROM t WHERE v > 1000", "sum(v), count(v)"],
    ["SELECT host, sum(v + 1), count(v), max(x) FROM t GROUP BY host ORDER BY host", "sum(v), count(v), max(x)"],
    ["SELECT sum(i + 2147483647), sum(i - 2147483647) FROM t", "sum(i), count(i)"],
    [
      "SELECT sum(v + 1) FILTER (WHERE b > 3), sum(v + 2) FROM t",
      "sum(v) FILTER (WHERE (b > 3)), count(v) FILTER (WHERE (b > 3)), sum(v), count(v)",
    ],
    ["SELECT host, sum(v + 1) AS n FROM t GROUP BY host HAVING sum(v + 1) > 40 ORDER BY n DESC, host LIMIT 2", "sum(v), count(v)"],
  ])("%s", async (sql, want) => expect(await aggregatesOf(sql)).toBe(want));
});

describe("as they are", () => {
  test.each([
    ["SELECT sum(b + 1) FROM t", "sum((b + 1))"],
    ["SELECT sum(x + 1) FROM t", "sum((x + 1.0))"],
    ["SELECT sum(DISTINCT v + 1) FROM t", "sum("],
    ["SELECT sum(1 - v) FROM t", "sum((1 - "],
    ["SELECT sum(v + 2147483648) FROM t", "sum(("],
    ["SELECT sum(u + 1) FROM t", "sum(("],
    ["SELECT avg(v + 1) FROM t", "avg(("],
  ])("%s", async (sql, want) => expect(await aggregatesOf(sql)).toContain(want));
});
