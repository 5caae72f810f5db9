/** Words and texts get the numbers that a map gives them, while slots grow, and whether or not keys lie close together. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { TextNumbers } from "./texts/text-numbers.ts";
import type { Texts } from "./texts/text-records.ts";
import { sameBytes, textHash, viewOf } from "./texts/text-hash.ts";
import { NO_NUMBER, WordTable } from "./word-table.ts";

/** How keys are made of a number: far apart, close together, ascending from somewhere; all at times in turns. */
const SHAPES: readonly ((i: number) => number)[] = [
  (i) => Math.imul(i, 0x9e3779b1),
  (i) => i % 5000,
  (i) => 1_000_000_000 - i,
  (i) => i - 3000,
];

test("rows are numbered as by a map", () => {
  const steps = fc.array(
    fc.record({
      shape: fc.nat(SHAPES.length - 1),
      from: fc.nat(20_000),
      rows: fc.integer({ min: 1, max: 9000 }),
      isNew: fc.boolean(),
      hasNulls: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 3 }), fc.boolean(), (batches, width, nullIsNumber) => {
      const table = new WordTable(width);
      const want = new Map<string, number>();
      const numberOf = (text: string, isNew: boolean): number => {
        const known = want.get(text);
        if (known !== undefined || !isNew) return known ?? NO_NUMBER;
        want.set(text, want.size);
        return want.size - 1;
      };
      for (const { shape, from, rows, isNew, hasNulls } of batches) {
        const words = new Int32Array(rows * width);
        const validity = hasNulls ? Uint8Array.from({ length: rows }, (_, i) => (i % 5 === 0 ? 0 : 1)) : undefined;
        const expected = new Int32Array(rows);
        for (let row = 0; row < rows; row++) {
          const key = (SHAPES[shape]?.(from + row) ?? 0) | 0;
          // Of two words, the second is the sign of the first at times and another one at others.
          const key2 = shape === 0 ? key % 3 : key >> 31;
          for (let w = 0; w < width; w++) words[row * width + w] = w === 0 ? key : w === 1 ? key2 : key % 2;
          const isNull = validity?.[row] === 0;
          expected[row] = isNull && !nullIsNumber ? NO_NUMBER : numberOf(isNull ? "NULL" : String(key), isNew);
        }
        const got = new Int32Array(rows);
        table.numbersOf(words, validity, rows, isNew, nullIsNumber ? "a number of its own" : "none", got);
        expect(got.every((id, row) => id === expected[row])).toBe(true);
        expect(table.size).toBe(want.size);
        expect(table.keyBytes).toBeGreaterThan(0);
      }
      for (const [text, id] of want) if (text !== "NULL") expect(table.keys[id * width]).toBe(Number(text));
    }),
    { seed: 7, numRuns: 60 },
  );
});

test("texts are numbered as by a map, wherever they lie", () => {
  const length = fc.oneof(fc.nat(12), fc.nat(40), fc.constantFrom(64, 65, 200));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(3000), length), { maxLength: 400 }), fc.boolean(), (some, hasNulls) => {
      const texts = some.map(([value, width]) => String(value).padStart(width, "ab"));
      const encoded = texts.map((text) => new TextEncoder().encode(text));
      const offsets = new Uint32Array(texts.length + 1);
      // Not at the beginning, so that no text lies where words do.
      offsets[0] = 3;
      for (const [i, each] of encoded.entries()) offsets[i + 1] = (offsets[i] ?? 0) + each.length;
      const bytes = new Uint8Array(offsets.at(-1) ?? 0);
      for (const [i, each] of encoded.entries()) bytes.set(each, offsets[i]);
      const validity = hasNulls ? Uint8Array.from(texts, (_, i) => (i % 7 === 3 ? 0 : 1)) : undefined;
      const numbers = new TextNumbers();
      const want = new Map<string | undefined, number>();
      const expected = texts.map((text, i) => {
        const key = validity?.[i] === 0 ? undefined : text;
        if (!want.has(key)) want.set(key, want.size);
        return want.get(key);
      });
      const got = new Int32Array(texts.length);
      numbers.numbersOf({ offsets, bytes, validity }, texts.length, true, true, got);
      expect(Array.from(got)).toEqual(expected as number[]);
      numbers.numbersOf({ offsets, bytes, validity }, texts.length, false, true, got);
      expect(Array.from(got)).toEqual(expected as number[]);
      for (const [i, each] of encoded.entries()) {
        if (validity?.[i] !== 0) expect(numbers.numberOf(each, 0, each.length, false)).toBe(expected[i] ?? NO_NUMBER);
      }
      const stranger = new TextEncoder().encode("no such text");
      expect(numbers.numberOf(stranger, 0, stranger.length, false)).toBe(NO_NUMBER);
    }),
    { seed: 11, numRuns: 100 },
  );
});

test("texts keep their numbers and bytes while slots grow, among chunks and beyond one", () => {
  const numbers = new TextNumbers();
  const encoder = new TextEncoder();
  const lengths = [0, 1, 2, 3, 4, 5, 7, 64, 65, 100, 70_000, 1_048_568, 1_048_569, 3_000_000];
  const texts = lengths.map((length) => encoder.encode("x".repeat(length)));
  for (let i = 0; i < 150_000; i++) texts.push(encoder.encode(`user-${i}`));
  const rows = textRows(texts);
  const got = new Int32Array(texts.length);
  numbers.numbersOf(rows, texts.length, true, true, got);
  expect(got.every((number, i) => number === i)).toBe(true);
  numbers.numbersOf(rows, texts.length, false, true, got);
  expect(got.every((number, i) => number === i)).toBe(true);
  const picked = Uint32Array.from({ length: 4000 }, (_, i) => (i * 7919) % texts.length);
  const again = numbers.textsOf(Uint32Array.of(...picked, ...lengths.keys()));
  const wanted = [...picked, ...lengths.keys()].map((i) => texts[i] ?? new Uint8Array(0));
  expect(Buffer.compare(again.bytes, Buffer.concat(wanted))).toBe(0);
  expect(again.offsets.at(-1)).toBe(again.bytes.length);
});

test("many texts that are not there have no number, those among them that are keep theirs, and what is added later is found", () => {
  const numbers = new TextNumbers();
  const encoder = new TextEncoder();
  const known = textRows(Array.from({ length: 120_000 }, (_, i) => encoder.encode(`known ${i}`)));
  const got = new Int32Array(120_000);
  numbers.numbersOf(known, 120_000, true, true, got);
  // One of ten is there.
  const some = textRows(Array.from({ length: 120_000 }, (_, i) => encoder.encode(i % 10 === 3 ? `known ${i}` : `strange ${i}`)));
  const check = (has: (row: number) => number): void => {
    numbers.numbersOf(some, 120_000, false, true, got);
    expect(got.findIndex((number, row) => number !== has(row))).toBe(-1);
  };
  for (let again = 0; again < 3; again++) check((row) => (row % 10 === 3 ? row : NO_NUMBER));
  const added = textRows([encoder.encode("strange 7"), encoder.encode("strange 100000")]);
  numbers.numbersOf(added, 2, true, true, got);
  for (let again = 0; again < 3; again++) {
    check((row) => (row % 10 === 3 ? row : row === 7 ? 120_000 : row === 100_000 ? 120_001 : NO_NUMBER));
  }
});

/** Texts behind one another. */
function textRows(texts: readonly Uint8Array[]): Texts {
  const offsets = new Uint32Array(texts.length + 1);
  for (const [i, text] of texts.entries()) offsets[i + 1] = (offsets[i] ?? 0) + text.length;
  const bytes = new Uint8Array(offsets.at(-1) ?? 0);
  for (const [i, text] of texts.entries()) bytes.set(text, offsets[i]);
  return { offsets, bytes, validity: undefined };
}

test("a hash of a text is that of its bytes, and texts are the same where all bytes are", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(7), fc.nat(40), (text, shift, changed) => {
      const moved = new Uint8Array(text.length + shift);
      moved.set(text, shift);
      expect(textHash(viewOf(moved), shift, moved.length)).toBe(textHash(viewOf(text), 0, text.length));
      expect(sameBytes(viewOf(moved), shift, viewOf(text), 0, text.length)).toBe(true);
      if (changed >= text.length) return;
      moved[shift + changed] = (moved[shift + changed] ?? 0) ^ 1;
      expect(sameBytes(viewOf(moved), shift, viewOf(text), 0, text.length)).toBe(false);
    }),
    { seed: 13, numRuns: 200 },
  );
});
