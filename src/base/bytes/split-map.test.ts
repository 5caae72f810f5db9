/** A split map holds what a map holds, and few of its parts grow at a time. */
import { expect, test } from "bun:test";
import { type SplitKey, SplitMap } from "./split-map.ts";

test("it has what was set, among few and among many", () => {
  const keyOf = [(i: number) => i, (i: number) => i + 0.5, (i: number) => `text ${i}`, (i: number) => 2n ** 60n + BigInt(i)] as const;
  for (const count of [0, 100, 32_767, 32_768, 60_000]) {
    for (const key of keyOf) {
      const map = new SplitMap<number>();
      for (let i = 0; i < count; i++) map.set(key(i), i);
      let wrong = 0;
      for (let i = 0; i < count; i++) if (map.get(key(i)) !== i || map.has(key(i + count))) wrong++;
      expect(wrong).toBe(0);
      expect(map.sizes.reduce((sum, size) => sum + size)).toBe(count);
    }
  }
});

test("keys are told apart as by a map, among few and among many", () => {
  for (const others of [0, 40_000]) {
    const map = new SplitMap<string>();
    for (let i = 1; i <= others; i++) map.set(i * 3.5, "other");
    const keys: readonly SplitKey[] = [undefined, true, false, 0, 1n, "1", Number.NaN, 2n ** 70n];
    for (const [i, key] of keys.entries()) map.set(key, `key ${i}`);
    for (const [i, key] of keys.entries()) expect(map.get(key)).toBe(`key ${i}`);
    expect([map.get(-0), map.get(-Number.NaN), map.has(1)]).toEqual(["key 3", "key 6", false]);
  }
});

test("parts have unequal shares, so that few of them reach a size at the same time", () => {
  for (const key of [(i: number) => i, (i: number) => i * 1e9, (i: number) => `text ${i}`]) {
    const map = new SplitMap<true>();
    const before = 100_000;
    for (let i = 0; i < before; i++) map.set(key(i), true);
    let atOnce = 0;
    let sizes = map.sizes;
    for (let round = 0; round < 10; round++) {
      const from = before + (round * before) / 10;
      for (let i = from; i < from + before / 10; i++) map.set(key(i), true);
      const now = map.sizes;
      const grown = now.filter((size, m) => Math.floor(Math.log2(size)) > Math.floor(Math.log2(sizes[m] ?? 1)));
      atOnce = Math.max(atOnce, grown.length);
      sizes = now;
    }
    expect(atOnce).toBeLessThan(100);
  }
});
