import { expect, test } from "bun:test";
import fc from "fast-check";
import { mixed, murmur3, remainder, textHash } from "./place-hash.ts";

const unsigned = (hash: number): string => (hash >>> 0).toString(16).padStart(8, "0");

/** Of the reference implementation of MurmurHash3_x86_32. */
test.each([
  ["", 0, "00000000"],
  ["", 1, "514e28b7"],
  ["", 0xffff_ffff, "81f16f39"],
  ["a", 0x9747_b28c, "7fa09ea6"],
  ["aa", 0x9747_b28c, "5d211726"],
  ["aaa", 0x9747_b28c, "283e0130"],
  ["aaaa", 0x9747_b28c, "5a97808a"],
  ["Hello, world!", 0x9747_b28c, "24884cba"],
  ["ππππππππ", 0x9747_b28c, "d58063c1"],
  ["The quick brown fox jumps over the lazy dog", 0x9747_b28c, "2fa826cd"],
])("the hash of %p with seed %d is %s for ever", (text, seed, want) => {
  expect(unsigned(textHash(text, seed))).toBe(want);
});

test.each([
  [0, "00000000"],
  [1, "514e28b7"],
  [0xffff_ffff, "81f16f39"],
])("the word %d mixes to %s for ever", (word, want) => {
  expect(unsigned(mixed(word))).toBe(want);
});

test("bytes hash alike wherever they lie, and however long a text is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 40 }), fc.nat(9), fc.integer(), (text, before, seed) => {
      const bytes = new TextEncoder().encode(text);
      const moved = new Uint8Array(before + bytes.length + 7).fill(77);
      moved.set(bytes, before);
      expect(textHash(text, seed)).toBe(murmur3(bytes, 0, bytes.length, seed));
      expect(murmur3(moved, before, before + bytes.length, seed)).toBe(murmur3(bytes, 0, bytes.length, seed));
    }),
    { seed: 20_261_128 },
  );
  const long = "é".repeat(5000);
  expect(textHash(long, 7)).toBe(murmur3(new TextEncoder().encode(long), 0, 10_000, 7));
  expect(textHash("a\ud800", 7)).toBe(textHash("a\ufffd", 7));
});

test("remainders are those of the unsigned hash", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 2 ** 14 }), (hash, divisor) => {
      expect(remainder(hash, divisor)).toBe((hash >>> 0) % divisor);
    }),
    {
      seed: 20_261_128,
      numRuns: 1000,
      examples: [
        [-1, 2 ** 14],
        [-1, 2 ** 14 - 1],
      ],
    },
  );
});
