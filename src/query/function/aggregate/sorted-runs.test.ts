/** Runs are merged to what one sort of all values would give, in steps of some thousand. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { SortedRuns } from "./sorted-runs.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";

interface Row {
  readonly key: number;
  readonly position: number;
}

const byKey = (a: Row, b: Row): number => a.key - b.key;

/** Rows whose keys come in no order and often repeat. */
function rowsOf(count: number, keys: number, seed = 1): Row[] {
  return Array.from({ length: count }, (_, position) => ({ key: ((position + seed) * 7919) % keys, position }));
}

test("values come in order, equal ones as they came, at every length around those of runs", () => {
  for (const length of [0, 1, 2, 4095, 4096, 4097, 8192, 12_288, 12_289, 50_000]) {
    const rows = rowsOf(length, 101);
    const runs = new SortedRuns(byKey);
    for (const row of rows) runs.add(row);
    expect(atOnce(runs.steps())).toEqual(rows.sort(byKey));
  }
});

test("values may be added after they were asked for", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9000), { maxLength: 6 }), fc.integer({ min: 1, max: 500 }), (lengths, keys) => {
      const runs = new SortedRuns(byKey);
      const all: Row[] = [];
      for (const length of lengths) {
        for (const { key } of rowsOf(length, keys, all.length)) {
          const row = { key, position: all.length };
          all.push(row);
          runs.add(row);
        }
        expect(atOnce(runs.steps())).toEqual(all.toSorted(byKey));
      }
    }),
    { numRuns: 20 },
  );
});

test("no step compares more than some ten thousand times", () => {
  let comparisons = 0;
  const runs = new SortedRuns<Row>((a, b) => {
    comparisons++;
    return byKey(a, b);
  });
  let longest = 0;
  for (const row of rowsOf(300_000, 299_993)) {
    comparisons = 0;
    runs.add(row);
    longest = Math.max(longest, comparisons);
  }
  const steps = runs.steps();
  for (let isDone = false; !isDone; ) {
    comparisons = 0;
    isDone = steps.next().done === true;
    longest = Math.max(longest, comparisons);
  }
  expect(longest).toBeLessThan(60_000);
});
