import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DbError } from "../../base/error.ts";
import { decodeBulk } from "./decode.ts";
import type { BulkOptions } from "./types.ts";

const NONE: BulkOptions = { index: undefined, messageField: undefined };

function check(text: string, want: Readonly<Record<string, readonly unknown[]>>, options: Partial<BulkOptions> = {}): void {
  const { tables, documentCount } = decodeBulk(text, { ...NONE, ...options });
  expect(Object.fromEntries(tables.map(({ table, rows }) => [table, rows]))).toEqual(want as never);
  expect(documentCount).toBe(Object.values(want).flat().length);
}

function refuses(text: string, want: RegExp, options: Partial<BulkOptions> = {}): void {
  expect(() => decodeBulk(text, { ...NONE, ...options })).toThrow(want);
}

describe("accepts", () => {
  test("actions with their documents, by index", () => {
    check('{"create":{"_index":"a"}}\n{"x":1}\n{"index":{"_index":"b","_id":"1"}}\n{"x":2}\n{"create":{"_index":"a"}}\n{"x":3}\n', {
      a: [{ x: 1 }, { x: 3 }],
      b: [{ x: 2 }],
    });
    check('{"create":{}}{"x":1}', { u: [{ x: 1 }] }, { index: "u" });
    check('{"create":{"_index":"a"}}', {});
    check("", {});
  });

  test("the field of a message instead of its document", () => {
    const options = { index: "u", messageField: "m" };
    check('{"create":{}}{"m":"{\\"a\\":1}","n":2}', { u: [{ a: 1 }] }, options);
    check('{"create":{}}{"m":"{broken"}', { u: [{ m: "{broken" }] }, options);
    check('{"create":{}}{"m":"{}{}"}', { u: [{ m: "{}{}" }] }, options);
    check('{"create":{}}{"m":{"a":1}}', { u: [{ a: 1 }] }, options);
    check('{"create":{}}{"m":7}', { u: [{ m: 7 }] }, options);
    check('{"create":{}}{"n":2}', { u: [{ n: 2 }] }, options);
  });
});

describe("refuses", () => {
  test("what is no action, no document, or has no index", () => {
    refuses('{"update":{"_index":"a"}}', /the action 'update': only 'create' and 'index'/);
    refuses("{}", /the action '\{\}'/);
    refuses("7", /value 1 is no action/);
    refuses('{"create":{"_index":"a"}} 7', /value 2 is no document/);
    refuses('{"create":{}}{"a":1}', /names no index/);
    refuses('{"create":{"_index":"a"}}{"a":', /^Failed to parse payload as json/);
  });

  test("more indices than a request may have", () => {
    const text = Array.from({ length: 1025 }, (_, i) => `{"create":{"_index":"t${i}"}}{"a":1}`).join("");
    refuses(text, /more than 1024 indices/);
  });

  test("a body cut anywhere is refused or has fewer documents", () => {
    const text = '{"create":{"_index":"a"}}\n{"x":"é"}\n{"index":{"_index":"b"}}\n{"x":[1,{"y":2}]}\n';
    fc.assert(
      fc.property(fc.nat(text.length), (end) => {
        try {
          expect(decodeBulk(text.slice(0, end), NONE).documentCount).toBeLessThanOrEqual(2);
        } catch (error) {
          expect(error).toBeInstanceOf(DbError);
        }
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});
