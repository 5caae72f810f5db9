import { expect, test } from "bun:test";
import fc from "fast-check";
import { decimalText } from "../../../column/decimal.ts";
import { floatText } from "../../../value/number-text.ts";
import { NUMBER_BYTES_MAX, writeDecimal, writeFloat, writeInteger, writeSplit } from "./write-number.ts";

const bytes = new Uint8Array(2 * NUMBER_BYTES_MAX);
const view = new DataView(bytes.buffer);

function written(value: number): string {
  bytes.fill(0x58);
  const end = writeFloat(view, 7, value);
  expect(end - 7).toBeLessThanOrEqual(NUMBER_BYTES_MAX);
  return Buffer.from(bytes.subarray(7, end)).toString();
}

/** Decimals of any number of digits and places, and their neighbours. */
const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 18n }), fc.integer({ min: 0, max: 24 }), fc.integer({ min: -2, max: 2 }), fc.boolean())
  .map(([digits, places, ulps, isNegative]) => {
    const near = new Float64Array([Number(`${digits}e-${places}`)]);
    const words = new BigInt64Array(near.buffer);
    if (near[0] !== 0) words[0]! += BigInt(ulps);
    return isNegative ? -near[0]! : near[0]!;
  });
const short = fc
  .tuple(fc.integer({ min: -10_000_000, max: 10_000_000 }), fc.integer({ min: 0, max: 7 }))
  .map(([digits, places]) => digits / 10 ** places);

test("floats are written as their text is", () => {
  fc.assert(
    fc.property(fc.oneof(decimal, short, fc.double({ noNaN: true, noDefaultInfinity: true })), (value) => {
      expect(written(value)).toBe(floatText(value));
    }),
    { seed: 15, numRuns: 20_000 },
  );
});

test("floats at the edges of what is written without the runtime", () => {
  const edges = [
    1e-5,
    9.999_999e-6,
    0.000_012_345_678_901_234_5,
    1e15,
    999_999_999_999_999.9,
    123_456_789_012_345.6,
    0.1 + 0.2,
    1 / 3,
    5e-324,
  ];
  for (const edge of [...edges, 0.5, 1.5, 99_999.99, 0.999_999_999_999_999, 0.999_999_999_999_999_9]) {
    for (const value of [edge, -edge]) expect(written(value)).toBe(floatText(value));
  }
});

test("whole numbers of any length are written as their text is", () => {
  const size = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 15 }));
  fc.assert(
    fc.property(size, fc.boolean(), ([part, digits], isNegative) => {
      const value = Math.floor(part * 10 ** digits) * (isNegative ? -1 : 1);
      expect(Buffer.from(bytes.subarray(7, writeInteger(view, 7, value))).toString()).toBe(String(value === 0 ? 0 : value));
    }),
    { seed: 16, numRuns: 20_000 },
  );
  for (const edge of [0, 9, 10, 99, 100, 999, 1000, 1001, 999_999, 1_000_000, 1_000_001, 999_999_999, 1e9, 1e9 + 1, 2 ** 53 - 1]) {
    for (const value of edge === 0 ? [0] : [edge, -edge]) {
      expect(Buffer.from(bytes.subarray(7, writeInteger(view, 7, value))).toString()).toBe(String(value));
    }
  }
});

test("numbers in two halves are written as their sum is", () => {
  const whole = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -(2 ** 40), max: 2 ** 40 }));
  fc.assert(
    fc.property(whole, fc.integer({ min: 0, max: 999_999_999 }), (high, low) => {
      const end = writeSplit(view, 7, high, low);
      expect(Buffer.from(bytes.subarray(7, end)).toString()).toBe(String(BigInt(high) * 1_000_000_000n + BigInt(low)));
    }),
    { seed: 17, numRuns: 5000 },
  );
});

test("decimals of any scale are written as their text is", () => {
  const size = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 53 }), fc.integer({ min: -1, max: 1 }));
  const edge = fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 1, max: 9 }), fc.integer({ min: -1, max: 1 }));
  const value = fc.oneof(
    size.map(([part, bits, more]) => Math.max(0, Math.floor(part * (2 ** bits - 2)) + more)),
    edge.map(([places, digit, more]) => Math.max(0, digit * 10 ** places + more)),
    fc.constant(2 ** 53 - 1),
  );
  fc.assert(
    fc.property(value, fc.boolean(), fc.integer({ min: 0, max: 18 }), (whole, isNegative, scale) => {
      const number = isNegative && whole > 0 ? -whole : whole;
      const end = writeDecimal(view, 7, number, scale);
      expect(Buffer.from(bytes.subarray(7, end)).toString()).toBe(decimalText(number, scale));
    }),
    { seed: 18, numRuns: 20_000 },
  );
});
