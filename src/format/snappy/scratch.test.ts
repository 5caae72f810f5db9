/** The kernel beside the loop in JavaScript: the same bytes, or the same error. */
import { mutatedBlocks, repetitive } from "../../../test/support/snappy-blocks.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compress } from "snappyjs";
import { decodeSnappy } from "./decode.ts";
import { SnappyScratch } from "./scratch.ts";

const MAX = 1 << 20;

function outcome(decode: () => Uint8Array): string {
  try {
    return Buffer.from(decode()).toString("latin1");
  } catch (error) {
    return String(error);
  }
}

function check(scratch: SnappyScratch, block: Uint8Array, bytesMax: number = MAX): void {
  const want = outcome(() => decodeSnappy(block, bytesMax));
  expect(outcome(() => scratch.decode(block, bytesMax))).toBe(want);
  expect(outcome(() => scratch.unfold(block, bytesMax))).toBe(want);
}

const text = (value: string): number[] => [...new TextEncoder().encode(value)];

describe("elements", () => {
  const scratch = new SnappyScratch(4096);
  const both = (...block: readonly number[]): void => check(scratch, Uint8Array.from(block));
  test("literals with each number of bytes of length", () => {
    both(0);
    both(3, (3 - 1) << 2, ...text("abc"));
    for (const length of [61, 64, 65, 70]) both(length, 60 << 2, length - 1, ...text("x".repeat(length)));
    both(0xac, 2, 61 << 2, 0x2b, 1, ...text("y".repeat(300)));
    both(2, 62 << 2, 1, 0, 0, ...text("ab"));
    both(2, 63 << 2, 1, 0, 0, 0, ...text("ab"));
  });
  test("copies of each kind, at every distance", () => {
    for (let offset = 0; offset <= 13; offset++) {
      both(12 + 11, (12 - 1) << 2, ...text("abcdefghijkl"), (11 - 4) * 4 + 1, offset);
      both(12 + 40, (12 - 1) << 2, ...text("abcdefghijkl"), (40 - 1) * 4 + 2, offset, 0);
      both(12 + 64, (12 - 1) << 2, ...text("abcdefghijkl"), (64 - 1) * 4 + 3, offset, 0, 0, 0);
    }
  });
  test("what ends early, is too long or too short", () => {
    both();
    both(0x80);
    both(3, 60 << 2);
    both(3, 61 << 2, 1);
    both(8, 63 << 2, 0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4);
    both(8, 3 << 2, ...text("abcd"), 1);
    both(8, 3 << 2, ...text("abcd"), 14, 4);
    both(8, 3 << 2, ...text("abcd"), 15, 4, 0, 0);
    both(2, (3 - 1) << 2, ...text("abc"));
    both(5, 3 << 2, ...text("abcd"), 1, 4);
    both(4, (3 - 1) << 2, ...text("abc"));
  });
});

test("blocks over the limit are refused, those over the memory decoded elsewhere", () => {
  const scratch = new SnappyScratch(1000);
  const raw = new TextEncoder().encode("a text that is longer than the memory. ".repeat(100));
  const block = new Uint8Array(compress(raw));
  check(scratch, block);
  check(scratch, block, raw.length - 1);
  expect(Buffer.compare(scratch.decode(block, MAX), raw)).toBe(0);
});

test("what snappyjs packs comes back, behind what was there before", () => {
  const scratch = new SnappyScratch(1 << 16);
  const property = fc.property(repetitive, (raw) => {
    expect(Buffer.compare(scratch.decode(new Uint8Array(compress(raw)), MAX), raw)).toBe(0);
  });
  fc.assert(property, { seed: 20261121, numRuns: 200 });
});

test("mutated blocks give the same bytes or the same error", () => {
  const scratch = new SnappyScratch(1 << 16);
  const property = fc.property(mutatedBlocks, (packed) => check(scratch, packed));
  fc.assert(property, { seed: 20261121, numRuns: 2000 });
});
