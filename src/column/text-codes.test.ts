import { expect, test } from "bun:test";
import fc from "fast-check";
import { STRING } from "./data-type.ts";
import { TextCodes } from "./text-codes.ts";
import type { BytesVector } from "./vector.ts";
import { vectorOf } from "./vector-builder.ts";

function textsOf(values: readonly (string | undefined)[], codes: TextCodes, from = 0): (string | undefined)[] {
  const vector = vectorOf(STRING, values) as BytesVector;
  const target = new Uint32Array(values.length - from);
  codes.codesOf(vector, from, values.length, target);
  return Array.from(target, (code) => codes.texts[code]);
}

test("random texts, in an order that repeats or not, have codes of their own, wherever their bytes lie", () => {
  const text = fc.option(fc.oneof(fc.string({ maxLength: 13 }), fc.constantFrom("", "abc", "abcd", "abce", "abcdabcd", "ü", "host_1")), {
    nil: undefined,
  });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), (some, times) => {
      const codes = new TextCodes();
      const values = Array.from({ length: times }, () => some).flat();
      expect(textsOf(values, codes)).toEqual(values);
      expect(codes.texts.length).toBe(new Set(some.filter((each) => each !== undefined)).size + 1);
      for (const each of some) {
        if (each === undefined) continue;
        const bytes = Buffer.from(`x${each}y`);
        expect(codes.texts[codes.codeOf(bytes, 1, bytes.length - 1)]).toBe(each);
      }
    }),
    { seed: 20_261_124, numRuns: 500 },
  );
});

test("more texts than fit at first, and rows from the middle on", () => {
  const values = Array.from({ length: 5000 }, (_, i) => `text number ${i % 3000}`);
  const codes = new TextCodes();
  expect(textsOf(values, codes)).toEqual(values);
  expect(textsOf(values, codes, 4000)).toEqual(values.slice(4000));
  expect(codes.texts.length).toBe(3001);
  expect(codes.byteLength).toBeGreaterThan(3000 * 17);
});
