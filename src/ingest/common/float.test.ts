import { expect, test } from "bun:test";
import fc from "fast-check";
import { FloatReader } from "./float.ts";

const reader = new FloatReader();

/** The value of all of `text`, or undefined when it is not a float. */
function read(text: string): number | undefined {
  const bytes = new TextEncoder().encode(`${text} `);
  return reader.read(bytes, new DataView(bytes.buffer), 0, bytes.length) === text.length ? reader.value : undefined;
}

function check(text: string, want: number | undefined): void {
  expect(`${text} → ${Object.is(read(text), -0) ? "-0" : read(text)}`).toBe(`${text} → ${Object.is(want, -0) ? "-0" : want}`);
}

test("reads every form of a decimal number", () => {
  check("0", 0);
  check("-0", -0);
  check("1.", 1);
  check(".5", 0.5);
  check("-.5", -0.5);
  check("1.0e-4", 1e-4);
  check("6.632243e+06", 6_632_243);
  check("1E22", 1e22);
  check("1e23", 1e23);
  check("0000000000000000000000000.10", 0.1);
  check("4.9e-324", 5e-324);
  check("1e-400", 0);
});

test("refuses what is not one", () => {
  for (const text of ["", "-", ".", "-.", "+1", "1e", "1e+", "e5", "1.2.3", "0x10", "NaN", "inf", "1_0", "--1"]) check(text, undefined);
});

test("refuses what is beyond the largest double", () => {
  check("1e309", undefined);
  check("-1e309", undefined);
  check("1.7976931348623159e308", undefined);
  check("1.7976931348623157e308", Number.MAX_VALUE);
});

test("agrees with Number on halfway cases and their neighbours", () => {
  for (const text of ["9007199254740993", "9007199254740992.5", "9007199254740993.0", "1.00000000000000011102230246251565"])
    check(text, Number(text));
  for (const text of ["0.500000000000000166", "0.500000000000000167", "8.90029543402881", "10.0000000000000009"]) check(text, Number(text));
});

test("agrees with Number bit for bit", () => {
  const digits = (most: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${most}}$`));
  const plain = fc.tuple(digits(20), digits(20)).map(([whole, fraction]) => `${whole}.${fraction}`);
  const short = fc.tuple(digits(3), digits(16)).map(([whole, fraction]) => `${whole}.${fraction}`);
  const scaled = fc.tuple(short, fc.integer({ min: -340, max: 290 })).map(([mantissa, exponent]) => `${mantissa}e${exponent}`);
  const printed = fc.double({ noNaN: true, noDefaultInfinity: true }).map(String);
  fc.assert(
    fc.property(fc.oneof(plain, short, scaled, printed), (text) => check(text, Number(text))),
    { seed: 7, numRuns: 5000 },
  );
});
