import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { registryOf, SERIES_TAGS } from "../../../test/support/storage/table.ts";
import { textAt } from "../../column/text-table.ts";
import { decodeTombstones, encodeTombstones } from "../sst/series/tombstone-blob.ts";
import { TombstoneBuilder } from "./tombstone-builder.ts";
import type { TombstoneSet } from "./tombstone-set.ts";

/** A range: series, first and last time, age. */
type Range = readonly [series: number, first: number, last: number, age: number];

const TIMES = 40;
const range: fc.Arbitrary<Range> = fc
  .tuple(fc.nat(3), fc.nat(TIMES - 1), fc.nat(12), fc.nat(5))
  .map(([series, first, length, age]) => [series, first, Math.min(TIMES - 1, first + length), age]);

function setOf(ranges: readonly Range[], base = 0n): TombstoneSet | undefined {
  const builder = new TombstoneBuilder(base);
  for (const [series, first, last, age] of ranges) builder.add(series, first, last, age);
  return builder.finish();
}

/** Newest age at each time of each series, the slow way: -1 where nothing is deleted. */
function painted(ranges: readonly Range[]): number[][] {
  return [0, 1, 2, 3].map((series) =>
    Array.from({ length: TIMES }, (_, time) =>
      Math.max(-1, ...ranges.filter(([s, first, last]) => s === series && first <= time && time <= last).map(([, , , age]) => age)),
    ),
  );
}

/** The same, read from a set; ranges must ascend and lie apart. */
function paintedBy(set: TombstoneSet | undefined): number[][] {
  return [0, 1, 2, 3].map((series) => {
    const ages = new Array<number>(TIMES).fill(-1);
    const position = set?.positionOf(series) ?? -1;
    if (set === undefined || position < 0) return ages;
    for (let i = set.startOf(position), before = -1; i < set.ends[position]!; i++) {
      expect(set.firsts[i]!).toBeGreaterThan(before);
      before = set.lasts[i]!;
      for (let time = set.firsts[i]!; time <= before; time++) ages[time] = set.ages?.[i] ?? 0;
    }
    return ages;
  });
}

describe("ranges", () => {
  test("in any order cover each time by the newest of them", () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 30 }), (ranges) => {
        expect(paintedBy(setOf(ranges))).toEqual(painted(ranges));
      }),
      { seed: 3, numRuns: 400 },
    );
  });

  test("that touch and are of one age become one", () => {
    const set = setOf([
      [1, 5, 6, 1],
      [1, 0, 4, 1],
      [1, 7, 7, 2],
      [1, 9, 9, 2],
    ]);
    expect([[...(set?.firsts ?? [])], [...(set?.lasts ?? [])]]).toEqual([
      [0, 7, 9],
      [6, 7, 9],
    ]);
  });

  test("are none when none were added", () => expect(setOf([])).toBeUndefined());

  test("are found by the first time that they may cover", () => {
    const set = setOf([
      [2, 3, 5, 0],
      [2, 8, 8, 0],
      [4, 1, 1, 0],
    ]);
    const found = [0, 3, 5, 6, 8, 9].map((time) => set?.firstFrom(set.positionOf(2), time));
    expect(found).toEqual([0, 0, 0, 1, 1, 2]);
    expect([set?.positionOf(3), set?.count, set?.range()]).toEqual([-1, 3, { min: 1, max: 8 }]);
  });

  test("are cut at spans, which may overlap", () => {
    const span = fc.tuple(fc.integer({ min: -5, max: TIMES + 5 }), fc.nat(20)).map(([min, length]) => ({ min, max: min + length }));
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 20 }), fc.array(span, { maxLength: 4 }), (ranges, spans) => {
        const within = (time: number): boolean => spans.some(({ min, max }) => min <= time && time <= max);
        const want = painted(ranges).map((ages) => ages.map((age, time) => (age >= 0 && within(time) ? 0 : -1)));
        expect(paintedBy(setOf(ranges)?.within(spans))).toEqual(want);
      }),
      { seed: 4, numRuns: 300 },
    );
  });
});

describe("tombstones of a file", () => {
  const registry = registryOf();
  for (const tags of SERIES_TAGS) registry.register(tags);
  const encoded = (set: TombstoneSet): Uint8Array => encodeTombstones(set, registry.view());
  const base = 1_700_000_000_000_000_000n;
  const some = setOf(
    [
      [3, 0, 5_000_000_000_000_000, 0],
      [3, 5_000_000_000_000_002, 5_000_000_000_000_002, 0],
      [1, 7, 9, 0],
    ],
    base,
  )!;

  test("come back with their series", () => {
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 30 }), (ranges) => {
        const set = setOf(
          ranges.map(([series, first, last]) => [series, first, last, 0] as const),
          base,
        )!;
        const { series, firsts, lasts } = decodeTombstones(encoded(set));
        const codes = registry.columnIds().map((_, c) => Array.from(set.series, (s) => registry.dictionaryAt(c)[registry.codesAt(c)[s]!]));
        expect(series.dictionaries.map((dictionary, c) => Array.from(series.codes[c]!, (code) => textAt(dictionary, code)))).toEqual(codes);
        expect([firsts, lasts, series.ends, series.timeBase]).toEqual([set.firsts, set.lasts, set.ends, set.base]);
      }),
      { seed: 5, numRuns: 100 },
    );
  });

  test("hold long ranges and ends of the 64-bit range", () => {
    const { firsts, lasts } = decodeTombstones(encoded(some));
    expect([[...firsts], [...lasts]]).toEqual([[...some.firsts], [...some.lasts]]);
    const low = setOf([[0, 5_000_000_000_000_000, 5_000_000_000_000_000, 0]], -(2n ** 63n) - 4_000_000_000_000_000n)!;
    expect(decodeTombstones(encoded(low)).series.timeBase).toBe(low.base);
  });

  test("are refused when they are cut, or of another version", () => {
    const bytes = encoded(some);
    for (let length = 0; length < bytes.length; length++) expect(() => decodeTombstones(bytes.subarray(0, length)), `${length}`).toThrow();
    bytes[0] = 9;
    expect(() => decodeTombstones(bytes)).toThrow("version 9");
  });
});
