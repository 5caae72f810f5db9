import { describe, expect, test } from "bun:test";
import type { Vector } from "../../column/vector.ts";
import { PageCache } from "./page-cache.ts";

/** A page of `bytes` bytes. */
function page(bytes: number): Vector {
  return { kind: "number", values: new Int8Array(bytes), validity: undefined };
}

function keysOf(cache: PageCache, keys: readonly number[]): number[] {
  // Looking a page up makes it the newest, so the order of `keys` is the order of use from here on.
  return keys.filter((key) => cache.get(key) !== undefined);
}

describe("a page cache", () => {
  test("drops the page that was not used for longest", () => {
    const cache = new PageCache(30);
    for (const key of [1, 2, 3]) cache.put(key, page(10));
    cache.get(1);
    cache.put(4, page(10));
    expect(keysOf(cache, [1, 2, 3, 4])).toEqual([1, 3, 4]);
    cache.put(5, page(20));
    expect(keysOf(cache, [1, 2, 3, 4, 5])).toEqual([4, 5]);
    expect(cache.bytes).toBe(30);
  });

  test("gives memory back, oldest pages first, and takes it again little by little", () => {
    const cache = new PageCache(160);
    for (let key = 0; key < 16; key++) cache.put(key, page(10));
    cache.giveBack(25);
    expect([cache.bytes, cache.get(2), cache.get(3)]).toEqual([130, undefined, page(10)]);
    cache.put(100, page(10));
    expect(cache.bytes).toBe(130);
    cache.mayGrow();
    cache.put(101, page(10));
    expect(cache.bytes).toBe(140);
    cache.giveBack(1e9);
    cache.put(102, page(1));
    expect(cache.bytes).toBe(0);
    for (let i = 0; i < 100; i++) cache.mayGrow();
    for (let key = 0; key < 100; key++) cache.put(key, page(10));
    expect(cache.bytes).toBe(160);
  });

  test("gives back the very page", () => {
    const cache = new PageCache(100);
    const vector = page(10);
    cache.put(1, vector);
    expect(cache.get(1)).toBe(vector);
    expect(cache.get(2)).toBeUndefined();
  });

  test("replaces a page and counts it once", () => {
    const cache = new PageCache(100);
    cache.put(1, page(10));
    cache.put(1, page(40));
    expect([cache.bytes, cache.get(1)]).toEqual([40, page(40)]);
  });

  test("keeps no page beyond its limit, and drops none for it", () => {
    const cache = new PageCache(30);
    cache.put(1, page(30));
    cache.put(2, page(31));
    expect(keysOf(cache, [1, 2])).toEqual([1]);
    cache.put(3, page(30));
    expect([keysOf(cache, [1, 3]), cache.bytes]).toEqual([[3], 30]);
    const nothing = new PageCache(0);
    nothing.put(1, page(1));
    expect(nothing.bytes).toBe(0);
  });

  test("counts the bytes of every kind of page", () => {
    const validity = new Uint8Array(4);
    const kinds: readonly (readonly [Vector, number])[] = [
      [{ kind: "number", values: new Float64Array(4), validity }, 36],
      [{ kind: "wide", values: new BigInt64Array(4), validity: undefined }, 32],
      [{ kind: "time", base: 0n, offsets: new Float64Array(4), validity }, 36],
      [{ kind: "bytes", offsets: new Uint32Array(5), bytes: new Uint8Array(7), validity }, 31],
      [{ kind: "dictionary", codes: new Uint32Array(4), dictionary: [undefined] }, 16],
    ];
    for (const [vector, bytes] of kinds) {
      const cache = new PageCache(100);
      cache.put(1, vector);
      expect(cache.bytes).toBe(bytes);
    }
  });

  test.each([2, 1_000_000])("forgets the pages of a range of keys, %d of them, and what lies in it counts no more", (count) => {
    const cache = new PageCache(100);
    for (const key of [1, 2, 3, 1_000_002]) cache.put(key, page(10));
    cache.removeRange(2, count);
    expect([keysOf(cache, [1, 2, 3, 1_000_002]), cache.bytes]).toEqual([[1, 1_000_002], 20]);
    cache.removeRange(0, 0);
    expect(cache.bytes).toBe(20);
  });

  test("says when scans have made much, whether it is kept or not", () => {
    let calls = 0;
    const cache = new PageCache(0, () => calls++);
    const mebibyte = page(1 << 20);
    for (let i = 0; i < 63; i++) cache.put(i, mebibyte);
    expect(calls).toBe(0);
    cache.passed(1 << 20);
    expect(calls).toBe(1);
    for (let i = 0; i < 64; i++) cache.put(i, mebibyte);
    expect(calls).toBe(2);
  });

  test("gives no key out twice", () => {
    const cache = new PageCache(0);
    expect([cache.takeKeys(10), cache.takeKeys(0), cache.takeKeys(5), cache.takeKeys(1)]).toEqual([0, 10, 10, 15]);
  });
});
