import { expect, test } from "bun:test";
import type { Vector } from "../../column/vector.ts";
import { PageCache } from "./page-cache.ts";

function page(bytes: number): Vector {
  return { kind: "number", values: new Int8Array(bytes), validity: undefined };
}

/** A cache of 30 bytes, and the keys that it let go. */
function cacheOf(): { readonly cache: PageCache; readonly hold: (key: number, bytes: number) => void; readonly gone: number[] } {
  const cache = new PageCache(30);
  const gone: number[] = [];
  return { cache, hold: (key, bytes) => cache.hold(key, bytes, () => gone.push(key)), gone };
}

test("what others hold goes when it was not used for longest, beside pages", () => {
  const { cache, hold, gone } = cacheOf();
  hold(1, 10);
  cache.put(2, page(10));
  hold(3, 10);
  cache.get(1);
  cache.put(4, page(10));
  expect([gone, cache.get(2), cache.bytes]).toEqual([[], undefined, 30]);
  hold(5, 20);
  expect([gone, cache.bytes]).toEqual([[3, 1], 30]);
});

test("what is too large goes at once", () => {
  const { cache, hold, gone } = cacheOf();
  hold(1, 10);
  hold(2, 31);
  expect([gone, cache.bytes]).toEqual([[1, 2], 0]);
});

test("what its holder has given up is not let go again", () => {
  const { cache, hold, gone } = cacheOf();
  hold(1, 10);
  cache.remove(1);
  cache.remove(1);
  hold(2, 30);
  expect([gone, cache.bytes]).toEqual([[], 30]);
});
