import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { booleanOfText, floatOfText, floatText, integerOfText, numberOfText } from "./number-text.ts";

describe("integers", () => {
  test("are read exactly, whatever stands before their digits", () => {
    const texts = ["0", "-0", "+7", "007", "-9007199254740993", `${"0".repeat(60)}12`, "9".repeat(40)];
    expect(texts.map(integerOfText)).toEqual([0, 0, 7, 7, -9_007_199_254_740_993n, 12, 10n ** 40n - 1n]);
  });

  test("are nothing else", () => {
    for (const text of ["", "+", "-", " 1", "1 ", "1.0", "1e3", "0x10", "1_000", "--1", "١", "9".repeat(41), `-${"9".repeat(1_000_000)}`])
      expect([text.slice(0, 20), integerOfText(text)]).toEqual([text.slice(0, 20), undefined]);
  });

  test("of every size read back", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n }), (value) => {
        const read = integerOfText(String(value));
        expect(read === undefined ? undefined : BigInt(read)).toBe(value);
        expect(typeof read).toBe(Number.isSafeInteger(Number(value)) ? "number" : "bigint");
      }),
      { seed: 3 },
    );
  });
});

describe("floats", () => {
  test("are read by digits and by name", () => {
    const texts = ["1", "-1.5", "+.5", "5.", "1e3", "1E-3", "inf", "+Infinity", "-INF", "nan", "NaN"];
    const want = [1, -1.5, 0.5, 5, 1000, 0.001, Infinity, Infinity, -Infinity, Number.NaN, Number.NaN];
    expect(texts.map(floatOfText)).toEqual(want);
    expect(["1.5", "inf", "nan"].map(numberOfText)).toEqual([1.5, undefined, undefined]);
  });

  test("are no names of anything else", () => {
    for (const text of ["", ".", "e1", "1e", "0x1", "infinit", "constructor", "toString", "__proto__", "1,5"])
      expect([text, floatOfText(text)]).toEqual([text, undefined]);
  });

  test("are written with the shortest digits that read back", () => {
    const values = [1, 0.1, -0, 1e15, 1e16, 1e21, 123_456_789_012_345_680_000, 1e-5, 9.9e-6, Number.NaN, Infinity, -Infinity];
    expect(values.map(floatText)).toEqual([
      "1.0",
      "0.1",
      "-0.0",
      "1000000000000000.0",
      "1e16",
      "1e21",
      "1.2345678901234568e20",
      "0.00001",
      "9.9e-6",
      "NaN",
      "inf",
      "-inf",
    ]);
    fc.assert(
      fc.property(fc.double(), (value) => expect(floatOfText(floatText(value))).toBe(value)),
      { seed: 3 },
    );
  });
});

test("truths have six words each", () => {
  expect(["true", "T", "Yes", "y", "ON", "1"].map(booleanOfText)).toEqual([true, true, true, true, true, true]);
  expect(["false", "F", "No", "n", "OFF", "0"].map(booleanOfText)).toEqual([false, false, false, false, false, false]);
  expect(["", "2", "yep", " true"].map(booleanOfText)).toEqual([undefined, undefined, undefined, undefined]);
});
