import { expect, test } from "bun:test";
import { jsonText } from "./json/json-text.ts";
import { jsonValue } from "../common/json-value.ts";
import { jsonb } from "./json/jsonb.ts";
import { compileJsonPath } from "./json/json-path.ts";
import { kindOf } from "../common/value.ts";

test("JSON keeps what its numbers are", () => {
  const kinds: readonly (readonly [string, string, string])[] = [
    ["1", "int", "1"],
    ["1.0", "float", "1.0"],
    ["1e3", "float", "1000.0"],
    ["0.5", "float", "0.5"],
    ["-0", "int", "0"],
    ["-0.0", "float", "0.0"],
    ["9007199254740993", "int", "9007199254740993"],
    ["18446744073709551616", "float", "1.8446744073709552e19"],
    ["4503599627370497.0", "float", "4503599627370497.0"],
    ["4503599627370497.5", "float", "4503599627370498.0"],
    ["1.99999999999999999", "float", "2.0"],
    ["99999999999.99999999", "float", "100000000000.0"],
    ["286.2142857142857", "float", "286.2142857142857"],
  ];
  for (const [text, kind, shown] of kinds) {
    for (const [outer, inner] of [
      [text, jsonValue(text)],
      [`{"a": [${text}]}`, undefined],
    ] as const) {
      const value = inner ?? (jsonValue(outer) as { a: readonly never[] }).a[0];
      expect([outer, kindOf(value ?? null), jsonText(value ?? null).replace(/^-0\.0$/, "0.0")]).toEqual([outer, kind, shown]);
    }
  }
});

test("text that looks like numbers stays text", () => {
  for (const text of ['{"a":"1.0","b":": 2.0,"}', '["-0, 1e5"]']) expect(jsonText(jsonValue(text))).toBe(text);
});

test("bad JSON is a SyntaxError, deep JSON an error or a value", () => {
  for (const text of ["", "{", '{"a":1.0', "[1,]", "nul"]) expect(() => jsonValue(text)).toThrow(SyntaxError);
  for (const number of ["1", "1.0"]) {
    const deeper = `${"[".repeat(300_000)}${number}${"]".repeat(300_000)}`;
    try {
      jsonValue(deeper);
    } catch (error) {
      expect(error).toBeInstanceOf(SyntaxError);
    }
  }
  const deep = jsonValue(`${"[".repeat(1000)}1${"]".repeat(1000)}`);
  expect(() => jsonText(deep)).toThrow("nested deeper than 256");
  expect(() => jsonb(deep)).toThrow("nested deeper than 256");
});

test("paths find what they say", () => {
  const value = jsonValue(
    '{"hello":"world","shop":{"orders":[{"id":1,"active":true,"price":5},{"id":2,"price":15},{"id":3,"active":true,"price":20}]},' +
      '"a b":[0,1,2,3]}',
  );
  const cases: readonly (readonly [string, string])[] = [
    ["$.hello", '["world"]'],
    ["$['a b'][1]", "[1]"],
    ["$['a b'].[-1]", "[3]"],
    ["$['a b'][1:3]", "[1,2]"],
    ["$['a b'][::-2]", "[3,1]"],
    ["$['a b'][0,2]", "[0,2]"],
    ["$.shop.orders[?(@.active)].id", "[1,3]"],
    ["$.shop.orders[?@.price > 5 && !(@.active == true)].id", "[2]"],
    ["$.shop.orders[?(@.price >= 20 || @.id == 1)].id", "[1,3]"],
    ["$..price", "[5,15,20]"],
    ["$.shop.orders.*.id", "[1,2,3]"],
    ["$.nothing.here", "[]"],
    ["$.hello[0]", "[]"],
  ];
  for (const [path, want] of cases) expect([path, jsonText(compileJsonPath(path)(value))]).toEqual([path, want]);
});

test("paths that are not understood, or look at too much, are refused", () => {
  for (const path of ["", "hello", "$.", "$[", "$[?(@.a", "$.a b", "$[?length(@) > 1]", "$[?(@.a ==)]"]) {
    expect(() => compileJsonPath(path)).toThrow("the path");
  }
  const wide = Array.from({ length: 400 }, () => [1, 2, 3]);
  expect(() => compileJsonPath("$[?(@..a || $..b)]")(wide)).toThrow("looks at more than");
});

test("a number of a million digits is the float that it is, and not read digit by digit", () => {
  expect(jsonValue("9".repeat(1_000_000))).toBe(Number.POSITIVE_INFINITY);
  expect([jsonValue("18446744073709551615"), jsonValue("-9223372036854775808")]).toEqual([2n ** 64n - 1n, -(2n ** 63n)]);
  expect([jsonValue("184467440737095516150"), jsonValue("-92233720368547758080")]).toEqual([2 ** 64 * 10, -(2 ** 63) * 10]);
});
