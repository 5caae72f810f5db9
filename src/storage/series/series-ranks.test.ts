import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BOOLEAN, type DataType, DATE, FLOAT64, INT64, TIMESTAMP_NANOSECOND, UINT64 } from "../../column/data-type.ts";
import { compareText, orderByTags } from "./series-ranks.ts";
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

/** Registers values of one tag in a mixed order and expects them back in this one. */
function checkOrder(type: DataType, ascending: readonly (string | undefined)[]): void {
  const registry = new SeriesRegistry("t");
  registry.setColumns([{ id: 1, name: "tag", type }]);
  const mixed = [...ascending.keys()].sort((a, b) => ((a * 7) % 11) - ((b * 7) % 11));
  for (const i of mixed) registry.register([ascending[i]]);
  const order = orderByTags(Uint32Array.from(mixed.keys()), registry.view());
  expect([...order].map((series) => ascending[mixed[series]!])).toEqual([...ascending]);
}

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
          const sorted = [...orderByTags(some, registry.view())].map((series) => tuples[series]!);
          const want = [...some].map((series) => tuples[series]!).sort((a, b) => naive(a[0], b[0]) || naive(a[1], b[1]));
          expect(sorted).toEqual(want);
        },
      ),
      { seed: 10, numRuns: 100 },
    );
  });

  test("is that of the values for tags that are no text", () => {
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    checkOrder(INT64, [undefined, String(min), "-10", "-9", "0", "9", "10", "100", String(max - 1n), String(max)]);
    checkOrder(UINT64, [undefined, "9", "10", String(2n ** 64n - 1n)]);
    checkOrder(FLOAT64, [undefined, "-Infinity", "-1e+300", "-5", "-1e-7", "0", "1e-7", "5", "10", "1e+21", "Infinity", "NaN"]);
    checkOrder(BOOLEAN, [undefined, "false", "true"]);
    checkOrder(DATE, [undefined, "-719162", "-1", "0", "9", "19782"]);
    checkOrder(TIMESTAMP_NANOSECOND, [undefined, String(min), "-1", "9", "1700000000000000000", String(max)]);
  });

  test("of values breaks no tie that a later tag decides", () => {
    const registry = new SeriesRegistry("t");
    registry.setColumns([
      { id: 1, name: "id", type: INT64 },
      { id: 2, name: "host" },
    ]);
    const tuples = [
      ["10", "a"],
      ["9", "b"],
      ["9", "a"],
      [undefined, "z"],
      ["10", undefined],
    ] as const;
    for (const tuple of tuples) registry.register(tuple);
    expect([...orderByTags(Uint32Array.of(0, 1, 2, 3, 4), registry.view())]).toEqual([3, 2, 1, 4, 0]);
  });

  test("of no series, and of a table without tags", () => {
    expect(orderByTags(new Uint32Array(0), [])).toEqual(new Uint32Array(0));
    expect(orderByTags(Uint32Array.of(0), [])).toEqual(Uint32Array.of(0));
  });
});
