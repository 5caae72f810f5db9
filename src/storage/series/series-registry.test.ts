import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { textAt } from "../../column/text-table.ts";
import { SeriesRegistry } from "./series-registry.ts";

type Tuple = readonly (string | undefined)[];

function registryOf(...names: readonly string[]): SeriesRegistry {
  const registry = new SeriesRegistry("t");
  registry.setColumns(names.map((name, id) => ({ id, name })));
  return registry;
}

function tagsOf(registry: SeriesRegistry, series: number): Tuple {
  return Array.from({ length: registry.columnCount }, (_, c) => registry.dictionaryAt(c)[registry.codesAt(c)[series]!]);
}

describe("a series registry", () => {
  test("numbers distinct tuples densely, and the same tuple always the same", () => {
    const registry = registryOf("host", "region");
    const tuples: readonly Tuple[] = [
      ["a", "x"],
      ["a", undefined],
      [undefined, "a"],
      ["", ""],
      [undefined, undefined],
      ["x", "a"],
    ];
    expect(tuples.map((tuple) => registry.register(tuple))).toEqual([0, 1, 2, 3, 4, 5]);
    expect([...tuples].reverse().map((tuple) => registry.register(tuple))).toEqual([5, 4, 3, 2, 1, 0]);
    expect(registry.count).toBe(6);
    tuples.forEach((tuple, series) => expect(tagsOf(registry, series)).toEqual(tuple));
  });

  test("takes missing values as NULL", () => {
    const registry = registryOf("a", "b", "c");
    expect(registry.register(["x"])).toBe(registry.register(["x", undefined, undefined]));
  });

  test("has one series when there are no tags", () => {
    const registry = registryOf();
    expect([registry.register([]), registry.register([]), registry.count]).toEqual([0, 0, 1]);
  });

  test("finds columns by id and name", () => {
    const registry = new SeriesRegistry("t");
    registry.setColumns([
      { id: 7, name: "host" },
      { id: 3, name: "region" },
    ]);
    registry.register(["a", "x"]);
    expect([registry.positionOf(3), registry.positionOf(4), registry.positionOfName("host"), registry.positionOfName("x")]).toEqual([
      1, -1, 0, -1,
    ]);
    expect(registry.columnIds()).toEqual([7, 3]);
    expect(registry.codesOf("region")[0]).toBe(1);
    expect(registry.dictionaryOf("host")).toEqual([undefined, "a"]);
    expect(() => registry.codesAt(2)).toThrow("a tag column of 2; got position 2");
    expect(() => registry.dictionaryOf("x")).toThrow("got position -1");
  });

  test("keeps its series when a column is added: they are NULL in it", () => {
    const registry = registryOf("a");
    const before = Array.from({ length: 100 }, (_, i) => registry.register([`v${i}`]));
    registry.setColumns([
      { id: 0, name: "a" },
      { id: 1, name: "b" },
    ]);
    expect(Array.from({ length: 100 }, (_, i) => registry.register([`v${i}`, undefined]))).toEqual(before);
    expect(registry.register(["v5", "new"])).toBe(100);
    expect(tagsOf(registry, 5)).toEqual(["v5", undefined]);
  });

  test("takes a column's new name", () => {
    const registry = registryOf("a");
    registry.setColumns([{ id: 0, name: "renamed" }]);
    expect([registry.columnCount, registry.positionOfName("renamed")]).toEqual([1, 0]);
  });

  test("registers codes as it registers values", () => {
    const registry = registryOf("a", "b");
    const series = registry.register(["x", "y"]);
    expect(registry.registerCodes(Uint32Array.of(registry.encode(0, "x"), registry.encode(1, "y"), 99))).toBe(series);
    expect(registry.registerCodes(Uint32Array.of(0, 0))).toBe(1);
  });

  test("registers blocks as it registers one after another, those that come twice in a block too", () => {
    const code = fc.integer({ min: 0, max: 6 });
    fc.assert(
      fc.property(fc.array(fc.array(fc.tuple(code, code), { maxLength: 40 }), { maxLength: 8 }), (blocks) => {
        const [one, many] = [registryOf("a", "b"), registryOf("a", "b")];
        for (const block of blocks) {
          const into = new Uint32Array(block.length);
          many.registerBlock([Uint32Array.from(block, ([a]) => a), Uint32Array.from(block, ([, b]) => b)], block.length, into);
          expect([...into]).toEqual(block.map((codes) => one.registerCodes(Uint32Array.from(codes))));
        }
        expect(many.count).toBe(one.count);
        for (let c = 0; c < 2; c++) {
          expect([...many.codesAt(c).subarray(0, many.count)]).toEqual([...one.codesAt(c).subarray(0, one.count)]);
        }
      }),
      { seed: 12, numRuns: 60 },
    );
  });

  test("refuses the rest of a block at the limit, and finds what it took before", () => {
    const registry = new SeriesRegistry("t", 2);
    registry.setColumns([{ id: 1, name: "a" }]);
    const codes = Uint32Array.of(1, 1, 2, 3);
    expect(() => registry.registerBlock([codes], 4, new Uint32Array(4))).toThrow("cannot add a series to table t: it has 2 already");
    const into = new Uint32Array(3);
    registry.registerBlock([codes], 3, into);
    expect([...into]).toEqual([0, 0, 1]);
  });

  test("encodes spans of bytes as it encodes each", () => {
    const [one, many] = [registryOf("a", "b"), registryOf("a", "b")];
    const bytes = new TextEncoder().encode("abcabä");
    const spans = Uint32Array.of(9, 0, 1, 9, 0, 3, 9, 3, 4, 9, 2, 2, 9, 4, 7);
    const codes = new Uint32Array(5);
    many.encodeSpans(1, bytes, spans, 1, 3, 5, codes);
    expect([...codes]).toEqual([0, 1, 2, 3, 4].map((i) => one.encodeBytes(1, bytes, spans[3 * i + 1]!, spans[3 * i + 2]!)));
    expect(many.dictionaryOf("b")).toEqual([undefined, "a", "abc", "", "bä"]);
  });

  test("takes strings that only lone surrogates tell apart as one, as files and the log do", () => {
    const registry = registryOf("a");
    expect(registry.register(["x\ud800"])).toBe(registry.register(["x\udfff"]));
    expect(registry.register(["x\ud800"])).toBe(registry.register(["x\ufffd"]));
    expect(registry.register(["\u{1f600}"])).toBe(1);
  });

  test("tells apart whatever is different, over many growths", () => {
    const value = fc.option(fc.string({ unit: "grapheme", maxLength: 2 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value, value), { maxLength: 300 }), (tuples) => {
        const registry = registryOf("a", "b", "c");
        const known = new Map<string, number>();
        for (const tuple of tuples) {
          const key = JSON.stringify(tuple.map((v) => v ?? null));
          const series = registry.register(tuple);
          expect(series).toBe(known.get(key) ?? known.size);
          known.set(key, series);
        }
        expect(registry.count).toBe(known.size);
      }),
      { seed: 8, numRuns: 40 },
    );
  });

  test("takes no new series once it is closed, but those that were acknowledged elsewhere", () => {
    const registry = registryOf("a");
    expect([registry.register(["x"]), registry.isFull]).toEqual([0, false]);
    registry.close();
    expect([registry.register(["x"]), registry.isFull]).toEqual([0, true]);
    expect(() => registry.register(["y"])).toThrow("cannot add a series to table t: it has 1 already, which is the limit");
    const known = new Uint32Array(2);
    registry.registerKnownBlock([Uint32Array.of(registry.encode(0, "y"), registry.encode(0, "x"))], 2, known);
    expect([...known, registry.count]).toEqual([1, 0, 2]);
    expect(() => registry.register(["z"])).toThrow("it has 2 already");
  });

  test("holds a hundred thousand series", () => {
    const registry = registryOf("host", "core");
    for (let i = 0; i < 100_000; i++) registry.register([`host_${i >> 4}`, String(i & 15)]);
    expect(registry.count).toBe(100_000);
    expect(registry.register(["host_6249", "15"])).toBe(99_999);
    expect(registry.dictionaryAt(1)).toHaveLength(17);
  });

  test("says which series have a value, and their order, as series come", () => {
    const registry = registryOf("host", "region");
    for (const [host, region] of [
      ["b", "eu"],
      ["a", "us"],
      ["c", "eu"],
    ] as const)
      registry.register([host, region]);
    const eu = registry.findCode(1, "eu");
    const into = new Uint32Array(3);
    expect([registry.postingsAt(1).countOf(eu), registry.postingsAt(1).list(eu, into, 0), [...into]]).toEqual([2, 2, [2, 0, 0]]);
    expect([...registry.order()]).toEqual([1, 0, 2]);
    expect(registry.order()).toBe(registry.order());
    registry.register(["aa", "eu"]);
    expect([registry.postingsAt(1).countOf(eu), [...registry.order()], registry.findCode(0, "z")]).toEqual([3, [1, 3, 0, 2], -1]);
    expect(registry.tagOf("host", 3)).toBe("aa");
  });

  test("shows workers what it was when they were asked", () => {
    const registry = registryOf("host");
    for (let i = 0; i < 5000; i++) registry.register([`h${i}`]);
    const [host] = registry.view();
    for (let i = 5000; i < 20_000; i++) registry.register([`h${i}`]);
    expect(Array.from({ length: 5000 }, (_, series) => textAt(host!.texts, host!.codes[series]!))).toEqual(
      Array.from({ length: 5000 }, (_, i) => `h${i}`),
    );
    expect(host!.codes.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  test("takes at most 100 bytes a series of ten tags, beside its own text and what growing leaves free", () => {
    const registry = registryOf(...Array.from({ length: 10 }, (_, i) => `tag${i}`));
    const count = 1 << 15; // A power of two: arrays are full.
    for (let i = 0; i < count; i++) registry.register([`host_${i}`, ...Array.from({ length: 9 }, (_, c) => `v${i % (c + 2)}`)]);
    expect(registry.byteLength / count - 10).toBeLessThan(100);
  });
});

test("gives the series of files the numbers that they would have one by one, whatever order they come in", () => {
  const code = fc.nat({ max: 5 });
  const tuples = fc.uniqueArray(fc.tuple(code, code), { maxLength: 30, selector: ([a, b]) => a * 10 + b });
  const file = fc.record({ tuples, isSorted: fc.boolean(), written: fc.option(fc.tuple(code, code)) });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 5 }), (files) => {
      const [registry, reference] = [registryOf("a", "b"), registryOf("a", "b")];
      for (const each of [registry, reference]) {
        for (let value = 0; value < 5; value++) for (let c = 0; c < 2; c++) each.encode(c, `v${value}`);
      }
      for (const { tuples, isSorted, written } of files) {
        const rows = isSorted ? tuples.toSorted(([a, b], [c, d]) => a - c || b - d) : tuples;
        const into = new Uint32Array(rows.length);
        const codes = [0, 1].map((c) => Uint32Array.from(rows, (row) => row[c] ?? 0));
        if (rows.length > 0) registry.registerFileBlock(codes, rows.length, into);
        expect([...into]).toEqual(rows.map((row) => reference.registerCodes(Uint32Array.from(row))));
        if (written !== null)
          expect(registry.registerCodes(Uint32Array.from(written))).toBe(reference.registerCodes(Uint32Array.from(written)));
      }
      expect(registry.count).toBe(reference.count);
      for (let series = 0; series < reference.count; series++) expect(registry.find(tagsOf(reference, series))).toBe(series);
    }),
    { seed: 29, numRuns: 300 },
  );
});
