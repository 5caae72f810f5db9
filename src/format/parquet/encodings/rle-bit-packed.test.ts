import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { bitWidthOf, encodeHybrid } from "./rle-bit-packed.ts";
import { decodeBits, decodeHybrid, HybridReader, hybridCapacity } from "./rle-bit-unpacked.ts";

const cursorOf = (bytes: Uint8Array): ByteCursor => new ByteCursor(bytes, "test", 0);

function encode(values: readonly number[], width: number): Uint8Array {
  const out = new ByteWriter(16);
  encodeHybrid(out, Uint32Array.from(values), values.length, width);
  return out.bytes();
}

/** Encodes and expects the values back from every decoder. */
function check(values: readonly number[], width: number): void {
  const bytes = encode(values, width);
  const cursor = cursorOf(bytes);
  const out = new Uint32Array(hybridCapacity(values.length));
  decodeHybrid(cursor, values.length, width, 2 ** width, out);
  expect([...out.subarray(0, values.length)]).toEqual([...values]);
  expect(cursor.at).toBe(bytes.length);
  const reader = new HybridReader(cursorOf(bytes), width);
  const runs: number[] = [];
  while (runs.length < values.length) {
    reader.next();
    for (let i = 0; i < reader.length; i++) runs.push(reader.value);
  }
  expect(runs.slice(0, values.length)).toEqual([...values]);
  if (width !== 1) return;
  const bits = new Uint8Array(values.length);
  const ones = decodeBits(cursorOf(bytes), values.length, bits);
  expect([...bits]).toEqual([...values]);
  expect(ones).toBe(values.filter((value) => value === 1).length);
}

const repeat = (value: number, length: number): number[] => new Array<number>(length).fill(value);

describe("the bytes", () => {
  const bytes = (values: readonly number[], width: number, want: readonly number[]): void =>
    expect([...encode(values, width)]).toEqual([...want]);
  test("literals are packed from the lowest bit", () => bytes([0, 1, 2, 3, 4, 5, 6, 7], 3, [3, 0b1000_1000, 0b1100_0110, 0b1111_1010]));
  test("a run is its length and value", () => bytes(repeat(300, 10), 9, [20, 44, 1]));
  test("short literals are padded", () => bytes([1, 0, 1], 1, [3, 5]));
  test("literals borrow from the run that follows", () => bytes([1, ...repeat(0, 30)], 1, [3, 1, 46, 0]));
  test("a width of 0 stores lengths only", () => bytes(repeat(0, 100), 0, [200, 1]));
  test("nothing is nothing", () => bytes([], 5, []));
});

describe("values come back", () => {
  test("every width", () => {
    for (let width = 1; width <= 32; width++) {
      const top = 2 ** width - 1;
      check([top, 0, ...repeat(top, 20), 1 % (top + 1), ...repeat(0, 9), top], width);
    }
  });
  test("more literals than are collected at once", () => {
    check(
      Array.from({ length: 5000 }, (_, i) => i % 256),
      8,
    );
  });
  test("random runs", () => {
    const runs = fc.array(fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 40 })), { maxLength: 80 });
    const property = fc.property(runs, (ranges) => {
      const values = ranges.flatMap(([value, length]) => repeat(value, length));
      check(values, 3);
      check(
        values.map((value) => value & 1),
        1,
      );
    });
    fc.assert(property, { numRuns: 60, seed: 2 });
  });
});

describe("what is refused", () => {
  const read = (bytes: readonly number[], count: number, width: number, limit: number): void =>
    decodeHybrid(cursorOf(Uint8Array.from(bytes)), count, width, limit, new Uint32Array(hybridCapacity(count)));
  test("bytes that end early", () => expect(() => read([3, 0x88], 8, 3, 8)).toThrow("3 bytes wanted, 1 left"));
  test("an index beyond the dictionary", () => expect(() => read([20, 5], 10, 3, 5)).toThrow("index 5 into a dictionary of 5"));
  test("indexes wider than 32 bits", () => expect(() => read([20, 5], 10, 40, 5)).toThrow("indexes of 40 bits"));
  test("a level above 1", () => expect(() => decodeBits(cursorOf(Uint8Array.of(20, 2)), 10, new Uint8Array(10))).toThrow("a level of 2"));
});

test("bits for a dictionary", () => expect([0, 1, 2, 3, 4, 5, 256, 257].map(bitWidthOf)).toEqual([0, 0, 1, 2, 2, 3, 8, 9]));
