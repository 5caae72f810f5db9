import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { ByteCursor } from "./byte-cursor.ts";
import { type DeltaWidths, encodeDelta32, encodeDelta64 } from "./delta-binary-packed.ts";
import { decodeDeltaDoubles, decodeDeltaInts, deltaCapacity } from "./delta-binary-unpacked.ts";

const cursorOf = (bytes: Uint8Array): ByteCursor => new ByteCursor(bytes, "test", 0);

function encode(values: readonly number[], widths: DeltaWidths = "tight"): Uint8Array {
  const out = new ByteWriter(16);
  encodeDelta32(out, BigInt(values[0] ?? 0), Int32Array.from(values), values.length, widths);
  return out.bytes();
}

/** Encodes both ways, as 32 and as 64 bits, and expects the values back from both decoders. */
function check(values: readonly number[]): void {
  for (const widths of ["tight", "aligned"] as const) {
    const narrow = encode(values, widths);
    const ints = new Int32Array(deltaCapacity(values.length));
    const cursor = cursorOf(narrow);
    decodeDeltaInts(cursor, values.length, ints);
    expect([...ints.subarray(0, values.length)]).toEqual([...values]);
    expect(cursor.at).toBe(narrow.length);
    checkWide(values, widths);
  }
}

function checkWide(values: readonly number[], widths: DeltaWidths): void {
  const out = new ByteWriter(16);
  encodeDelta64(out, BigInt(values[0] ?? 0) + 1000n, Float64Array.from(values), values.length, widths);
  const doubles = new Float64Array(deltaCapacity(values.length));
  const cursor = cursorOf(out.bytes());
  decodeDeltaDoubles(cursor, values.length, doubles, 1000n);
  expect([...doubles.subarray(0, values.length)]).toEqual([...values]);
  expect(cursor.at).toBe(out.length);
}

describe("the bytes", () => {
  test("a constant step takes no bits", () => {
    expect([...encode([1, 2, 3, 4, 5])]).toEqual([128, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
  });
  test("deltas are stored above the smallest", () => {
    // Deltas -2 -2 -2 1 1 1 2 less -2 are 0 0 0 3 3 3 4, in three bits each, the first in the lowest bits.
    const bytes = encode([7, 5, 3, 1, 2, 3, 4, 6]);
    expect([...bytes.subarray(0, 10)]).toEqual([128, 1, 4, 8, 14, 3, 3, 0, 0, 0]);
    expect([...bytes.subarray(10, 14)]).toEqual([0b0000_0000, 0b1011_0110, 0b0001_0001, 0]);
    expect(bytes.length).toBe(22);
  });
  test("aligned widths are 0, 1, 2, 4 and whole bytes", () => {
    const widthOf = (step: number): number => encode([0, 0, step, step], "aligned")[6] ?? -1;
    expect([0, 1, 3, 6, 100, 300, 70_000, 20_000_000].map(widthOf)).toEqual([0, 1, 2, 4, 8, 16, 24, 32]);
  });
  test("aligned blocks share a rounded min delta", () => {
    expect(encode([5, 2, 6], "aligned")[5]).toBe(15); // zigzag of -8
    expect(encode([500, 400, 600], "aligned").slice(6, 8)).toEqual(Uint8Array.of(255, 1)); // zigzag of -128
    expect(encode([0, 1000, 2005], "aligned").slice(4, 6)).toEqual(Uint8Array.of(0, 0xd0)); // 1000 is a multiple of 8
  });
});

describe("values come back", () => {
  test("none, one, two", () => [[], [5], [-5, 7]].forEach(check));
  test("at block and miniblock borders", () => {
    for (const count of [32, 33, 34, 128, 129, 130, 160, 257]) check(Array.from({ length: count }, (_, i) => (i * i) % 1001));
  });
  test("every bit width", () => {
    for (let bits = 0; bits < 31; bits++) check([0, 2 ** bits, 0, 2 ** bits - 1, 1, 0]);
    for (let bits = 31; bits < 52; bits++) checkWide([0, 2 ** bits, 0, 2 ** bits - 1, 1, 0], "tight");
    for (let bits = 31; bits < 52; bits++) checkWide([0, 2 ** bits, 0, 2 ** bits - 1, 1, 0], "aligned");
  });
  test("random ones", () => {
    const close = fc.integer({ min: -1000, max: 1000 });
    const far = fc.integer({ min: -(2 ** 30), max: 2 ** 30 - 1 });
    fc.assert(fc.property(fc.array(fc.oneof(close, far), { maxLength: 500 }), check), { numRuns: 60, seed: 1 });
  });
  test("widths above 32 in an array of 32 bits", () => {
    const values = [-(2 ** 31), 2 ** 31 - 1, -(2 ** 31), 0];
    const out = new ByteWriter(1 << 16);
    encodeDelta64(out, BigInt(values[0]!), Float64Array.from(values), values.length, "tight");
    const ints = new Int32Array(deltaCapacity(values.length));
    decodeDeltaInts(cursorOf(out.bytes()), values.length, ints);
    expect([...ints.subarray(0, 4)]).toEqual(values);
  });
});

describe("what is refused", () => {
  const good = encode(Array.from({ length: 200 }, (_, i) => (i * 7) % 50));
  const read = (bytes: Uint8Array, count = 200): void => decodeDeltaInts(cursorOf(bytes), count, new Int32Array(deltaCapacity(count)));
  test("bytes that end early", () => {
    for (let length = 0; length < good.length; length++)
      expect(() => read(good.subarray(0, length))).toThrow("cannot read Parquet file test");
  });
  test("another count", () => expect(() => read(good, 199)).toThrow("200 delta values where 199 belong"));
  test("another block size", () => expect(() => read(Uint8Array.of(0x80, 2, 4, 1, 0), 1)).toThrow("delta blocks of 256 values"));
  test("an impossible width", () => {
    const bytes = good.slice();
    bytes[7] = 65;
    expect(() => read(bytes)).toThrow("a bit width of 65");
  });
});
