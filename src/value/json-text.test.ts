import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, JSON_DEPTH_MAX } from "./json-text.ts";

function check(text: string, want: string): void {
  expect(canonicalJson(text)).toEqual({ ok: true, text: want });
}

function refused(text: string, why: string, position: number): void {
  expect([text, canonicalJson(text)]).toEqual([text, { ok: false, why, position }]);
}

describe("the canonical text", () => {
  test("is compact, with sorted keys", () => {
    check(' { "b" : [ 1 , 2 ] , "a" : null }\n', '{"a":null,"b":[1,2]}');
    check('{"b":{"d":1,"c":2},"":0}', '{"":0,"b":{"c":2,"d":1}}');
    check('{"a":1,"a":2}', '{"a":2}');
    check('{"\\u0062":1,"a":2}', '{"a":2,"b":1}');
    check('{"\ud83d\ude00":1,"\uffee":2}', '{"\uffee":2,"\ud83d\ude00":1}');
    check("[]", "[]");
    check("{}", "{}");
  });
  test("keeps whole numbers and shortens floats", () => {
    check("[0,-0,12345678901234567890123456789]", "[0,0,12345678901234567890123456789]");
    check("[1.0,1.50,-2.5e3,1E30,1e-7,0.1]", "[1.0,1.5,-2500.0,1e30,1e-7,0.1]");
  });
  test("escapes what must be", () => {
    check('"a\\u0041\\/\\n\\u2028\\u2029é😀\\ud800"', '"aA/\\n\\u2028\\u2029é😀\\ud800"');
    check('"\\\\"', '"\\\\"');
    check('"\\\\\\""', '"\\\\\\""');
  });
  test("of words", () => {
    for (const word of ["true", "false", "null"]) check(` ${word} `, word);
  });
  test("of its own text is itself, and means the same", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const first = canonicalJson(text);
        if (!first.ok) throw new Error(`refused ${text}: ${first.why}`);
        expect(canonicalJson(first.text)).toEqual(first);
        expect(JSON.parse(first.text.replaceAll("-0.0", "0.0"))).toEqual(JSON.parse(text.replaceAll(/-0(?=[,\]}]|$)/g, "0")));
      }),
      { seed: 8259, numRuns: 200 },
    );
  });
});

describe("refuses", () => {
  test("what is no JSON, and says where", () => {
    refused("", "unexpected end", 1);
    refused("abc", "expected value", 1);
    refused("[1,]", "expected value", 4);
    refused("[1 2]", "expected `,` or `]`", 4);
    refused('{"a" 1}', "expected `:`", 6);
    refused('{"a":1 "b":2}', "expected `,` or `}`", 8);
    refused("{a:1}", "expected a key", 2);
    refused('{"a":1,}', "expected a key", 8);
    refused('"abc', "unexpected end", 1);
    refused('"\\x"', "invalid string", 1);
    refused('"a\nb"', "invalid string", 1);
    refused("1 2", "trailing characters", 3);
    refused("01", "trailing characters", 2);
    refused("1e999", "number out of range", 1);
    refused("+1", "expected value", 1);
    refused("nul", "expected value", 1);
  });
  test("nesting without end", () => {
    const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
    expect(canonicalJson(nested(JSON_DEPTH_MAX)).ok).toBe(true);
    refused(nested(JSON_DEPTH_MAX + 1), "more than 128 levels", JSON_DEPTH_MAX + 1);
    refused("[".repeat(1_000_000), "more than 128 levels", JSON_DEPTH_MAX + 1);
  });
});
