import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Chunk } from "./chunk.ts";
import { clusteredBySeries } from "./cluster-chunks.ts";

interface Item {
  readonly chunk: Chunk;
  readonly name: string;
}

/** Only what is looked at. */
function item(name: string, series: readonly number[]): Item {
  return { name, chunk: { rowCount: series.length, series: Uint32Array.from(series) } as Pick<Chunk, "rowCount" | "series"> as Chunk };
}

function check(chunks: Readonly<Record<string, readonly number[]>>, want: string): void {
  const items = Object.entries(chunks).map(([name, series]) => item(name, series));
  expect(clusteredBySeries(items, 0).map(({ name }) => name)).toEqual([...want]);
}

describe("chunks", () => {
  test("of requests that come again are brought together", () =>
    check({ a: [0, 1], b: [2, 3], c: [5, 4], d: [1, 0], e: [2, 3], f: [4], g: [0, 1] }, "adgbecf"));
  test("stay in their order where ranges meet through others", () => check({ a: [4, 5], b: [0, 1], c: [1, 4], d: [0] }, "abcd"));
  test("of other series stay apart although one is between", () => check({ a: [9], b: [0, 4], c: [9, 10], d: [5, 8] }, "bdac"));
  test("that are few are left alone", () => check({ a: [5], b: [1] }, "ab"));
});

test("few rows are left as they are", () => {
  const items = [item("a", [5]), item("b", [1]), item("c", [5])];
  expect(clusteredBySeries(items)).toBe(items);
});

test("those that share a series never change places, and none is lost", () => {
  const chunk = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 });
  const property = fc.property(fc.array(chunk, { maxLength: 20 }), (chunks) => {
    const items = chunks.map((series, age) => item(String(age), series));
    const ages = clusteredBySeries(items, 0).map(({ name }) => Number(name));
    expect(ages.toSorted((a, b) => a - b)).toEqual(chunks.map((_, age) => age));
    for (const [at, age] of ages.entries()) {
      for (const later of ages.slice(at + 1)) {
        const isShared = (chunks[later] as readonly number[]).some((series) => chunks[age]?.includes(series) === true);
        if (isShared) expect(later).toBeGreaterThan(age);
      }
    }
  });
  fc.assert(property, { seed: 20261121, numRuns: 500 });
});
