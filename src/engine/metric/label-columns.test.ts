/** Labels read one by one, late, or together are what the label sets say. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { encodeLabels } from "../../storage/series/label-set.ts";
import { SeriesRegistry } from "../../storage/series/series-registry.ts";
import { LabelColumns } from "./label-columns.ts";

/** Ids of the labels in the region; the table knows them by other ids, in another order. */
const LABELS: ReadonlyMap<string, number> = new Map([
  ["c", 40],
  ["a", 3],
  ["b", 1300],
]);

test("labels are those of the label sets, whenever they are asked for", () => {
  const value = fc.option(fc.string({ unit: fc.constantFrom("a", "b", "1", ":", "é", "\u{1f600}"), maxLength: 3 }), { nil: undefined });
  const set = fc.record({ a: value, b: value, c: value });
  const ask = fc.constantFrom("a", "b", "c", "all", "order");
  const part = fc.record({ sets: fc.array(set, { minLength: 1, maxLength: 300 }), asks: fc.array(ask, { maxLength: 2 }) });
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const region = new SeriesRegistry("region");
      region.setColumns([{ id: 0, name: "labels" }]);
      const numbers: number[] = [];
      const expected: Readonly<Record<string, string | undefined>>[] = [];
      const columns = new LabelColumns({
        sets: () => ({ texts: region.textsAt(0), codes: region.codesAt(0), regionSeries: Uint32Array.from(numbers) }),
        labelId: (name) => LABELS.get(name) ?? -1,
      });
      columns.setColumns([...LABELS.keys()].map((name, id) => ({ id, name })));
      for (const { sets, asks } of parts) {
        for (const labels of sets) {
          numbers.push(region.register([textOf(labels)]));
          expected.push(labels);
        }
        columns.grow(numbers.length);
        for (const one of asks) {
          if (one === "all") columns.view();
          else if (one === "order") expect(columns.order().toSorted()).toEqual(Uint32Array.from(numbers.keys()));
          else expect(columns.dictionaryOf(one).indexOf("missing")).toBe(-1);
        }
      }
      for (const [series, labels] of expected.entries()) {
        for (const name of LABELS.keys()) expect(columns.tagOf(name, series)).toBe(labels[name]);
      }
      for (const name of LABELS.keys()) {
        const some = expected.find((labels) => labels[name] !== undefined)?.[name];
        if (some !== undefined) expect([columns.hasValue(name, some), columns.hasValue(name, "missing")]).toEqual([true, false]);
      }
    }),
    { seed: 31, numRuns: 60 },
  );
});

/** As the region has it: labels by ascending id. */
function textOf(labels: Readonly<Record<string, string | undefined>>): string | undefined {
  const there = [...LABELS].filter(([name]) => labels[name] !== undefined).sort(([, a], [, b]) => a - b);
  return encodeLabels(
    there.map(([, id]) => id),
    there.map(([name]) => labels[name] ?? ""),
  );
}
