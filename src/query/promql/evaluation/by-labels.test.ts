import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByLabels, type LabelChoice } from "./by-labels.ts";
import { labelsKey, onlyLabels, withoutLabels } from "./labels.ts";
import type { Labels } from "./series-source.ts";

const NAMES = ["a", "b", "c", "d"];
const LABELS: fc.Arbitrary<Labels> = fc
  .array(fc.constantFrom("", "", "x", "y", "xy"), { minLength: 4, maxLength: 4 })
  .map((values) => NAMES.map((name, at) => [name, values[at] ?? ""] as const).filter(([, value]) => value !== ""));
const CHOICE: fc.Arbitrary<LabelChoice> = fc.record({
  names: fc.subarray(NAMES).map((names) => new Set(names)),
  areKept: fc.boolean(),
});

/** What a map from texts gives. */
function plainPlaces(all: readonly Labels[], { names, areKept }: LabelChoice): number[] {
  const places = new Map<string, number>();
  return all.map((labels) => {
    const key = labelsKey(areKept ? onlyLabels(labels, names) : withoutLabels(labels, names));
    const known = places.get(key) ?? places.size;
    places.set(key, known);
    return known;
  });
}

test("sets of labels are told apart as their texts are", () => {
  fc.assert(
    fc.property(fc.array(LABELS, { maxLength: 60 }), CHOICE, (all, choice) => {
      const index = new ByLabels<{ readonly place: number }>(choice);
      const found = all.map((labels) => index.getOrMake(labels, () => ({ place: index.all.length })).place);
      expect(found).toEqual(plainPlaces(all, choice));
      expect(all.map((labels) => index.get(labels)?.place)).toEqual(found);
      expect(index.all.map(({ place }) => place)).toEqual([...new Set(found)]);
    }),
    { seed: 3, numRuns: 500 },
  );
});

test("what was not put in is not found, and is not put in by asking", () => {
  fc.assert(
    fc.property(fc.array(LABELS, { maxLength: 20 }), fc.array(LABELS, { maxLength: 20 }), CHOICE, (put, asked, choice) => {
      const index = new ByLabels<object>(choice);
      for (const labels of put) index.getOrMake(labels, () => ({}));
      const size = index.all.length;
      const places = plainPlaces([...put, ...asked], choice);
      const known = new Set(places.slice(0, put.length));
      for (const [at, labels] of asked.entries()) expect(index.get(labels) !== undefined).toBe(known.has(places[put.length + at] ?? -1));
      expect(index.all).toHaveLength(size);
    }),
    { seed: 4, numRuns: 300 },
  );
});
