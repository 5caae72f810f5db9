import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  BOOLEAN,
  type DataType,
  DATE,
  FLOAT32,
  FLOAT64,
  INT8,
  INT64,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MILLISECOND,
  UINT8,
  UINT64,
} from "../column/data-type.ts";
import type { Scalar } from "../column/vector.ts";
import { compareTagValues, tagSyntax, tagText, tagValue } from "./tag-value.ts";

const DECIMAL: DataType = { kind: "decimal", precision: 6, scale: 2 };
const LONG_DECIMAL: DataType = { kind: "decimal", precision: 38, scale: 0 };

/** A text is this value, and the value's own text is `own`. */
function check(type: DataType, text: string, value: Scalar, own: string | undefined = text): void {
  expect(tagValue(text, type)).toEqual({ ok: true, value });
  expect(tagText(value, type)).toBe(own as string);
}

function refused(type: DataType, ...texts: readonly string[]): void {
  for (const text of texts) expect(tagValue(text, type)).toEqual({ ok: false });
}

describe("values", () => {
  test("of integers are decimal numbers within their bits", () => {
    check(INT8, "127", 127);
    check(INT8, "-128", -128);
    check(INT8, "+007", 7, "7");
    check(INT8, "-0", 0, "0");
    check(INT64, "9223372036854775807", 2n ** 63n - 1n);
    check(INT64, "-9223372036854775808", -(2n ** 63n));
    check(UINT64, "18446744073709551615", 2n ** 64n - 1n);
    refused(INT8, "128", "-129", "1.0", "1e1", "0x1", "a", " 1", "1 ", "-", "9".repeat(50));
    refused(UINT8, "-1", "256");
    refused(UINT64, "18446744073709551616");
  });
  test("of floats have one text a number", () => {
    check(FLOAT64, "1.5", 1.5);
    check(FLOAT64, "1.50", 1.5, "1.5");
    check(FLOAT64, "-0.0", 0, "0");
    check(FLOAT64, "1e300", 1e300, "1e+300");
    check(FLOAT64, "nan", Number.NaN, "NaN");
    check(FLOAT64, "-inf", Number.NEGATIVE_INFINITY, "-Infinity");
    check(FLOAT32, "0.1", Math.fround(0.1), String(Math.fround(0.1)));
    refused(FLOAT64, "x", "1,5", "0x10", "1e", ".", "--1", "1_000");
  });
  test("of the other types", () => {
    check(BOOLEAN, "true", true);
    check(BOOLEAN, "FALSE", false, "false");
    check(DATE, "2024-02-29", 19_782, "19782");
    check(DATE, "-1", -1);
    check(TIMESTAMP_MILLISECOND, "9223372036854775807", 2n ** 63n - 1n);
    check(TIMESTAMP_MILLISECOND, "-5", -5n);
    check(STRING, "any text", "any text");
    check(STRING, "", "");
    refused(BOOLEAN, "1", "yes", "t");
    refused(DATE, "2023-02-29", "2024-13-01", "2024-04-31", "24-01-01", "2147483648");
    check(TIME_NANOSECOND, "12:30:00.5", 45_000_500_000_000, "45000500000000");
    check(TIME_NANOSECOND, "86399999999999", 86_399_999_999_999);
    check(DECIMAL, "1.5", 150, "1.50");
    check(DECIMAL, "-1e1", -1000, "-10.00");
    check(DECIMAL, "0.005", 1, "0.01");
    check(LONG_DECIMAL, "9".repeat(38), 10n ** 38n - 1n);
    refused(TIME_NANOSECOND, "24:00", "86400000000000", "-1", "1.5", "noon");
    refused(DECIMAL, "10000", "x", "1,5", "1 2", "NaN");
    refused(TIMESTAMP_MILLISECOND, "2024-01-01", "9223372036854775808", "1.5");
  });
  test("that are missing: the empty text is NULL, but for text", () => {
    for (const type of [INT64, FLOAT64, BOOLEAN, DATE, TIMESTAMP_MILLISECOND]) {
      expect(tagValue("", type)).toEqual({ ok: true, value: undefined });
      expect(tagText(undefined, type)).toBeUndefined();
      expect(tagSyntax(type)).not.toBe("text");
    }
  });
});

describe("any value", () => {
  const cases: readonly (readonly [DataType, fc.Arbitrary<Scalar>])[] = [
    [
      INT64,
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value)),
    ],
    [FLOAT64, fc.double()],
    [FLOAT32, fc.float()],
    [BOOLEAN, fc.boolean()],
    [DATE, fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
    [TIMESTAMP_MILLISECOND, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  ];
  test.each(cases)("of %p comes back from its text, and equal values have one text", (type, values) => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const [x, y] = [tagText(a, type), tagText(b, type)];
        expect(tagValue(x ?? "", type)).toEqual({ ok: true, value: Object.is(a, -0) ? 0 : a });
        expect(compareTagValues(a, b) === 0).toBe(x === y);
        expect(compareTagValues(a, b)).toBe(0 - compareTagValues(b, a) + 0);
      }),
      { seed: 21 },
    );
  });
});

test("NULL is first and NaN last", () => {
  const ascending: readonly Scalar[] = [undefined, Number.NEGATIVE_INFINITY, -1, 0, 5n, 6, Number.POSITIVE_INFINITY, Number.NaN];
  for (const [i, a] of ascending.entries()) {
    for (const [j, b] of ascending.entries()) expect(compareTagValues(a, b)).toBe(Math.sign(i - j));
  }
});
