import { describe, expect, test } from "bun:test";
import { HASHED, hashBytes } from "./key-hash.ts";
import { BLOCK_BYTES, buildFilter, mayHold } from "./key-filter.ts";
import { PairSet } from "./pair-set.ts";

/** Keys like those of a column of counters, which differ in few bits. */
function countersFrom(start: number, count: number): PairSet {
  const keys = new PairSet(1 << 20);
  for (let i = 0; i < count; i++) keys.add(0, start + i);
  return keys;
}

function passShare(filter: Uint8Array, from: number, count: number): number {
  let passed = 0;
  for (let i = 0; i < count; i++) if (mayHold(filter, 0, from + i)) passed++;
  return passed / count;
}

describe("a filter", () => {
  test("holds every key it was built of", () => {
    const keys = countersFrom(1000, 5000);
    keys.add(0xffffffff, 0xffffffff);
    keys.add(0x80000000, 0);
    const filter = buildFilter(keys, 0.01);
    for (let i = 0; i < keys.count; i++) expect(mayHold(filter, keys.highs[i]!, keys.lows[i]!)).toBe(true);
  });

  test.each([
    [0.1, 0.07, 0.13],
    [0.01, 0.005, 0.016],
    [0.001, 0.0002, 0.0025],
  ])("lets about the share of absent keys pass that was asked for: %d", (rate, min, max) => {
    const share = passShare(buildFilter(countersFrom(0, 10_000), rate), 1_000_000, 100_000);
    expect(share).toBeGreaterThan(min);
    expect(share).toBeLessThan(max);
  });

  test("of no keys is one block that nothing passes", () => {
    const filter = buildFilter(new PairSet(1), 0.01);
    expect(filter.length).toBe(BLOCK_BYTES);
    expect(passShare(filter, 0, 1000)).toBe(0);
  });

  test("has bounded bits a key, whatever rate is asked for", () => {
    const keys = countersFrom(0, 8192);
    expect(buildFilter(keys, 1).length).toBe((8192 * 2) / 8);
    expect(buildFilter(keys, 1e-300).length).toBe((8192 * 64) / 8);
  });
});

test("hashes are those of FORMAT.md", () => {
  const hash = (text: string): string => {
    const bytes = new TextEncoder().encode(text);
    hashBytes(bytes, 0, bytes.length);
    return `${HASHED[0]!.toString(16)} ${HASHED[1]!.toString(16)}`;
  };
  // Files of the first version hold these: they never change.
  expect(["", "a", "error", "手机号"].map(hash)).toMatchInlineSnapshot(`
    [
      "ab3e7c0b e858167c",
      "2a681819 19c3aaa7",
      "fd013487 fda0c1e2",
      "7189838f bd0bd3f0",
    ]
  `);
  const filter = buildFilter(countersFrom(1, 3), 0.01);
  expect(Buffer.from(filter).toString("hex")).toMatchInlineSnapshot(`"000003101021000001008100400420000000111000c000200800400101400400"`);
});
