import { describe, expect, test } from "bun:test";
import { checkFails } from "../../../../test/support/query-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

async function started(): Promise<QueryFixture> {
  const data = new QueryFixture();
  await data.sql(`CREATE TABLE t (h STRING PRIMARY KEY, n INT DEFAULT 7, x DOUBLE, s STRING, at TIMESTAMP, ts TIMESTAMP TIME INDEX);
    INSERT INTO t VALUES ('a', 1, 1.5, 'p', NULL, 1), ('a', 2, 2.5, 'q', NULL, 2),
      ('b', 3, 3.5, NULL, NULL, 3), (NULL, 4, NULL, 'z', NULL, 4)`);
  return data;
}

const rowsOf = async (data: QueryFixture): Promise<unknown> => (await data.both("SELECT h, n, x, s, ts FROM t ORDER BY ts")).rows;

describe("UPDATE", () => {
  test("gives fields of the rows that match new values, from the row as it was", async () => {
    const data = await started();
    expect((await data.sql("UPDATE t SET n = n + 10, x = n, s = concat(s, '!') WHERE h = 'a'")).affected).toBe(2);
    expect(await rowsOf(data)).toEqual([
      ["a", 11, 1, "p!", 1n],
      ["a", 12, 2, "q!", 2n],
      ["b", 3, 3.5, undefined, 3n],
      [undefined, 4, undefined, "z", 4n],
    ]);
    expect((await data.sql("UPDATE t SET n = 0 WHERE x > 100")).affected).toBe(0);
    expect((await data.sql("UPDATE t SET n = 0")).affected).toBe(4);
  });

  test("takes DEFAULT, NULL, sub-queries, an alias and qualified names", async () => {
    const data = await started();
    await data.sql("UPDATE t SET n = DEFAULT, x = NULL WHERE ts = 3");
    await data.sql("UPDATE t AS a SET a.s = (SELECT max(s) FROM t), n = length(a.h) WHERE a.h IN (SELECT h FROM t WHERE x = 1.5)");
    await data.sql("UPDATE t SET public.t.x = 9, public.t.s = 'y' WHERE t.h IS NULL");
    expect(await rowsOf(data)).toEqual([
      ["a", 1, 1.5, "z", 1n],
      ["a", 1, 2.5, "z", 2n],
      ["b", 7, undefined, undefined, 3n],
      [undefined, 4, 9, "y", 4n],
    ]);
  });

  test("casts as INSERT does, and reads a time in the session's zone", async () => {
    const data = await started();
    Object.assign(data.context.variables, { timeZone: "+08:00" });
    await data.sql("UPDATE t SET at = '2024-01-01 08:00:00', n = '5' WHERE ts = 1");
    expect((await data.both("SELECT at, n FROM t WHERE ts = 1")).rows).toEqual([[1_704_067_200_000n, 5]]);
    await checkFails(data, "UPDATE t SET n = 'abc'", "3001 DbError: Cast error: Cannot cast string 'abc' to value of Int32 type");
    await checkFails(data, "UPDATE t SET n = 5000000000", "3001 DbError: Cast error: Can't cast value 5000000000 to type Int32");
  });

  test("refuses what says which row it is, and columns that are none or set twice", async () => {
    const data = await started();
    await checkFails(data, "UPDATE t SET h = 'z'", "1004 DbError: cannot update column h: it is a tag");
    await checkFails(data, "UPDATE t SET ts = 5", "1004 DbError: cannot update column ts: it is the time index");
    await checkFails(data, "UPDATE t SET n = 1, n = 2", "1004 DbError: cannot update column n: it is set twice");
    await checkFails(data, "UPDATE t SET nope = 1", "4002 DbError: Column nope not exists in table t");
    await checkFails(data, "UPDATE t SET other.n = 1", "4002 DbError: Column other.n not exists in table t");
    await checkFails(data, "UPDATE t AS a SET t.n = 1", "4002 DbError: Column t.n not exists in table t");
    await checkFails(data, "UPDATE t SET n = 1 WHERE other.t.h = 'a'", "3000 DbError: Failed to plan SQL: No field named other.t.h");
    await checkFails(data, "UPDATE t SET n = max(n)", "3000");
  });

  test("refuses tables whose rows have no versions, and what is no table", async () => {
    const data = await started();
    await data.sql("CREATE TABLE log (v INT, ts TIMESTAMP TIME INDEX) WITH (append_mode = 'true'); CREATE VIEW w AS SELECT * FROM t");
    await checkFails(data, "UPDATE log SET v = 1", "1004 DbError: cannot update table log: it is append-only");
    await checkFails(data, "UPDATE w SET n = 1", "DbError");
    await checkFails(data, "UPDATE missing SET n = 1", "4001 DbError: Table not found: greptime.public.missing");
    await checkFails(data, "UPDATE information_schema.tables SET x = 1", "1001 DbError: Schema `information_schema` is read-only");
  });

  test("refuses NULL where a NULL would keep the older value", async () => {
    const data = await started();
    await data.sql(
      "CREATE TABLE nn (v INT, w INT, ts TIMESTAMP TIME INDEX) WITH (merge_mode = 'last_non_null'); INSERT INTO nn VALUES (1, NULL, 1)",
    );
    await checkFails(data, "UPDATE nn SET v = w", "1004 DbError: cannot set column v to NULL: with merge_mode 'last_non_null'");
    expect((await data.sql("UPDATE nn SET w = v + 1")).affected).toBe(1);
    expect((await data.both("SELECT v, w FROM nn")).rows).toEqual([[1, 2]]);
  });

  test("writes many rows in parts", async () => {
    const data = new QueryFixture();
    await data.sql("CREATE TABLE big (n BIGINT, ts TIMESTAMP TIME INDEX)");
    await data.sql("INSERT INTO big SELECT number, number FROM (SELECT * FROM numbers LIMIT 40000) AS q");
    let admissions = 0;
    Object.assign(data.context, { admit: async () => void admissions++ });
    expect((await data.sql("UPDATE big SET n = n + 1 WHERE n >= 100")).affected).toBe(39_900);
    expect(admissions).toBe(2);
    expect((await data.both("SELECT sum(n), count(*) FROM big")).rows).toEqual([[(39_999 * 40_000) / 2 + 39_900, 40_000]]);
  });
});
