import { mutatedBlocks, repetitive } from "../../../test/support/snappy-blocks.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compress } from "snappyjs";
import { decodeSnappy, SnappyError, snappyLength } from "./decode.ts";

const MAX = 1 << 20;

function check(source: readonly number[], want: string): void {
  expect(new TextDecoder().decode(decodeSnappy(Uint8Array.from(source), MAX))).toBe(want);
}

function checkRefused(source: readonly number[], want: string, bytesMax: number = MAX): void {
  expect(() => decodeSnappy(Uint8Array.from(source), bytesMax)).toThrow(new SnappyError(want));
}

const text = (value: string): number[] => [...new TextEncoder().encode(value)];

describe("elements", () => {
  test("nothing", () => check([0], ""));
  test("a short literal", () => check([3, (3 - 1) << 2, ...text("abc")], "abc"));
  test("a literal with one byte of length", () => check([70, 60 << 2, 69, ...text("x".repeat(70))], "x".repeat(70)));
  test("a literal with four bytes of length", () => check([2, 63 << 2, 1, 0, 0, 0, ...text("ab")], "ab"));
  test("a copy of each kind", () => {
    check([8, 3 << 2, ...text("abcd"), 1, 4], "abcdabcd");
    check([8, 3 << 2, ...text("abcd"), (4 - 1) * 4 + 2, 4, 0], "abcdabcd");
    check([8, 3 << 2, ...text("abcd"), (4 - 1) * 4 + 3, 4, 0, 0, 0], "abcdabcd");
  });
  test("a copy that overlaps itself repeats", () => {
    check([7, 0, ...text("a"), 5 * 4 + 2, 1, 0], "aaaaaaa");
    check([8, 2 << 2, ...text("abc"), 4 * 4 + 2, 3, 0], "abcabcab");
    check([12, 4 << 2, ...text("abcde"), 6 * 4 + 2, 5, 0], "abcdeabcdeab");
  });
});

describe("refused", () => {
  test("no length, or too large a one", () => {
    checkRefused([], "it ends inside its length");
    checkRefused([0x80], "it ends inside its length");
    checkRefused([0xff, 0xff, 0xff, 0xff, 0x7f], "its length exceeds 32 bits");
  });
  test("over the limit, before anything is allocated", () => {
    checkRefused([11, 10 << 2, ...text("hello world")], "it decodes to 11 bytes; the limit is 10", 10);
    checkRefused([0xff, 0xff, 0x3f, 0, 65], "5 bytes cannot decode to 1048575");
  });
  test("an element that ends early", () => {
    checkRefused([3, (3 - 1) << 2, 65], "it ends inside the element at offset 1");
    checkRefused([3, 61 << 2, 1], "it ends inside the element at offset 1");
    checkRefused([8, 3 << 2, ...text("abcd"), 1], "it ends inside the element at offset 6");
    checkRefused([8, 3 << 2, ...text("abcd"), 14, 4], "it ends inside the element at offset 6");
  });
  test("a copy from before the start", () => {
    checkRefused([8, 3 << 2, ...text("abcd"), 1, 5], "at offset 6 it copies from 5 bytes back; 4 are decoded");
    checkRefused([8, 3 << 2, ...text("abcd"), 1, 0], "at offset 6 it copies from 0 bytes back; 4 are decoded");
  });
  test("more or fewer bytes than announced", () => {
    checkRefused([2, (3 - 1) << 2, ...text("abc")], "the element at offset 1 runs over the announced 2 bytes");
    checkRefused([5, 3 << 2, ...text("abcd"), 1, 4], "the element at offset 6 runs over the announced 5 bytes");
    checkRefused([4, (3 - 1) << 2, ...text("abc")], "it ends after 3 of 4 bytes");
  });
});

test("what snappyjs packs comes back", () => {
  const property = fc.property(repetitive, (raw) => {
    expect(Buffer.compare(decodeSnappy(new Uint8Array(compress(raw)), MAX), raw)).toBe(0);
  });
  fc.assert(property, { seed: 20261121, numRuns: 200 });
});

test("mutated blocks are refused or decoded to the announced length, on a scratch that is never overrun", () => {
  const scratch = new Uint8Array(1 << 16);
  const property = fc.property(mutatedBlocks, (packed) => {
    try {
      expect(decodeSnappy(packed, MAX, scratch).length).toBe(snappyLength(packed).length);
    } catch (error) {
      expect(error).toBeInstanceOf(SnappyError);
    }
  });
  fc.assert(property, { seed: 20261121, numRuns: 2000 });
});
