/** Series found by lists are those that a look at every series finds. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TagPredicate } from "../../../table/scan.ts";
import { SeriesRegistry } from "../../series/series-registry.ts";
import { seriesMeeting } from "./series-selection.ts";

const TAGS = ["host", "rack", "zone"] as const;

/** Tags of series i: a host of its own, one of 16 racks, nearly always zone 0. */
function tagsOf(i: number): readonly (string | undefined)[] {
  return [`h${i}`, i % 17 === 0 ? undefined : `r${i % 16}`, `z${i % 100 === 0 ? i / 100 : 0}`];
}

function registryOf(count: number): SeriesRegistry {
  const registry = new SeriesRegistry("t");
  registry.setColumns(TAGS.map((name, i) => ({ id: i + 1, name })));
  for (let i = 0; i < count; i++) registry.register(tagsOf(i));
  return registry;
}

const SERIES = 5000;
const registry = registryOf(SERIES);

function meets(series: number, predicate: TagPredicate): boolean {
  const value = tagsOf(series)[TAGS.findIndex((name) => name === predicate.column)];
  return predicate.kind === "in" ? predicate.values.includes(value) : predicate.test(value);
}

describe("the series that meet predicates", () => {
  test("are all when there is none", () => expect(seriesMeeting(registry, [])).toBeUndefined());

  test("are those that a look at every series finds, ascending", () => {
    const values = {
      host: fc.nat(SERIES + 50).map((i) => `h${i}`),
      rack: fc.option(
        fc.nat(17).map((i) => `r${i}`),
        { nil: undefined },
      ),
      zone: fc.nat(60).map((i) => `z${i}`),
    };
    const predicate = fc.constantFrom(...TAGS).chain(
      (column): fc.Arbitrary<TagPredicate> =>
        fc.oneof(
          fc
            .array(values[column] as fc.Arbitrary<string | undefined>, { maxLength: 4 })
            .map((some) => ({ kind: "in" as const, column, values: some })),
          fc
            .constantFrom("1", "r1", "")
            .map((end) => ({ kind: "test" as const, column, test: (value: string | undefined) => value?.endsWith(end) === true })),
        ),
    );
    fc.assert(
      fc.property(fc.array(predicate, { minLength: 1, maxLength: 4 }), (predicates) => {
        const want = Array.from({ length: SERIES }, (_, s) => s).filter((s) => predicates.every((one) => meets(s, one)));
        expect([...(seriesMeeting(registry, predicates) ?? [])]).toEqual(want);
      }),
      { seed: 11, numRuns: 150 },
    );
  });

  test("are found by lists of the one tag that tells them apart", () => {
    const fresh = registryOf(SERIES);
    const before = fresh.byteLength;
    const all = TAGS.map((column, i): TagPredicate => ({ kind: "in", column, values: [tagsOf(4321)[i]] }));
    expect([...(seriesMeeting(fresh, all) ?? [])]).toEqual([4321]);
    const lists = fresh.byteLength - before;
    expect(lists).toBe(fresh.postingsAt(0).byteLength);
  });

  test("cost no list when a value is that of no series", () => {
    const fresh = registryOf(SERIES);
    const before = fresh.byteLength;
    expect(seriesMeeting(fresh, [{ kind: "in", column: "rack", values: ["none"] }])).toEqual(new Uint32Array(0));
    expect(fresh.byteLength).toBe(before);
  });
});
