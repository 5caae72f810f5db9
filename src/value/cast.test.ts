/** What CAST and ALTER TABLE … MODIFY COLUMN once answered differently, or wrongly. */
import { describe, expect, test } from "bun:test";
import { DbError } from "../base/error.ts";
import {
  BINARY,
  type DataType,
  DATE,
  FLOAT64,
  INT64,
  JSON2,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MILLISECOND,
  TIMESTAMP_SECOND,
} from "../column/data-type.ts";
import type { Scalar } from "../column/vector.ts";
import type { Value } from "./any-value.ts";
import { canCast, castResult, castValue } from "./cast.ts";
import { CastFailure } from "./cast-failure.ts";
import { canRetype, retypeScalar } from "./retype.ts";

/** CAST and a column whose type was changed agree: on a value, or that there is none, which CAST says in words that begin so. */
function check(value: Scalar, from: DataType, to: DataType, want: Scalar | { readonly refused: string }): void {
  expect(canRetype(from, to)).toBe(true);
  if (typeof want === "object" && "refused" in want) {
    expect(() => castValue(value, from, to, { timeZone: "UTC" })).toThrow(want.refused);
    expect(retypeScalar(value, from, to)).toBeUndefined();
    return;
  }
  expect(castValue(value, from, to, { timeZone: "UTC" })).toEqual(want);
  expect(retypeScalar(value, from, to)).toEqual(want);
}

test("a text with an offset of up to a day is a time to both", () => {
  check("2024-01-01T00:00:00-14:00", STRING, TIMESTAMP_SECOND, 1_704_117_600n);
  check("2024-01-01 00:00:00-23:59", STRING, TIMESTAMP_SECOND, 1_704_153_540n);
  check("2024-01-01 00:00:00 +2359", STRING, TIMESTAMP_SECOND, 1_703_980_860n);
  check("2024-01-01 00:00:00+24:00", STRING, TIMESTAMP_SECOND, { refused: "Parser error: Error parsing timestamp" });
});

test("dates without dashes and years of any size are dates to both", () => {
  check("20240131", STRING, DATE, 19_753);
  check("0050-06-01", STRING, DATE, -701_114);
  check("-0400-03-01", STRING, DATE, -865_565);
  check("2023-02-29", STRING, DATE, { refused: "Cast error: Cannot cast string '2023-02-29' to value of Date type" });
  check(2 ** 31, INT64, DATE, { refused: "Cast error: Can't cast value 2147483648 to type Date" });
});

test("times beyond the dates of the runtime have texts", () => {
  check(9_223_372_036_854n, TIMESTAMP_SECOND, STRING, "+294247-01-10T04:00:54");
  check(-62_135_596_801n, TIMESTAMP_SECOND, STRING, "0000-12-31T23:59:59");
  check(200_000_000, DATE, STRING, "+549551-05-28");
});

test("zeros before a number do not count, and digits without end are no number", () => {
  check(`${"0".repeat(50)}1`, STRING, INT64, 1);
  check("9".repeat(1_000_000), STRING, INT64, { refused: "Cast error: Cannot cast string '9999" });
});

test("infinities may have a sign, and names of the runtime are no floats", () => {
  check("+infinity", STRING, FLOAT64, Infinity);
  for (const text of ["constructor", "toString", "valueOf"]) {
    check(text, STRING, FLOAT64, { refused: `Cast error: Cannot cast string '${text}' to value of Float64 type` });
  }
});

test("the mark at the beginning of a text is part of it", () => {
  check(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]), BINARY, STRING, "\ufeffa");
  check(new Uint8Array([0xff]), BINARY, STRING, { refused: "Invalid argument error: Encountered non UTF-8 data" });
});

test("counts become times of day and times become floats, in columns too", () => {
  check(3_600_000_000_000, INT64, TIME_NANOSECOND, 3_600_000_000_000);
  check(-1, INT64, TIME_NANOSECOND, { refused: "Cast error: Can't cast value -1 to type Time" });
  check(1500n, TIMESTAMP_MILLISECOND, FLOAT64, 1500);
});

describe("a failure", () => {
  const noVector = (): Value | CastFailure => castResult("[1]", STRING, { kind: "vector", dimension: 2 }, "UTC");

  test("is answered with its code and becomes an error when asked", () => {
    const failure = noVector();
    if (!(failure instanceof CastFailure)) throw new Error("no failure");
    expect(failure.error()).toBeInstanceOf(DbError);
    expect([failure.code, failure.error().code, failure.error().message]).toEqual([
      1004,
      1004,
      "Invalid Vector: Failed to parse [1] to Vector value: wrong dimension",
    ]);
  });

  test("of a part is that of the whole list, struct or map", () => {
    const list = (element: DataType): DataType => ({ kind: "list", element });
    expect(canCast(list(STRING), list(INT64))).toBe(true);
    expect(() => castValue("x", STRING, list(INT64), { timeZone: "UTC" })).toThrow("Cannot cast string 'x' to value of Int64 type");
  });

  test("of JSON2 says what it wants", () => {
    expect(() => castValue("[]", STRING, JSON2, { timeZone: "UTC" })).toThrow("Non-object json is not supported currently");
    expect(() => castValue("{}", STRING, JSON2, { timeZone: "UTC" })).toThrow("consider adding a dummy field");
  });
});
