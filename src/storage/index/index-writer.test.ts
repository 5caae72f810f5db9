import { expect, test } from "bun:test";
import { blockEnds } from "./index-writer.ts";

/** Ends of blocks for pages that end at these rows. */
function check(pageEnds: readonly number[], granularity: number, want: readonly number[]): void {
  expect(blockEnds(Uint32Array.from(pageEnds), granularity)).toEqual(want);
}

test("a page longer than the granularity is cut in equal parts", () => {
  check([16_384, 32_768], 10_240, [8192, 16_384, 24_576, 32_768]);
  check([1000], 300, [250, 500, 750, 1000]);
  check([10], 3, [3, 5, 8, 10]);
});

test("pages shorter than the granularity come together, whole", () => {
  check([100, 200, 300, 400], 200, [200, 400]);
  check([100, 200, 300], 1000, [300]);
  check([100, 200, 350], 200, [200, 350]);
});

test("a long page begins a block of its own", () => {
  check([100, 1100, 1200], 500, [100, 600, 1100, 1200]);
});

test("no rows have no block", () => check([], 100, []));
