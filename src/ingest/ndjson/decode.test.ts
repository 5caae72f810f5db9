import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DbError } from "../../base/error.ts";
import { FIELD_TEXT_BYTES_MAX } from "../../base/limits.ts";
import { WholeFloat } from "../common/value.ts";
import { decodeDocuments, documentTypeOf, textOf } from "./decode.ts";
import { eachJson } from "../common/json-sequence.ts";
import type { DocumentType } from "./types.ts";

const JSON_BODY = "application/json";
const NDJSON = "application/x-ndjson";
const TEXT = "text/plain";

function check(text: string, type: DocumentType, want: readonly unknown[], ignoreErrors = false): void {
  expect(decodeDocuments(text, type, ignoreErrors) as readonly unknown[]).toEqual(want);
}

function refuses(text: string, type: DocumentType, want: RegExp): void {
  expect(() => decodeDocuments(text, type, false)).toThrow(want);
  expect(() => decodeDocuments(text, type, false)).toThrow(DbError);
}

describe("content types", () => {
  test("parameters and case do not matter", () => {
    expect(documentTypeOf("Application/JSON; charset=utf-8")).toBe(JSON_BODY);
    expect(documentTypeOf("text/plain;x")).toBe(TEXT);
    expect(documentTypeOf("application/json2")).toBeUndefined();
  });
});

describe("JSON", () => {
  test("objects and arrays, one after the other", () => {
    check('{"a":1}', JSON_BODY, [{ a: 1 }]);
    check('[{"a":1},{"a":2}]\n{"a":3}{"a":4} [5]', JSON_BODY, [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }, 5]);
    check(" \r\n\t", JSON_BODY, []);
    check('{"a":"}{\\"[","b":"\\\\"}{"c":1}', JSON_BODY, [{ a: '}{"[', b: "\\" }, { c: 1 }]);
  });

  test("floats that are whole stay floats, and ints keep 64 bits", () => {
    check('{"a":1.0,"b":9007199254740993}', JSON_BODY, [{ a: new WholeFloat(1), b: 9007199254740993n }]);
  });

  test("scalars at the top are refused", () => {
    for (const text of ["1", '"a"', "null", '{"a":1} true']) refuses(text, JSON_BODY, /json format error/);
  });

  test("errors say where the value begins, or where the text ends", () => {
    refuses('{"a":1}\n{"b":}', JSON_BODY, /at line 2 column 1$/);
    refuses('{"a":1', JSON_BODY, /ends inside a value at line 1 column 7$/);
    refuses('{"a":"1', JSON_BODY, /ends inside a string/);
    refuses("}", JSON_BODY, /^Failed to parse payload as json/);
    refuses("[}", JSON_BODY, /^Failed to parse payload as json/);
  });

  test("with ignore_errors what stands before the error is kept", () => {
    check('{"a":1}{"b":}{"c":1}', JSON_BODY, [{ a: 1 }], true);
  });

  test("nesting has a limit, in every type", () => {
    const deep = `${'{"a":'.repeat(1000)}1${"}".repeat(1000)}`;
    refuses(deep, JSON_BODY, /nested deeper than 128 levels at line 1/);
    refuses(`{}\n${deep}`, NDJSON, /invalid JSON at index: 1: nested deeper than 128 levels/);
    refuses("[".repeat(1_000_000), JSON_BODY, /nested deeper/);
    check(`{"a":"${"{[".repeat(500)}"}`, NDJSON, [{ a: "{[".repeat(500) }]);
  });

  test("random values in random company come back", () => {
    const value = fc.oneof(
      fc.dictionary(
        fc.string(),
        fc.json().map((text) => JSON.parse(text) as unknown),
      ),
      fc.array(fc.string()),
    );
    const blank = fc.constantFrom("", " ", "\n", "\r\n\t");
    fc.assert(
      fc.property(fc.array(fc.tuple(value, blank)), (parts) => {
        const seen: unknown[] = [];
        eachJson(parts.map(([each, space]) => JSON.stringify(each) + space).join(""), (each) => seen.push(each));
        expect(JSON.stringify(seen.map(plain))).toBe(JSON.stringify(parts.map(([each]) => each)));
      }),
      { numRuns: 200, seed: 7 },
    );
  });

  test("random bytes end in a refusal or in values", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\1ae \n'.split("")) }), (text) => {
        for (const type of [JSON_BODY, NDJSON, TEXT] as const) {
          try {
            decodeDocuments(text, type, false);
          } catch (error) {
            expect(error).toBeInstanceOf(DbError);
          }
        }
      }),
      { numRuns: 2000, seed: 7 },
    );
  });
});

/** Numbers as JavaScript has them. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_key, each: unknown) =>
      each instanceof WholeFloat ? each.value : typeof each === "bigint" ? Number(each) : each,
    ),
  );
}

describe("NDJSON", () => {
  test("empty lines are skipped, and bad ones counted without them", () => {
    check('{"a":1}\n\n  \n{"a":2}\r\n', NDJSON, [{ a: 1 }, { a: 2 }]);
    refuses('{"a":1}\n\n{"a":', NDJSON, /invalid JSON at index: 1$/);
    check('{"a":1}\n{"a":\n{"a":3}', NDJSON, [{ a: 1 }, { a: 3 }], true);
  });

  test("a line has a limit", () => {
    const long = `{"a":"${"x".repeat(FIELD_TEXT_BYTES_MAX)}"}`;
    refuses(long, NDJSON, /invalid JSON at index: 0: the line has 16777224 characters/);
    refuses(long, JSON_BODY, /a document of 16777224 characters/);
    refuses("x".repeat(FIELD_TEXT_BYTES_MAX + 1), TEXT, /line 1 has 16777217 characters/);
  });
});

describe("text", () => {
  test("each line that is not empty is a message", () => {
    check("one\n\ntwo\r\nthree", TEXT, [{ message: "one" }, { message: "two" }, { message: "three" }]);
    check("", TEXT, []);
    check(" \n", TEXT, [{ message: " " }]);
  });

  test("bytes that are no UTF-8 are refused", () => {
    expect(() => textOf(Uint8Array.of(0x61, 0xff))).toThrow("Failed to parse payload: the body is not valid UTF-8");
  });
});
