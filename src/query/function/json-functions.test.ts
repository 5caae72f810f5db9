import { describe, expect, test } from "bun:test";
import { QueryFixture } from "../../../test/support/query-fixture.ts";
import { DbError } from "../../base/error.ts";

async function check(expression: string, want: string, type: string): Promise<void> {
  const { rows, types } = await new QueryFixture().both(`SELECT ${expression}`);
  const value = rows[0]?.[0];
  expect([expression, value instanceof Uint8Array ? value.toHex() : String(value), types[0]]).toEqual([expression, want, type]);
}

async function fails(expression: string, want: string): Promise<void> {
  const failure = await new QueryFixture().sql(`SELECT ${expression}`).then(
    () => "no error",
    (thrown: unknown) => (thrown instanceof DbError ? `${thrown.code} ${thrown.message}` : String(thrown)),
  );
  expect([expression, failure]).toEqual([expression, want]);
}

describe("JSON", () => {
  test("is read and printed in one form", async () => {
    await check(`parse_json('{"b": 1, "a": [1.50]}')`, '{"a":[1.5],"b":1}', "Json");
    await check(`json_to_string(parse_json('{"b": 1, "a": null}'))`, '{"a":null,"b":1}', "String");
    await check("json_to_string('[ 1 ]')", "[1]", "String");
    await check("parse_json(NULL)", "undefined", "Json");
    await check("json_to_string(NULL)", "undefined", "String");
    await check(`'[1, 2]'::JSON::STRING || 'x'`, "[1,2]x", "String");
    await check("arrow_typeof(parse_json('1'))", "Binary", "String");
  });
  test("refuses what is none", async () => {
    await fails("parse_json('{')", "3001 Execution error: cannot parse '{': expected a key, pos 2");
    await fails("parse_json('x')", "3001 Execution error: cannot parse 'x': expected value, pos 1");
    await fails(
      "parse_json(1) = '1'",
      "3000 Failed to plan SQL: Error during planning: Cannot infer common argument type for comparison operation Json = String",
    );
  });
});

describe("vectors", () => {
  test("are read and printed", async () => {
    await check("parse_vec('[1.0, -2.5]')", "0000803f000020c0", "Binary");
    await check("vec_to_string(parse_vec('[1.0, -2.5]'))", "[1,-2.5]", "String");
    await check("vec_to_string('[ 0.1 ]')", "[0.1]", "String");
    await check("'[1,2]'::VECTOR(2)", "0000803f00000040", "Vector(2)");
    await check("'[1,2]'::VECTOR(2)::STRING", "[1,2]", "String");
    await check("parse_vec('[1,2]')::VECTOR(2)", "0000803f00000040", "Vector(2)");
    await check("vec_to_string(NULL)", "undefined", "String");
  });
  test("refuse another dimension", async () => {
    await fails("'[1]'::VECTOR(2)", "1004 Invalid Vector: Failed to parse [1] to Vector value: wrong dimension");
    await fails("X'0000'::VECTOR(2)", "1004 Invalid Vector: 2 bytes are no Vector(2): wrong dimension");
    await fails("vec_to_string(X'000000')", "1004 Invalid Vector: 3 bytes are no Vector(n): wrong dimension");
  });
});

describe("times of day", () => {
  test("are cast, compared and moved", async () => {
    await check("'12:30:00.5'::TIME::STRING", "12:30:00.500", "String");
    await check("TIME '12:30'", "45000000000000", "TimeNanosecond");
    await check("'23:59:59.999'::TIME(0)", "86399", "TimeSecond");
    await check("'2024-01-31 12:30:00.25'::TIMESTAMP(3)::TIME(3)", "45000250", "TimeMillisecond");
    await check("(-1)::TIMESTAMP(0)::TIME(0)", "86399", "TimeSecond");
    await check("TIME '12:30' > TIME '12:29:59.999'", "true", "Boolean");
    await check("TIME '12:30' = '12:30:00'", "true", "Boolean");
    await check("'23:30:00'::TIME(0) + INTERVAL '45 minutes'", "900", "TimeSecond");
    await check("INTERVAL '1 day 1 hour' + '23:30:00'::TIME(0)", "1800", "TimeSecond");
    await check("'00:30:00'::TIME(0) - INTERVAL '1 hour'", "84600", "TimeSecond");
    await check("'12:00:00'::TIME(0) - '13:00:00'::TIME(0)", "-3600", "DurationSecond");
    await check("arrow_typeof(TIME '12:00')", "Time64(ns)", "String");
    await check("arrow_typeof('12:00'::TIME(3))", "Time32(ms)", "String");
  });
  test("refuse what is none", async () => {
    await fails("'24:00'::TIME", "3001 Cast error: Cannot cast string '24:00' to value of TimeNanosecond type");
    await fails("86400::TIME(0)", "3001 Cast error: Can't cast value 86400 to type TimeSecond");
  });
  test("are aggregated", async () => {
    const fixture = new QueryFixture();
    await fixture.sql("CREATE TABLE t (d TIME(0), ts TIMESTAMP TIME INDEX)");
    await fixture.sql("INSERT INTO t VALUES ('12:00', 1), (NULL, 2), ('01:00', 3), ('12:00', 4)");
    expect((await fixture.both("SELECT min(d), max(d), count(d), count(DISTINCT d) FROM t")).rows).toEqual([[3600, 43_200, 3, 2]]);
    expect((await fixture.both("SELECT d, count(*) FROM t WHERE d >= '01:00' GROUP BY d ORDER BY d")).rows).toEqual([
      [3600, 1],
      [43_200, 2],
    ]);
  });
});

test("rows of a query are inserted as the columns' types", async () => {
  const fixture = new QueryFixture();
  await fixture.sql("CREATE TABLE a (d DECIMAL(6, 2), t TIME(0), j JSON, v VECTOR(1), ts TIMESTAMP TIME INDEX)");
  await fixture.sql("CREATE TABLE b (d DECIMAL(38, 10), t TIME, j JSON, v VECTOR(1), ts TIMESTAMP TIME INDEX)");
  await fixture.sql(`INSERT INTO a VALUES (1.25, '12:00', '{"a":1}', '[1]', 1), (NULL, NULL, NULL, NULL, 2)`);
  await fixture.sql("INSERT INTO b SELECT * FROM a; INSERT INTO b SELECT '0.1', '01:00', '[]', '[2]', 3");
  const { rows } = await fixture.both("SELECT d::STRING, t::STRING, j::STRING, v::STRING FROM b ORDER BY ts");
  expect(rows).toEqual([
    ["1.2500000000", "12:00:00", '{"a":1}', "[1]"],
    [undefined, undefined, undefined, undefined],
    ["0.1000000000", "01:00:00", "[]", "[2]"],
  ]);
  expect(fixture.sql("INSERT INTO a (d, ts) SELECT 12345.678::DECIMAL(8, 3), 4")).rejects.toThrow("12345.68 is too large to store");
});
