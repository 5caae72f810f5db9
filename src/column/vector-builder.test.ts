import { expect, test } from "bun:test";
import fc from "fast-check";
import { BINARY, BOOLEAN, type DataType, DATE, FLOAT32, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND, UINT64 } from "./data-type.ts";
import { scalarAt } from "./scalar.ts";
import type { Scalar } from "./vector.ts";
import { vectorOf } from "./vector-builder.ts";

function check(type: DataType, values: readonly Scalar[], kind: string): void {
  const vector = vectorOf(type, values);
  expect(vector.kind).toBe(kind as typeof vector.kind);
  expect(values.map((_, row) => scalarAt(vector, type, row))).toEqual([...values]);
}

test("integers within 2^53 are plain numbers", () => check(INT64, [1, -5, undefined, 2 ** 53 - 1], "number"));
test("one integer beyond 2^53 makes the column wide", () => check(INT64, [1, undefined, 2n ** 63n - 1n, -(2n ** 63n)], "wide"));
test("unsigned integers reach 2^64 - 1", () => check(UINT64, [0, 2n ** 64n - 1n], "wide"));
test("floats keep NaN, infinities and the sign of zero", () => {
  check(FLOAT64, [Number.NaN, Number.POSITIVE_INFINITY, -0, 1.5, undefined], "number");
  check(FLOAT32, [1.5, undefined, -2], "number");
});
test("booleans come back as booleans", () => check(BOOLEAN, [true, false, undefined], "number"));
test("dates are days", () => check(DATE, [0, -1, 19_000, undefined], "number"));
test("times are exact over their span", () => {
  check(TIMESTAMP_NANOSECOND, [1_686_441_600_000_000_001n, undefined, 1_686_441_600_999_999_999n], "time");
  check(TIMESTAMP_NANOSECOND, [], "time");
});
test("times 2^53 or more from the first make the column wide, and stay exact", () => {
  const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
  check(TIMESTAMP_NANOSECOND, [0n, undefined, 2n ** 53n - 1n, 1n - 2n ** 53n], "time");
  check(TIMESTAMP_NANOSECOND, [0n, undefined, 2n ** 53n], "wide");
  check(TIMESTAMP_NANOSECOND, [min, max, 0n, undefined, max - 1n], "wide");
  check({ kind: "duration", unit: "nanosecond" }, [undefined, max, -1n, min], "wide");
});
test("one time at either end of 64 bits needs no wide column", () => {
  check(TIMESTAMP_NANOSECOND, [2n ** 63n - 1n, undefined], "time");
  check(TIMESTAMP_NANOSECOND, [-(2n ** 63n)], "time");
});
test("binary comes back as bytes", () => check(BINARY, [Uint8Array.of(0, 255), undefined, new Uint8Array(0)], "bytes"));

test("strings of any text read back", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.string({ unit: "grapheme" }), { nil: undefined })), (values) => check(STRING, values, "bytes")),
    { seed: 11 },
  );
});
