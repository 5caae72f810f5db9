/** Values and columns that are refused, with the whole reason. */
import { describe, expect, test } from "bun:test";
import { SqlSession } from "./sql-session.ts";
import { move, PLACES } from "./type-cases.ts";

describe("refused, with the reason", () => {
  const inserted = (why: string): string => `2000 Failed to parse value: ${why}`;
  const cast = (why: string): string => inserted(`column v: Cast error: ${why}`);
  const number = (text: string, type: string): string => inserted(`Fail to parse number ${text}, invalid column type: ${type}`);
  const large = (text: string, precision: number, most: string): string =>
    inserted(`column v: Invalid argument error: ${text} is too large to store in a Decimal128 of precision ${precision}. Max is ${most}`);
  const vector = (text: string, why: string): string => `1004 Invalid Vector: Failed to parse ${text} to Vector value: ${why}`;

  test.each([
    ["BOOLEAN", "'maybe'", cast("Cannot cast string 'maybe' to value of Boolean type")],
    ["TINYINT", "128", cast("Can't cast value 128 to type Int8")],
    ["TINYINT", "1.5", number("1.5", "Int8")],
    ["TINYINT UNSIGNED", "-1", cast("Can't cast value -1 to type UInt8")],
    ["BIGINT", "9223372036854775808", cast("Can't cast value 9223372036854775808 to type Int64")],
    ["BIGINT", "-9223372036854775809", number("-9223372036854775809", "Int64")],
    ["BIGINT UNSIGNED", "18446744073709551616", number("18446744073709551616", "UInt64")],
    ["FLOAT", "1e39", number("1e39", "Float32")],
    ["DOUBLE", "-1e309", number("-1e309", "Float64")],
    ["DECIMAL(4, 2)", "100", large("100.00", 4, "99.99")],
    ["DECIMAL(4, 2)", "99.995", large("99.995", 4, "99.99")],
    ["DECIMAL(4, 2)", "'1,5'", cast("Cannot cast string '1,5' to value of Decimal(4, 2) type")],
    ["DECIMAL(4, 2)", "true", inserted("column v holds Decimal(4, 2), but the value is Boolean")],
    ["STRING", "3", number("3", "String(StringType { size_type: Utf8 })")],
    ["BINARY", "1", inserted("column v holds Binary, but the value is Int64")],
    ["DATE", "'2023-02-29'", cast("Cannot cast string '2023-02-29' to value of Date type")],
    ["DATE", "2147483648", cast("Can't cast value 2147483648 to type Date")],
    [
      "DATE",
      "DATE '9999-12-31' + INTERVAL '5900000 years'",
      "3001 Arithmetic overflow: Overflow happened on: 2932896 + 70800000 months 0 days 0 ns; cast to a wider type than Date or to DOUBLE",
    ],
    [
      "BIGINT",
      "9223372036854775807 + 1",
      "3001 Arithmetic overflow: Overflow happened on: 9223372036854775807 + 1; cast to a wider type than Int64 or to DOUBLE",
    ],
    ["TIME", "'24:00:00'", cast("Cannot cast string '24:00:00' to value of TimeNanosecond type")],
    ["TIME(3)", "86400000", cast("Can't cast value 86400000 to type TimeMillisecond")],
    ["TIMESTAMP(3)", "'blabla'", inserted("Failed to parse blabla to Timestamp value")],
    ["TIMESTAMP(3)", "1.5", number("1.5", "TimestampMillisecond")],
    ["JSON", "'{\"a\":}'", "3001 Execution error: cannot parse '{\"a\":}': expected value, pos 6"],
    ["JSON", "1", inserted("column v holds Json, but the value is Int64")],
    ["VECTOR(3)", "'[1.0]'", vector("[1.0]", "wrong dimension")],
    ["VECTOR(3)", "'1.0,2.0,3.0'", vector("1.0,2.0,3.0", "not properly enclosed in brackets")],
    ["VECTOR(3)", "'[30h, 40s, 50m]'", vector("[30h, 40s, 50m]", "elements are not all float32")],
    ["VECTOR(3)", "parse_vec('[1]')", "1004 Invalid Vector: 4 bytes are no Vector(3): wrong dimension"],
  ])("%s of %s", async (type, literal, want) => {
    const session = await SqlSession.start();
    await session.rows(`CREATE TABLE t (v ${type}, ts TIMESTAMP(3) TIME INDEX)`);
    expect(await session.refusal(`INSERT INTO t VALUES (${literal}, 1)`)).toBe(want);
    expect(await session.rows("SELECT count(*) FROM t")).toEqual([["0"]]);
  });

  test.each([
    ["v JSON2", "1004 Invalid SQL, error: JSON2 column `v` requires append_mode='true'"],
    ["v INTERVAL", "1004 Invalid SQL, error: column name `v` is interval type, which is not supported"],
    ["v DECIMAL(39)", "2000 Invalid SQL syntax: decimal precision must be 1 to 38, not 39"],
    ["v DECIMAL(4, 5)", "2000 Invalid SQL syntax: decimal scale 5 must not exceed precision 4"],
    ["v TIME(2)", "2000 Invalid SQL syntax: time(2) must have precision 0, 3, 6 or 9"],
    ["v VECTOR", "2000 Invalid SQL syntax: type vector needs one dimension: VECTOR(n)"],
    ["v JSON PRIMARY KEY", "1004 Invalid column option, column name: v, error: a primary key column cannot be json"],
    ["v JSON DEFAULT '{}'", "1004 Invalid column option, column name: v, error: a JSON column cannot have a default"],
    ["v DECIMAL(3, 1) DEFAULT 100", large("100.0", 3, "99.9")],
    ["v VECTOR(2) DEFAULT '[1]'", vector("[1]", "wrong dimension")],
    ["v TIME DEFAULT now()", "1004 Invalid column option, column name: v, error: current_timestamp() is no default of TimeNanosecond"],
  ])("CREATE TABLE with %s", async (column, want) => {
    const session = await SqlSession.start();
    expect(await session.refusal(`CREATE TABLE t (${column}, ts TIMESTAMP TIME INDEX)`)).toContain(want);
  });
});

test("JSON2 holds objects, in tables that keep all rows", async () => {
  const session = await SqlSession.start();
  await session.rows("CREATE TABLE t (v JSON2, ts TIMESTAMP TIME INDEX) WITH ('append_mode' = 'true')");
  await session.rows(`INSERT INTO t VALUES ('{"b":1,"a":{"c":[1]}}', 1), (NULL, 2), (parse_json('{"x":0}'), 3)`);
  for (const place of PLACES) {
    await move(session, "t", place);
    expect(await session.rows("SELECT v FROM t ORDER BY ts")).toEqual([['{"a":{"c":[1]},"b":1}'], ["null"], ['{"x":0}']]);
  }
  expect(await session.rows("DESCRIBE t").then((rows) => rows[0]?.slice(0, 2))).toEqual(['"v"', '"Json2"']);
  expect(await session.refusal("INSERT INTO t VALUES ('[1]', 4)")).toBe("1001 Non-object json is not supported currently");
  expect(await session.refusal("INSERT INTO t VALUES ('{}', 4)")).toBe(
    "1004 Invalid InsertRequest, reason: empty json object is not supported, consider adding a dummy field",
  );
  await session.rows("CREATE TABLE merging (v INT, ts TIMESTAMP TIME INDEX)");
  expect(await session.refusal("ALTER TABLE merging ADD COLUMN j JSON2")).toBe(
    "1004 Invalid SQL, error: JSON2 column `j` requires append_mode='true'",
  );
});
