import { describe, expect, test } from "bun:test";
import { LISTED_BY_HASH_MAX, SeriesListing } from "./series-listing.ts";

const KEYS = [30n, 10n, 2n ** 64n + 1n, 20n, 10n];

function check(numbers: readonly number[], count: number, want: readonly number[] | undefined): void {
  const listing = new SeriesListing((series) => KEYS[series] ?? 0n);
  const listed = listing.listed(Uint32Array.from(numbers), count);
  expect(listed === undefined ? undefined : [...listed]).toEqual(want as number[]);
}

describe("series are listed", () => {
  test("by their key, equal ones as they came", () => check([0, 1, 2, 3, 4], 5, [1, 4, 3, 0, 2]));
  test("some of them as well", () => check([0, 2, 3], 5, [3, 0, 2]));
  test("not when there are none", () => check([], 5, []));
  test("by their tags when the table has many", () => check([0, 1], LISTED_BY_HASH_MAX + 1, undefined));

  test("anew when more have come", () => {
    const listing = new SeriesListing((series) => KEYS[series] ?? 0n);
    expect([...(listing.listed(Uint32Array.of(0, 1), 2) ?? [])]).toEqual([1, 0]);
    expect([...(listing.listed(Uint32Array.of(0, 1, 2, 3), 4) ?? [])]).toEqual([1, 3, 0, 2]);
  });
});
