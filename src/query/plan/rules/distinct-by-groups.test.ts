import { beforeAll, describe, expect, test } from "bun:test";
import { rowsHere } from "../../../../test/support/cluster/rows-here.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let data: QueryFixture;
beforeAll(async () => {
  data = new QueryFixture();
  await data.sql("CREATE TABLE t (host STRING PRIMARY KEY, v BIGINT, x DOUBLE, s STRING, m DECIMAL(10, 2), ts TIMESTAMP(3) TIME INDEX)");
  const rows = Array.from({ length: 300 }, (_, i) => {
    const v = i % 7 === 0 ? "NULL" : i % 11;
    return `('h${i % 5}', ${v}, ${i % 3 === 0 ? "'NaN'" : i % 2 === 0 ? "-0.0" : "0.0"}, 's${i % 13}', ${i % 4}.5, ${i * 1000})`;
  });
  await data.sql(`INSERT INTO t VALUES ${rows.join(", ")}`);
});

/** How many aggregations the plan of a query has. The rows are those of the interpreter, which groups once. */
async function aggregations(sql: string): Promise<number> {
  await data.both(sql);
  const { rows } = await data.sql(`EXPLAIN ${sql}`);
  return (
    rows
      .map((row) => String(row.at(-1)))
      .join("\n")
      .split("AggregateExec").length - 1
  );
}

describe("grouped twice", () => {
  test.each([
    "SELECT count(DISTINCT v) FROM t",
    "SELECT count(DISTINCT v) FROM t WHERE v > 1000",
    "SELECT count(DISTINCT host), count(DISTINCT host) + 1 FROM t",
    "SELECT host, count(DISTINCT v), sum(DISTINCT v), avg(DISTINCT v), min(DISTINCT v), max(DISTINCT v) FROM t GROUP BY host",
    "SELECT host, count(DISTINCT v), count(*), count(s), sum(v), min(s), max(x) FROM t GROUP BY host",
    "SELECT count(DISTINCT s), sum(v), max(v) FROM t",
    "SELECT count(DISTINCT x) FROM t",
    "SELECT date_bin('1m'::INTERVAL, ts) AS b, count(DISTINCT s) FROM t GROUP BY b",
    "SELECT host, count(DISTINCT s) AS c FROM t GROUP BY host HAVING count(*) > 2 ORDER BY c DESC, host LIMIT 3",
    "SELECT count(DISTINCT v + 1) FROM (SELECT v FROM t WHERE s <> 's1') AS q",
    "SELECT sum(DISTINCT m) FROM t",
    "SELECT host, count(DISTINCT v), sum(v) FILTER (WHERE v > 3) FROM t GROUP BY host",
  ])("%s", async (sql) => expect(await aggregations(sql)).toBe(2));
});

describe("grouped once", () => {
  test.each([
    "SELECT count(v) FROM t",
    "SELECT count(DISTINCT v), count(DISTINCT s) FROM t",
    "SELECT count(DISTINCT v), count(*) FROM t",
    "SELECT count(DISTINCT v) FILTER (WHERE v > 3) FROM t",
    "SELECT host, count(DISTINCT v), avg(x) FROM t GROUP BY host",
    "SELECT host, count(DISTINCT v), sum(m) FROM t GROUP BY host",
    "SELECT host, count(DISTINCT v), median(v) FROM t GROUP BY host",
    "SELECT host, array_agg(DISTINCT v ORDER BY v) FROM t GROUP BY host",
    "SELECT date_bin('1m'::INTERVAL, ts) AS b, count(DISTINCT s) FROM t GROUP BY b ORDER BY b DESC LIMIT 2",
  ])("%s", async (sql) => expect(await aggregations(sql)).toBe(1));
});

rowsHere("the order of its scan").test("DISTINCT of tags and times is grouped over the scan, and keeps its order", async () => {
  for (const items of ["host", "upper(host) AS h, date_bin('1m'::INTERVAL, ts) AS b", "host, v", "host || 'x', ts, s"]) {
    for (const rest of ["", " WHERE v > 3", " WHERE host <> 'h1' ORDER BY 1 DESC, 2 LIMIT 4"]) {
      if (items === "host" && rest.includes("2")) continue;
      const { rows } = await data.both(`SELECT DISTINCT ${items} FROM t${rest}`);
      expect(rows).toEqual((await data.sql(`SELECT DISTINCT ${items} FROM t${rest}`, { forceInterpreter: true })).rows);
    }
  }
  expect(await aggregations("SELECT DISTINCT host FROM t")).toBe(1);
});
