/** Estimates of groups are those of values that come as often as each other; parts are put together without gaps. */
import { expect, test } from "bun:test";
import { groupsToCome, wholeOf } from "./parts.ts";

test("groups to come are as many as there are values, or rows", () => {
  for (const values of [20_000, 200_000, 1_000_000, 50_000_000]) {
    const first = values * (1 - Math.exp(-30_000 / values));
    const want = values * (1 - Math.exp(-5_000_000 / values));
    const before = { groups: Math.round(values * (1 - Math.exp(-15_000 / values))), rows: 15_000 };
    const now = { groups: Math.round(first), rows: 30_000 };
    expect(groupsToCome(now, undefined, 5_000_000) / want).toBeCloseTo(1, values > 1_000_000 ? 0 : 1);
    expect(groupsToCome(now, before, 5_000_000) / want).toBeCloseTo(1, values > 1_000_000 ? 0 : 1);
  }
  expect(groupsToCome({ groups: 1000, rows: 1000 }, undefined, 50_000)).toBe(50_000);
  expect(groupsToCome({ groups: 1, rows: 1000 }, undefined, 50_000)).toBeCloseTo(1, 6);
});

test("of some frequent values among many rare ones groups go on growing", () => {
  const grown = (rows: number): number => Math.round(3 * rows ** 0.85);
  const [before, now] = [15_000, 30_000].map((rows) => ({ rows, groups: grown(rows) }));
  if (now !== undefined) expect(groupsToCome(now, before, 5_000_000) / grown(5_000_000)).toBeCloseTo(1, 1);
});

test("parts that follow each other are one", () => {
  const part = (slot: number, time: bigint) => ({
    slots: { start: slot, end: slot + 2 },
    timeRange: { start: time, end: time + 10n },
    rowCount: 5,
  });
  expect(wholeOf([part(4, 0n), part(6, 0n)])).toEqual([{ slots: { start: 4, end: 8 }, timeRange: { start: 0n, end: 10n }, rowCount: 10 }]);
  expect(wholeOf([part(0, 10n), part(0, 20n)])).toEqual([
    { slots: { start: 0, end: 2 }, timeRange: { start: 10n, end: 30n }, rowCount: 10 },
  ]);
  expect(() => wholeOf([])).toThrow("there are parts");
});
