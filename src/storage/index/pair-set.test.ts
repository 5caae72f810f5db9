import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { PairSet } from "./pair-set.ts";

test("numbers keys in the order in which they came, each once", () => {
  const random = seededRandom(1);
  const set = new PairSet(1 << 20);
  const known = new Map<string, number>();
  for (let i = 0; i < 50_000; i++) {
    const [high, low] = [random.below(300), random.below(100) * 0x1000_0001];
    const key = `${high} ${low >>> 0}`;
    if (!known.has(key)) known.set(key, known.size);
    expect(set.add(high, low >>> 0)).toBe(known.get(key)!);
  }
  expect(set.count).toBe(known.size);
  expect([...known.keys()]).toEqual(Array.from({ length: set.count }, (_, i) => `${set.highs[i]} ${set.lows[i]}`));
});

test("the zero key and keys of all ones are keys like others", () => {
  const set = new PairSet(10);
  expect([set.add(0, 0), set.add(0xffffffff, 0xffffffff), set.add(0, 0)]).toEqual([0, 1, 0]);
});

test("refuses a new key when it is full, and still knows those it has", () => {
  const set = new PairSet(3);
  expect([1, 2, 3, 4, 2].map((low) => set.add(7, low))).toEqual([0, 1, 2, -1, 1]);
  set.clear();
  expect([set.count, set.add(7, 4)]).toEqual([0, 0]);
});
