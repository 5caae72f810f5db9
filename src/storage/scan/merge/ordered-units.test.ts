import { expect, test } from "bun:test";
import fc from "fast-check";
import { orderUnits, type UnitGroup } from "./ordered-units.ts";
import { RunList } from "../runs/run-list.ts";

/** A run: slot and first time. */
type Run = readonly [slot: number, first: number];

function groupOf(singles: readonly Run[], clusters: readonly (readonly Run[])[]): UnitGroup {
  const runs = new RunList();
  const push = ([slot, first]: Run): number => {
    runs.push(slot, 0, 0, 1, first, first);
    return runs.count - 1;
  };
  return { runs, singles: Uint32Array.from(singles, push), clusters: clusters.map((cluster) => cluster.map(push)) };
}

/** Units as "slot group first kind", in their order. */
function unitsOf(groups: readonly UnitGroup[], start: number, end: number): string[] {
  const units = orderUnits(groups, start, end);
  return Array.from({ length: units.count }, (_, i) => {
    const group = groups[units.groups[i]!]!;
    const run = units.runs[i]!;
    const cluster = group.clusters[units.clusters[i]!];
    const first = Math.min(...(cluster ?? [run]).map((index) => group.runs.firsts[index]!));
    return `${group.runs.slots[run]} ${units.groups[i]} ${first} ${cluster === undefined ? "run" : "cluster"}`;
  });
}

test("units come by slot, group and first time", () => {
  const groups = [
    groupOf(
      [
        [5, 9],
        [4, 1],
        [5, 2],
      ],
      [
        [
          [5, 7],
          [5, 6],
        ],
      ],
    ),
    groupOf(
      [
        [5, 0],
        [4, 3],
      ],
      [],
    ),
  ];
  expect(unitsOf(groups, 4, 6)).toEqual(["4 0 1 run", "4 1 3 run", "5 0 2 run", "5 0 6 cluster", "5 0 9 run", "5 1 0 run"]);
});

test("there may be none", () => {
  expect(unitsOf([], 0, 10)).toEqual([]);
  expect(unitsOf([groupOf([], [])], 3, 3)).toEqual([]);
});

test("any units are sorted", () => {
  const run = fc.tuple(fc.integer({ min: 3, max: 8 }), fc.nat(20));
  const clusters = fc.array(fc.tuple(fc.integer({ min: 3, max: 8 }), fc.nat(20), fc.nat(20)), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.array(run, { maxLength: 20 }), clusters), { maxLength: 3 }), (parts) => {
      const groups = parts.map(([singles, pairs]) =>
        groupOf(
          singles,
          pairs.map(([slot, a, b]): Run[] => [
            [slot, a],
            [slot, b],
          ]),
        ),
      );
      const keyOf = (unit: string): number[] => unit.split(" ").slice(0, 3).map(Number);
      const units = unitsOf(groups, 3, 9);
      const sorted = units.toSorted((a, b) => {
        const [x, y] = [keyOf(a), keyOf(b)];
        return x[0]! - y[0]! || x[1]! - y[1]! || x[2]! - y[2]!;
      });
      expect(units.map(keyOf)).toEqual(sorted.map(keyOf));
      expect(units.length).toBe(parts.reduce((sum, [singles, pairs]) => sum + singles.length + pairs.length, 0));
    }),
    { seed: 51, numRuns: 100 },
  );
});
