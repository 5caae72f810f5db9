/** Rows are found by their keys as a map of arrays finds them. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { NO_ROW, RowIndex } from "./row-index.ts";

const words = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -20, max: 20 }) },
  { weight: 1, arbitrary: fc.constantFrom(0x7fff_ffff, -0x8000_0000, 0x20_0000, -0x20_0000, 0x1f_ffff) },
  { weight: 1, arbitrary: fc.integer() },
);
const keys = (width: number): fc.Arbitrary<readonly number[]> => {
  const free = fc.tuple(...Array.from({ length: width }, () => words)).map((key) => [...key]);
  // High words that say the sign alone, so that numbers lie close together.
  return width === 2
    ? fc.oneof(
        free,
        fc.integer({ min: -40, max: 40 }).map((low) => [low, low >> 31]),
      )
    : free;
};
const rows = fc.integer({ min: 1, max: 4 }).chain((width) =>
  fc.record({
    width: fc.constant(width),
    held: fc.array(fc.tuple(keys(width), fc.integer({ min: 0, max: 5 })), { maxLength: 60 }),
    asked: fc.array(fc.tuple(keys(width), fc.integer({ min: 0, max: 5 })), { maxLength: 40 }),
    piece: fc.integer({ min: 1, max: 30 }),
    isSet: fc.boolean(),
    hasNulls: fc.boolean(),
  }),
);

test("rows are found by their keys, in their order", () => {
  fc.assert(
    fc.property(rows, ({ width, held, asked, piece, isSet, hasNulls }) => {
      const presentOf = (some: readonly (readonly [unknown, number])[]): Uint8Array | undefined =>
        hasNulls ? Uint8Array.from(some, ([, chance]) => (chance === 0 ? 0 : 1)) : undefined;
      const present = presentOf(held);
      const want = new Map<string, number[]>();
      for (const [row, [key]] of held.entries()) {
        if (present?.[row] === 0) continue;
        const text = key.map((word) => word | 0).join();
        want.set(text, [...(want.get(text) ?? []), row]);
      }
      let counted = 0;
      const reserve = (bytes: number): void => void (counted += bytes);
      const own = { words: Int32Array.from(held.flatMap(([key]) => key)), width, rowCount: held.length, present };
      const index = new RowIndex(own, isSet, reserve);
      for (let to = held.length; to > 0; to -= piece) index.add(Math.max(0, to - piece), to, reserve);
      expect(counted).toBeGreaterThanOrEqual(index.byteLength);
      const all = [...asked, ...held];
      const found = new Int32Array(all.length);
      const others = presentOf(all);
      index.find(Int32Array.from(all.flatMap(([key]) => key)), others, all.length, found);
      for (const [i, [key]] of all.entries()) {
        const expected = others?.[i] === 0 ? undefined : want.get(key.map((word) => word | 0).join());
        const chain: number[] = [];
        for (let row = found[i] ?? NO_ROW; row !== NO_ROW; row = index.next?.[row] ?? NO_ROW) chain.push(row);
        if (isSet) expect((found[i] ?? NO_ROW) !== NO_ROW).toBe(expected !== undefined);
        else expect(chain).toEqual(expected ?? []);
      }
    }),
    { seed: 20261124, numRuns: 400 },
  );
});

test("many rows, close together, far apart, and of few keys", () => {
  for (const keyOf of [(i: number) => i * 3, (i: number) => Math.imul(i, 0x9e3779b1), (i: number) => i % 7]) {
    const count = 200_000;
    const all = Int32Array.from({ length: count }, (_, i) => keyOf(i));
    const index = new RowIndex({ words: all, width: 1, rowCount: count, present: undefined }, false, () => undefined);
    for (let to = count; to > 0; to -= 16_384) index.add(Math.max(0, to - 16_384), to, () => undefined);
    const firsts = new Map<number, number>();
    for (const [row, key] of all.entries()) if (!firsts.has(key)) firsts.set(key, row);
    const found = new Int32Array(count);
    index.find(all, undefined, count, found);
    expect(found.every((row, i) => row === firsts.get(all[i] ?? 0))).toBe(true);
  }
});
