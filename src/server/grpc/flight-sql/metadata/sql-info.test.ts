import { afterAll, beforeAll, expect, test } from "bun:test";
import { SqlInfo } from "../../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { EngineFixture } from "../../../../../test/support/engine-fixture.ts";
import { errorOf, thrownBy } from "../../../../../test/support/failure-of.ts";
import { sqlInfo } from "./sql-info.ts";
import { type InfoValue, sqlInfoValues } from "./sql-info-values.ts";

const VALUES = sqlInfoValues("1.2.3");
const valueOf = (info: SqlInfo): InfoValue["value"] => VALUES.get(info)?.value;
let engine: EngineFixture;

beforeAll(async () => {
  engine = await EngineFixture.start();
  await engine.sql("CREATE TABLE t (ts TIMESTAMP(3) TIME INDEX, h STRING PRIMARY KEY, v DOUBLE)");
  await engine.sql("INSERT INTO t VALUES (1, 'a', 1.0), (2, 'b', NULL), (3, 'a_c', 3.0)");
});

afterAll(() => engine.machine.engine.close());

const rows = async (text: string): Promise<readonly (readonly unknown[])[]> => (await engine.sql(text)).rows;

test("every entry of the protocol has a value", () => {
  const numbers = Object.values(SqlInfo).filter((each) => typeof each === "number");
  expect([...VALUES.keys()].toSorted((a, b) => a - b)).toEqual(numbers.toSorted((a, b) => a - b));
});

test("entries come as they are asked for, and unknown ones are refused", async () => {
  const info = [SqlInfo.FLIGHT_SQL_SERVER_VERSION, SqlInfo.FLIGHT_SQL_SERVER_VERSION];
  const messages = await Array.fromAsync(sqlInfo({ info } as never, "1.2.3").batches);
  expect(messages.length).toBe(1);
  expect(Buffer.from(messages[0] ?? []).includes("1.2.3")).toBe(true);
  expect(thrownBy(() => sqlInfo({ info: [77_777] } as never, "")).message).toContain("there is no such entry");
});

test("NULL sorts high", async () => {
  expect(valueOf(SqlInfo.SQL_NULL_ORDERING)).toBe(0);
  expect(await rows("SELECT v FROM t ORDER BY v")).toEqual([[1], [3], [undefined]]);
  expect(await rows("SELECT v FROM t ORDER BY v DESC")).toEqual([[undefined], [3], [1]]);
});

test("patterns are escaped by a backslash, or as ESCAPE says", async () => {
  expect(valueOf(SqlInfo.SQL_SEARCH_STRING_ESCAPE)).toBe("\\");
  expect(await rows("SELECT h FROM t WHERE h LIKE 'a\\_c'")).toEqual([["a_c"]]);
  expect(valueOf(SqlInfo.SQL_SUPPORTS_LIKE_ESCAPE_CLAUSE)).toBe(true);
  expect(await rows("SELECT h FROM t WHERE h LIKE 'a!_c' ESCAPE '!'")).toEqual([["a_c"]]);
});

test("what is claimed of queries works", async () => {
  expect(valueOf(SqlInfo.SQL_SUPPORTED_SUBQUERIES)).toBe(0b1111);
  expect(await rows("SELECT h FROM t WHERE v > (SELECT min(v) FROM t)")).toEqual([["a_c"]]);
  expect(await rows("SELECT h FROM t WHERE v IN (SELECT v FROM t)")).toEqual([["a"], ["a_c"]]);
  expect(await rows("SELECT h FROM t WHERE v > ALL (SELECT 1)")).toEqual([["a_c"]]);
  expect(valueOf(SqlInfo.SQL_CORRELATED_SUBQUERIES_SUPPORTED)).toBe(true);
  expect((await rows("SELECT h FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.h = a.h)")).length).toBe(3);
  expect(valueOf(SqlInfo.SQL_SUPPORTED_UNIONS)).toBe(0b11);
  expect((await rows("SELECT h FROM t UNION SELECT h FROM t")).length).toBe(3);
  expect((await rows("SELECT h FROM t UNION ALL SELECT h FROM t")).length).toBe(6);
  expect(valueOf(SqlInfo.SQL_OUTER_JOINS_SUPPORT_LEVEL)).toBe(2);
  expect((await rows("SELECT * FROM t a FULL OUTER JOIN t b ON a.v = b.v")).length).toBe(4);
  expect(valueOf(SqlInfo.SQL_SUPPORTED_GROUP_BY)).toBe(0b11);
  expect((await rows("SELECT max(v) FROM t GROUP BY h, v")).length).toBe(3);
  expect(valueOf(SqlInfo.SQL_SUPPORTS_ORDER_BY_UNRELATED)).toBe(true);
  expect((await rows("SELECT h FROM t ORDER BY v + 1")).length).toBe(3);
  expect(valueOf(SqlInfo.SQL_NULL_PLUS_NULL_IS_NULL)).toBe(true);
  expect(await rows("SELECT NULL || 'a'")).toEqual([[undefined]]);
  expect(valueOf(SqlInfo.SQL_SELECT_FOR_UPDATE_SUPPORTED)).toBe(false);
  expect((await errorOf(rows("SELECT h FROM t FOR UPDATE"))).message).toContain("not supported");
});

test("unquoted names are lower case, and quoted ones are told apart", async () => {
  expect(valueOf(SqlInfo.SQL_IDENTIFIER_CASE)).toBe(3);
  expect((await rows("SELECT H FROM T")).length).toBe(3);
  expect(valueOf(SqlInfo.SQL_IDENTIFIER_QUOTE_CHAR)).toBe('"');
  await errorOf(rows('SELECT "H" FROM t'));
});

test("functions that are listed are there, and conversions can be made", async () => {
  for (const info of [SqlInfo.SQL_NUMERIC_FUNCTIONS, SqlInfo.SQL_STRING_FUNCTIONS, SqlInfo.SQL_DATETIME_FUNCTIONS])
    expect((valueOf(info) as readonly string[]).length).toBeGreaterThan(10);
  expect(valueOf(SqlInfo.SQL_STRING_FUNCTIONS)).toContain("upper");
  const conversions = valueOf(SqlInfo.SQL_SUPPORTS_CONVERT) as ReadonlyMap<number, readonly number[]>;
  expect(conversions.get(7)).toContain(19); // INTEGER to VARCHAR
  expect(conversions.get(2)).not.toContain(4); // BIT to DATE
});
