import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  decimalOfFloat,
  decimalOfInteger,
  decimalOfText,
  decimalText,
  type DecimalType,
  decimalTypeOfText,
  floatOfDecimal,
  readWideDecimal,
  rescaledDecimal,
  wholeOfDecimal,
  writeWideDecimal,
} from "./decimal.ts";
import { exactInteger } from "./exact-integer.ts";

const type = (precision: number, scale: number): DecimalType => ({ kind: "decimal", precision, scale });
const SEED = { seed: 38, numRuns: 300 };

/** The text of a parsed text, or why it is none. */
function read(text: string, precision: number, scale: number): string {
  const result = decimalOfText(text, type(precision, scale));
  return result.ok ? decimalText(result.value, scale) : result.why;
}

function check(text: string, precision: number, scale: number, want: string): void {
  expect([text, read(text, precision, scale)]).toEqual([text, want]);
}

describe("text to decimal", () => {
  test("takes what people write", () => {
    check("1", 4, 2, "1.00");
    check("+1.5", 4, 2, "1.50");
    check("-.5", 4, 2, "-0.50");
    check("5.", 4, 2, "5.00");
    check(" 12.34 ", 4, 2, "12.34");
    check("1.5e1", 4, 2, "15.00");
    check("1500E-2", 4, 2, "15.00");
    check("0e999999999", 4, 2, "0.00");
    check("-0", 4, 2, "0.00");
    check("000000000000000000000000000000000000000000000001", 4, 2, "1.00");
    check("9".repeat(38), 38, 0, "9".repeat(38));
  });
  test("rounds half away from zero, once", () => {
    check("0.005", 4, 2, "0.01");
    check("-0.005", 4, 2, "-0.01");
    check("0.00499999999999999999999999999", 4, 2, "0.00");
    check("0.0049999999999", 4, 2, "0.00");
    check("1e-999999999", 4, 2, "0.00");
    check("99.994", 4, 2, "99.99");
  });
  test("refuses what has too many digits before the point", () => {
    check("100", 4, 2, "range");
    check("99.995", 4, 2, "range");
    check("1e3", 4, 2, "range");
    check("1e999999999", 38, 0, "range");
    check("9".repeat(39), 38, 0, "range");
    check("1".repeat(100_000), 38, 0, "range");
  });
  test("refuses what is no number", () => {
    for (const text of ["", " ", ".", "-", "+", "e5", ".e5", "1e", "1,5", "0x10", "1_000", "NaN", "inf", "1 2", "--1", "1e99999999999"])
      check(text, 38, 2, "syntax");
  });
});

test("the narrowest type of a written number", () => {
  const check2 = (text: string, want: readonly [number, number] | undefined): void => {
    const found = decimalTypeOfText(text);
    expect([text, found === undefined ? undefined : [found.precision, found.scale]]).toEqual([text, want as never]);
  };
  check2("0", [1, 0]);
  check2("0.0", [1, 0]);
  check2("1", [1, 0]);
  check2("-12.50", [3, 1]);
  check2("0.001", [3, 3]);
  check2("100", [3, 0]);
  check2("1e3", [4, 0]);
  check2("1.25e1", [3, 1]);
  check2("1e-3", [3, 3]);
  check2("9".repeat(38), [38, 0]);
  check2("9".repeat(39), undefined);
  check2("1e38", undefined);
  check2("1e-39", undefined);
  check2("abc", undefined);
});

describe("properties", () => {
  const unscaled = fc.bigInt({ min: 1n - 10n ** 38n, max: 10n ** 38n - 1n });
  const scale = fc.integer({ min: 0, max: 38 });

  test("text comes back as the value", () => {
    fc.assert(
      fc.property(unscaled, scale, (value, digits) => {
        expect(decimalOfText(decimalText(value, digits), type(38, digits))).toEqual({ ok: true, value: exactInteger(value) });
      }),
      SEED,
    );
  });

  test("16 bytes come back as the value, and order like it", () => {
    fc.assert(
      fc.property(unscaled, unscaled, (a, b) => {
        const bytes = new Uint8Array(40);
        writeWideDecimal(a, bytes, 4);
        writeWideDecimal(b, bytes, 20);
        expect([readWideDecimal(bytes, 4), readWideDecimal(bytes, 20)]).toEqual([a, b]);
      }),
      SEED,
    );
  });

  test("a type made for a text holds it exactly", () => {
    fc.assert(
      fc.property(unscaled, scale, (value, digits) => {
        const text = decimalText(value, digits);
        const made = decimalTypeOfText(text);
        const parsed = made === undefined ? undefined : decimalOfText(text, made);
        if (made === undefined || parsed?.ok !== true) throw new Error(`no type for ${text}`);
        expect(rescaledDecimal(parsed.value, made.scale, digits)).toBe(value);
      }),
      SEED,
    );
  });

  test("a float is the nearest one, and comes back while it has 15 digits", () => {
    fc.assert(
      fc.property(fc.integer({ min: -(10 ** 15) + 1, max: 10 ** 15 - 1 }), fc.integer({ min: 0, max: 15 }), (value, digits) => {
        const float = floatOfDecimal(value, digits);
        expect(float).toBe(Number(decimalText(value, digits)));
        expect(decimalOfFloat(float, type(38, digits))).toEqual({ ok: true, value });
      }),
      SEED,
    );
  });
});

test("floats and whole numbers", () => {
  expect(decimalOfFloat(0.1, type(38, 20))).toEqual({ ok: true, value: 10n ** 19n });
  expect(decimalOfFloat(2 ** 80, type(38, 0))).toEqual({ ok: true, value: 2n ** 80n });
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1e39, -1e39])
    expect(decimalOfFloat(value, type(38, 0))).toEqual({ ok: false, why: "range" });
  expect(decimalOfInteger(2n ** 64n - 1n, type(20, 0))).toEqual({ ok: true, value: 2n ** 64n - 1n });
  expect(decimalOfInteger(100, type(3, 1))).toEqual({ ok: false, why: "range" });
  expect(wholeOfDecimal(-199, 2)).toBe(-1n);
});
