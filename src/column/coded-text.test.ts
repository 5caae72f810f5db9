import { expect, test } from "bun:test";
import fc from "fast-check";
import { type CodedPart, joinCoded, ownEntries, plainText, presenceOf, textLength } from "./coded-text.ts";
import { scalarAt } from "./scalar.ts";
import { slice } from "./slice.ts";
import { takeRows } from "./take-rows.ts";
import { textTableOf } from "./text-table.ts";
import type { CodedVector, Vector } from "./vector.ts";

const STRING = { kind: "string" } as const;

const text = fc.oneof(fc.string({ unit: "grapheme", maxLength: 5 }), fc.string({ minLength: 60, maxLength: 90 }));

/** Rows over a table in which texts may come twice. */
const coded: fc.Arbitrary<CodedVector> = fc.array(text, { maxLength: 6 }).chain((texts) =>
  fc.array(fc.nat(texts.length), { maxLength: 20 }).map((codes) => ({
    kind: "coded" as const,
    codes: Uint32Array.from(codes.flatMap((code) => (code % 2 === 0 ? [code, code, code] : [code]))),
    entries: textTableOf([undefined, ...texts]),
  })),
);

function valuesOf(vector: Vector, rowCount: number): unknown[] {
  return Array.from({ length: rowCount }, (_, row) => scalarAt(vector, STRING, row));
}

test("plain text, and a table of its own, have the same values", () => {
  fc.assert(
    fc.property(coded, (vector) => {
      const { length } = vector.codes;
      const want = valuesOf(vector, length);
      const plain = plainText(vector, length);
      expect(valuesOf(plain, length)).toEqual(want);
      expect(plain.bytes.length).toBe(textLength(vector, 0, length));
      expect(plain.validity === undefined).toBe(want.every((value) => value !== undefined));
      expect(presenceOf(vector, length)).toEqual(plain.validity);
      const own = ownEntries(vector, length);
      expect(valuesOf(own, length)).toEqual(want);
      expect(own.entries.size).toBe(new Set(vector.codes).add(0).size);
    }),
    { seed: 18 },
  );
});

test("slices and picked rows have the values of their rows", () => {
  fc.assert(
    fc.property(coded, fc.nat(30), fc.nat(30), (vector, a, b) => {
      const { length } = vector.codes;
      const want = valuesOf(vector, length);
      const [from, to] = [Math.min(a, b, length), Math.min(Math.max(a, b), length)];
      expect(valuesOf(slice(vector, from, to), to - from)).toEqual(want.slice(from, to));
      const picks = Uint32Array.from({ length: to - from }, (_, i) => to - 1 - i);
      expect(valuesOf(takeRows(vector, picks), picks.length)).toEqual(want.slice(from, to).toReversed());
    }),
    { seed: 18 },
  );
});

test("parts of several tables are joined in their order, in turns too", () => {
  fc.assert(
    fc.property(fc.array(coded, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(2), { maxLength: 6 }), (vectors, turns) => {
      const parts = turns.map((turn): CodedPart => {
        const vector = vectors[turn % vectors.length] as CodedVector;
        return { vector, from: Math.min(turn, vector.codes.length), to: vector.codes.length };
      });
      const want = parts.flatMap(({ vector, from, to }) => valuesOf(slice(vector, from, to), to - from));
      const joined = joinCoded(parts, want.length);
      if (joined !== undefined) expect(valuesOf(joined, want.length)).toEqual(want);
      const isShared = new Set(parts.map(({ vector }) => vector.entries)).size === 1;
      if (isShared) expect(joined?.entries).toBe(parts[0]?.vector.entries);
    }),
    { seed: 18, numRuns: 300 },
  );
});

test("tables with many more entries than rows are not joined", () => {
  const many = (name: string): CodedVector => ({
    kind: "coded",
    codes: Uint32Array.of(1),
    entries: textTableOf([undefined, ...Array.from({ length: 20 }, (_, i) => `${name}${i}`)]),
  });
  const parts = [many("a"), many("b")].map((vector) => ({ vector, from: 0, to: 1 }));
  expect(joinCoded(parts, 2)).toBeUndefined();
});
