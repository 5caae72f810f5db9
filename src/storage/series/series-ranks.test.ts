import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compareText, orderByTags, tagsOfSeries } from "./series-ranks.ts";
import { SeriesRegistry } from "./series-registry.ts";

const encoder = new TextEncoder();

/** NULL first, then by the bytes of UTF-8. */
function naive(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  return Buffer.compare(encoder.encode(a), encoder.encode(b));
}

describe("the order of tag values", () => {
  const ascending = [undefined, "", "\0", "A", "AA", "B", "a", "ab", "b", "é", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"];
  test("is NULL, then code points", () => {
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries()) expect(Math.sign(compareText(a, b))).toBe(Math.sign(i - j));
    }
  });

  test("is that of UTF-8 for any text", () => {
    const text = fc.option(fc.string({ unit: "binary", maxLength: 4 }), { nil: undefined });
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(naive(a, b));
      }),
      { seed: 9, numRuns: 500 },
    );
  });
});

describe("the order of series", () => {
  test("goes tag by tag, for some series of a table", () => {
    const value = fc.option(fc.constantFrom("", "a", "b", "ab", "\uffff", "\u{10000}"), { nil: undefined });
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(value, value), { maxLength: 30, selector: (tuple) => JSON.stringify(tuple.map((v) => v ?? null)) }),
        (tuples) => {
          const registry = new SeriesRegistry("t");
          registry.setColumns([
            { id: 1, name: "a" },
            { id: 2, name: "b" },
          ]);
          for (const tuple of tuples) registry.register(tuple);
          const some = Uint32Array.from(tuples.keys()).filter((series) => series % 3 !== 1);
          const tags = tagsOfSeries(registry, some);
          expect(tags.count).toBe(some.length);
          const sorted = [...orderByTags(tags)].map((position) => tuples[some[position]!]!);
          const want = [...some].map((series) => tuples[series]!).sort((a, b) => naive(a[0], b[0]) || naive(a[1], b[1]));
          expect(sorted).toEqual(want);
        },
      ),
      { seed: 10, numRuns: 100 },
    );
  });

  test("of no series, and of a table without tags", () => {
    expect(orderByTags({ count: 0, codes: [], dictionaries: [] })).toEqual(new Uint32Array(0));
    expect(orderByTags({ count: 1, codes: [], dictionaries: [] })).toEqual(Uint32Array.of(0));
  });
});
