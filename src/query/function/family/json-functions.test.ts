import { describe, expect, test } from "bun:test";
import { checkExpression as check, checkOverRows, failsExpression as fails } from "../../../../test/support/expression-check.ts";
import { QueryFixture } from "../../../../test/support/query-fixture.ts";

const DOCUMENT = `parse_json(
  '{"a": {"b": 9007199254740993, "c d": [1, 2.5, "x", null, true]}, "f": 1.50, "s": "q\\"t", "n": null, "t": true}'
)`;

describe("JSON", () => {
  test("is read and printed in one form", async () => {
    await check(`parse_json('{"b": 1, "a": [1.50]}')`, '{"a":[1.5],"b":1}', "Json");
    await check(`json_to_string(parse_json('{"b": 1, "a": null}'))`, '{"a":null,"b":1}', "String");
    await check("json_to_string('[ 1 ]')", "[1]", "String");
    await check("parse_json(NULL)", undefined, "Json");
    await check("json_to_string(NULL)", undefined, "String");
    await check(`'[1, 2]'::JSON::STRING || 'x'`, "[1,2]x", "String");
    await check("arrow_typeof(parse_json('1'))", "Binary", "String");
  });
  test("refuses what is none", async () => {
    await fails("parse_json('{')", "3001 Execution error: cannot parse '{': expected a key, pos 2");
    await fails("parse_json('x')", "3001 Execution error: cannot parse 'x': expected value, pos 1");
    await fails("parse_json(1) = '1'", "3000 Failed to plan SQL: Error during planning: Cannot infer common argument type");
  });
});

describe("values of a path", () => {
  test("come with the type that a function names", async () => {
    await check(`json_get_int(${DOCUMENT}, 'a.b')`, 9007199254740993n, "Int64");
    await check(`json_get_int(${DOCUMENT}, '$.a["c d"][0]')`, 1, "Int64");
    await check(`json_get_int(${DOCUMENT}, 'f')`, undefined);
    await check(`json_get_int(${DOCUMENT}, 's')`, undefined);
    await check(`json_get_float(${DOCUMENT}, 'f')`, 1.5, "Float64");
    await check(`json_get_float(${DOCUMENT}, 'a:"c d"[0]')`, 1);
    await check(`json_get_string(${DOCUMENT}, 's')`, 'q"t', "String");
    await check(`json_get_string(${DOCUMENT}, 'f')`, "1.5");
    await check(`json_get_string(${DOCUMENT}, 't')`, "true");
    await check(`json_get_string(${DOCUMENT}, 'a')`, undefined);
    await check(`json_get_string(${DOCUMENT}, 'n')`, undefined);
    await check(`json_get_bool(${DOCUMENT}, 't')`, true, "Boolean");
    await check(`json_get_bool(${DOCUMENT}, 'f')`, undefined);
    await check(`json_get_object(${DOCUMENT}, 'a')`, '{"b":9007199254740993,"c d":[1,2.5,"x",null,true]}', "Json");
    await check(`json_get_object(${DOCUMENT}, 'f')`, undefined);
    await check(`json_get_object(${DOCUMENT}, 'missing')`, undefined);
    await check(`json_get_int('[1, 2, 3]', '[last - 1]')`, 2);
    await check(`json_get_int('[1, 2, 3]', '[-1]')`, 3);
    await check("json_get_int(NULL, 'a')", undefined);
    for (const [json, number] of [
      ["true", 1],
      ["false", 0],
    ] as const) {
      const member = `(parse_json('{"b": ${json}}'), 'b')`;
      await check(`json_get_bool${member}`, number === 1, "Boolean");
      await check(`json_get_int${member}`, number, "Int64");
      await check(`json_get_float${member}`, number, "Float64");
      await check(`json_get_string${member}`, json, "String");
      await check(`json_get_object${member}`, undefined);
      await check(`json_get_bool('{"b": ${json}}', 'b')`, number === 1, "Boolean");
    }
  });
  test("are text, or the type of a NULL", async () => {
    await check(`json_get(${DOCUMENT}, 's')`, 'q"t', "String");
    await check(`json_get(${DOCUMENT}, 'a["c d"]')`, '[1,2.5,"x",null,true]');
    await check(`json_get(${DOCUMENT}, '$')::STRING || ''`, expect.stringContaining('"f":1.5') as unknown as string);
    await check(`json_get('{"a": 200}', 'a', NULL::SMALLINT)`, 200, "Int16");
    await check(`json_get('{"a": 70000}', 'a', NULL::SMALLINT)`, undefined, "Int16");
    await check(`json_get('{"a": "x"}', 'a')::INT`, undefined, "Int32");
    await check(`json_get('{"a": 2}', 'a') + 1`, 3, "Int64");
    await check(`json_get('{"a": 0.1}', 'a')::FLOAT`, Math.fround(0.1), "Float32");
  });
  test("obey filters", async () => {
    const list = `'[{"n": 1, "s": "abc"}, {"n": 2, "s": "xyz"}, {"s": "abd"}]'`;
    await check(`json_get_string(${list}, '$[*]?(@.n > 1).s')`, "xyz");
    await check(`json_get_string(${list}, '$[*]?(@.s starts with "ab" && !(exists(@.n))).s')`, "abd");
    await check(`json_get_string(${list}, '$[1 to last]?(@.n == 2 || @.n == null).s')`, "xyz");
    await check(`json_path_exists(${list}, '$[0, 2].n')`, true);
    await check(`json_path_exists('{"a": 1}', '.*')`, true);
  });
  test("are the members of a JSON2 column", async () => {
    const fixture = new QueryFixture();
    await fixture.sql("CREATE TABLE t (ts TIMESTAMP TIME INDEX, j JSON2) WITH (append_mode = 'true')");
    await fixture.sql(`INSERT INTO t VALUES (1, '{"a": {"b": 2, "c.d": "x"}}'), (2, '{"a": 1}'), (3, '{"a": {"b": "no"}}')`);
    const { rows, types } = await fixture.both(`SELECT j.a.b, j.a.b + 1, j.a."c.d", j.a.b::DOUBLE FROM t ORDER BY ts`);
    expect(types).toEqual(["String", "Int64", "String", "Float64"]);
    expect(rows).toEqual([
      ["2", 3, "x", 2],
      [undefined, undefined, undefined, undefined],
      ["no", undefined, undefined, undefined],
    ]);
    const grouped = await fixture.both("SELECT j.a.b AS b, count() FROM t WHERE j.a.b = '2' GROUP BY b");
    expect(grouped.rows).toEqual([["2", 1]]);
    expect(fixture.sql("SELECT j.a.b FROM t WHERE t.x.y = 1")).rejects.toThrow("No field named t.x.y");
  });
});

describe("tests of JSON", () => {
  test("tell kinds apart", async () => {
    const kinds = ["null", "int", "float", "string", "bool", "array", "object"];
    const is = (value: string): string => `concat(${kinds.map((kind) => `json_is_${kind}('${value}')::INT`).join(", ")})`;
    await check(is("null"), "1000000");
    await check(is("1"), "0110000");
    await check(is("1.5"), "0010000");
    await check(is(`"a"`), "0001000");
    await check(is("false"), "0000100");
    await check(is("[]"), "0000010");
    await check(is("{}"), "0000001");
  });
  test("compare what paths find", async () => {
    const matches = (json: string, condition: string): string => `json_path_match('${json}', '${condition}')`;
    await check(matches(`{"a": 1}`, "$.a == 1"), true);
    await check(matches(`{"a": [1, 5]}`, "$.a[*] > 4"), true);
    await check(matches(`{"a": 9007199254740993}`, "$.a > 9007199254740992"), true);
    await check(matches(`{"a": "b"}`, `$.a < "c" && ($.a != "x" || $.b == 1)`), true);
    await check(matches(`{"a": 1}`, `$.a == "1"`), false);
    await check(matches(`{"a": null}`, "$.a == null"), true);
    await check(matches(`{"a": true}`, "a"), true);
    await check(matches(`{"a": 1}`, "a"), undefined);
    await check(matches("null", "$.a == 1"), undefined);
    await checkOverRows("json_path_exists(v, 'a')", [`'{"a": 1}'`, "'[]'", "NULL"], [true, false, undefined]);
  });
  test("refuse paths that are none", async () => {
    await fails("json_get_int('{}', 'a..b')", "3001 Execution error: Illegal json path: 'a..b': expected a name at character 3");
    await fails("json_get_int('{}', 'a[')", "expected an index of at most 9 digits");
    await fails("json_get_int('{}', 'a[1')", "expected ']'");
    await fails(`json_path_match('{}', '${"(".repeat(70)}')`, "more than 64 conditions in each other");
    await fails(`json_get_int('{}', '${"a.".repeat(9000)}a')`, "more than 16384 characters");
    await fails("json_get_int(1, 'a')", "3000 Failed to plan SQL: Error during planning: No function matches json_get_int(Int64, String)");
  });
  test("end when a path takes too long", async () => {
    const filter = "?(@ == 1 || $[*]?(@ == 2 || $[*]?(@ == 3)))";
    await fails(`json_get_int('[${"0,".repeat(3000)}0]', '$[*]${filter}')`, "takes too many steps");
  });
});

describe("json_object", () => {
  test("makes documents", async () => {
    await check(
      "json_object('b', 1, 'a', 1.0, 'c', 'x\"', 'd', NULL, 'e', parse_json('[1 ]'))",
      '{"a":1.0,"b":1,"c":"x\\"","d":null,"e":[1]}',
      "Json",
    );
    await check("json_object()", "{}");
    await checkOverRows("json_to_string(json_object('v', v))", ["1", "NULL"], ['{"v":1}', '{"v":null}']);
  });
  test("refuses what has no place in one", async () => {
    await fails("json_object('a')", "3001 Execution error: json_object expects (key, value) argument pairs, got 1 arguments");
    await fails("json_object(NULL, 1)", "json_object does not allow NULL keys");
    await fails("json_object('t', now())", "does not support values of type Timestamp(ns); cast the value to a string");
    await fails("json_object('t', 'inf'::DOUBLE)", "json_object cannot hold inf");
  });
});
