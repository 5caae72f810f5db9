import { beforeEach, describe, expect, test } from "bun:test";
import { BESIDE, SUB_QUERY_CONDITIONS } from "../../../../test/support/delete-conditions.ts";
import { checkFails } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

let fixture: QueryFixture;
beforeEach(async () => {
  fixture = new QueryFixture();
  await fixture.sql(
    "CREATE TABLE m (host STRING, dc INT, ts TIMESTAMP(3), cpu DOUBLE, note STRING, TIME INDEX (ts), PRIMARY KEY (host, dc))",
  );
  const rows = Array.from(
    { length: 1000 },
    (_, i) => `('h${i % 4}', ${i % 2}, ${i * 1000}, ${i % 10}, ${i % 3 === 0 ? "NULL" : `'n${i % 5}'`})`,
  );
  await fixture.sql(`INSERT INTO m VALUES ${rows.join(",")}`);
});

/** A DELETE takes as many rows as a SELECT of the same condition finds, those, and no others; planned both ways. */
async function check(where: string, ...beside: readonly string[]): Promise<void> {
  const condition = where === "" ? "" : ` WHERE ${where}`;
  for (const options of beside.length > 0 ? [{}] : [{}, { forceInterpreter: true }]) {
    const other = new QueryFixture();
    await other.sql(
      "CREATE TABLE m (host STRING, dc INT, ts TIMESTAMP(3), cpu DOUBLE, note STRING, TIME INDEX (ts), PRIMARY KEY (host, dc))",
    );
    const { rows } = await fixture.sql("SELECT * FROM m");
    const text = (value: unknown): string =>
      typeof value === "string" ? `'${value}'` : value === undefined ? "NULL" : Bun.inspect(value).replace(/n$/, "");
    await other.sql(`INSERT INTO m VALUES ${rows.map((row) => `(${row.map(text).join(",")})`).join(",")}`);
    for (const statements of beside) await other.sql(statements);
    const found = (await other.sql(`SELECT count(*) FROM m${condition}`)).rows[0]?.[0];
    const left = await other.sql(`SELECT * FROM m${where === "" ? " WHERE false" : ` WHERE (${where}) IS NOT TRUE`} ORDER BY ts, host`);
    expect([where, (await other.sql(`DELETE FROM m${condition}`, options)).affected]).toEqual([where, found as number]);
    expect((await other.sql("SELECT * FROM m ORDER BY ts, host")).rows).toEqual(left.rows);
  }
}

const fails = (sql: string, code: number, message: string): Promise<void> => checkFails(fixture, sql, message, code);

describe("DELETE takes the rows of its condition", () => {
  test("that names tags and times", async () => {
    await check("host = 'h1' AND ts = 1000::timestamp");
    await check("host = 'h2'");
    await check("host IN ('h0', 'h3') AND dc = 1 AND ts >= 500000 AND ts < '1970-01-01 00:12:00'");
    await check("dc <> 0");
    await check("ts > 998500");
    await check("host = 'none'");
    await check("ts < 5 AND ts > 5");
  });

  test("that names fields, or anything", async () => {
    await check("cpu = 6");
    await check("cpu > 7 AND host = 'h3'");
    await check("note IS NULL");
    await check("note = 'n1' OR ts < 300000");
    await check("cpu * 2 > 11.5 AND m.host LIKE 'h%'");
    await check("true");
    await check("false");
    await check("NULL");
  });

  test("that asks sub-queries", async () => {
    await fixture.sql(BESIDE);
    for (const where of SUB_QUERY_CONDITIONS) await check(where, BESIDE);
  });

  test("and all without one", async () => {
    await check("");
    expect((await fixture.sql("DELETE FROM greptime.public.m")).affected).toBe(1000);
    expect((await fixture.sql("DELETE FROM m")).affected).toBe(0);
  });
});

test("rows that were deleted may be inserted again", async () => {
  await fixture.sql("DELETE FROM m");
  await fixture.sql("INSERT INTO m (host, dc, ts) VALUES ('h1', 1, 1000)");
  expect((await fixture.sql("SELECT * FROM m")).rows).toEqual([["h1", 1, 1000n, undefined, undefined]]);
});

test("DELETE is refused where it cannot be", async () => {
  await fails("DELETE FROM gone", 4001, "Table not found: greptime.public.gone");
  await fails("DELETE FROM m WHERE nothing = 1", 3000, "nothing");
  await fails("DELETE FROM m WHERE cpu", 3000, "");
  await fails("DELETE FROM m WHERE max(cpu) > 1", 3000, "aggregates are not allowed in WHERE");
  await fails("DELETE FROM information_schema.tables", 1001, "read-only");
  await fixture.sql("CREATE TABLE log (ts TIMESTAMP TIME INDEX, v INT) WITH (append_mode = 'true')");
  await fails("DELETE FROM log", 1004, "Invalid request to region, reason: DELETE is not allowed under append mode");
  await fails("EXPLAIN DELETE FROM m", 1001, "EXPLAIN of delete");
});

test("a DELETE whose client has left stops", async () => {
  const gone = new QueryFixture(AbortSignal.abort());
  await gone.sql("CREATE TABLE m (ts TIMESTAMP TIME INDEX, v INT)");
  await gone.sql("INSERT INTO m VALUES (1, 1)");
  const failure = await gone.sql("DELETE FROM m WHERE v = 1").then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(failure).toMatchObject({ message: "Query has been cancelled" });
});
