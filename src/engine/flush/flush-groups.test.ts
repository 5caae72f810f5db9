import { expect, test } from "bun:test";
import { largestOf } from "./flush-groups.ts";

/** What `largestOf` means. */
function sorted(regions: readonly { readonly activeBytes: number }[]): readonly { readonly activeBytes: number }[] {
  return regions.toSorted((a, b) => b.activeBytes - a.activeBytes).slice(0, 512);
}

test("the largest of few and of many, whose sizes differ or not", () => {
  let seed = 1;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (const count of [0, 1, 2, 511, 512, 513, 700, 3000]) {
    for (const sizes of [1, 2, 5, 400, 1_000_000]) {
      const regions = Array.from({ length: count }, (_, id) => ({ id, activeBytes: 1 + random(sizes) }));
      expect<unknown>(largestOf(regions)).toEqual(sorted(regions));
    }
  }
});
