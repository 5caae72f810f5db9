/** Texts have one number when their bytes are equal. The reference is a map by the bytes as text. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { NO_NUMBER } from "../word-table.ts";
import { SHORT_BYTES } from "./short-texts.ts";
import { TextNumbers } from "./text-numbers.ts";
import type { Texts } from "./text-records.ts";

/** Rows as offsets and bytes; undefined is NULL, under which lie bytes too. */
function textsOf(rows: readonly (readonly number[] | undefined)[]): Texts {
  const offsets = new Uint32Array(rows.length + 1);
  const bytes: number[] = [];
  for (const [i, row] of rows.entries()) {
    bytes.push(...(row ?? (i % 2 === 0 ? [] : [7])));
    offsets[i + 1] = bytes.length;
  }
  const validity = rows.includes(undefined) ? Uint8Array.from(rows, (row) => (row === undefined ? 0 : 1)) : undefined;
  // Not at the start of their buffer, and nothing behind them.
  const all = new Uint8Array(bytes.length + 3);
  all.set(bytes, 3);
  return { offsets, bytes: all.subarray(3), validity };
}

/** The reference. */
class MapOfTexts {
  private readonly numbers = new Map<string, number>();

  numberOf(row: readonly number[] | undefined, isNew: boolean, nullIsNumber: boolean): number {
    if (row === undefined && !nullIsNumber) return NO_NUMBER;
    const key = row === undefined ? "NULL" : String(row);
    const known = this.numbers.get(key);
    if (known !== undefined || !isNew) return known ?? NO_NUMBER;
    this.numbers.set(key, this.numbers.size);
    return this.numbers.size - 1;
  }

  get size(): number {
    return this.numbers.size;
  }
}

/** Takes or looks up rows in both. */
function both(
  numbers: TextNumbers,
  map: MapOfTexts,
  rows: readonly (readonly number[] | undefined)[],
  isNew: boolean,
  nulls: boolean,
): void {
  const into = new Int32Array(rows.length);
  numbers.numbersOf(textsOf(rows), rows.length, isNew, nulls, into);
  expect([...into]).toEqual(rows.map((row) => map.numberOf(row, isNew, nulls)));
  expect(numbers.size).toBe(map.size);
}

/** Bytes of few kinds, zeros among them, so that texts meet that differ by zeros or by length. */
const text = fc.array(fc.constantFrom(0, 65, 255), { maxLength: SHORT_BYTES + 5 });
const rows = fc.array(fc.option(text, { nil: undefined }), { maxLength: 40 });

describe("numbers of texts", () => {
  test("are dense, in the order of the rows, short or long or NULL, and found again", () => {
    const asked = fc.array(fc.record({ rows, isNew: fc.boolean(), alone: fc.boolean() }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(asked, fc.boolean(), (batches, nulls) => {
        const [numbers, map] = [new TextNumbers(), new MapOfTexts()];
        for (const batch of batches) {
          if (!batch.alone) both(numbers, map, batch.rows, batch.isNew, nulls);
          else {
            for (const row of batch.rows) {
              if (row === undefined) continue;
              expect(numbers.numberOf(Uint8Array.from(row), 0, row.length, batch.isNew)).toBe(map.numberOf(row, batch.isNew, nulls));
            }
          }
        }
        const all = Uint32Array.from({ length: numbers.size }, (_, i) => i);
        const { offsets, bytes } = numbers.textsOf(all);
        for (const id of all) {
          if (id === numbers.nullNumber) continue;
          expect(map.numberOf([...bytes.subarray(offsets[id], offsets[id + 1])], false, nulls)).toBe(id);
        }
      }),
    );
  });

  for (const [what, lengthOf] of [
    ["short", () => 6],
    ["long", () => 20],
    ["of any length", (n: number) => n % 17],
  ] as const) {
    test(`stay the same while the table grows: ${what}`, () => {
      const [numbers, map] = [new TextNumbers(), new MapOfTexts()];
      const rowOf = (n: number): readonly number[] | undefined => {
        if (what === "of any length" && n % 101 === 0) return undefined;
        const length = lengthOf(n);
        return Array.from({ length }, (_, i) => (i < 3 ? (n >>> (8 * i)) & 255 : (n * 31) & 255));
      };
      let seed = 4242;
      const random = (below: number): number => {
        seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) | 0;
        return (seed >>> 8) % below;
      };
      for (let round = 1; round <= 24; round++) {
        both(
          numbers,
          map,
          Array.from({ length: 1500 }, () => rowOf(random(round * 2000))),
          true,
          true,
        );
        both(
          numbers,
          map,
          Array.from({ length: 700 }, () => rowOf(random(round * 4000))),
          false,
          true,
        );
      }
      expect(numbers.bytes).toBeGreaterThan(numbers.size * 16);
    });
  }
});
