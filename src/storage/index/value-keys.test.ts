import { describe, expect, test } from "bun:test";
import { BINARY, BOOLEAN, type DataType, DATE, FLOAT32, FLOAT64, INT64, INT8, STRING, UINT64 } from "../../column/data-type.ts";
import { vectorOf } from "../../column/vector-builder.ts";
import type { Scalar, Vector } from "../../column/vector.ts";
import { HASHED } from "./key-hash.ts";
import { type KeyKind, keyKindOf, keyOfScalar, RowKeys } from "./value-keys.ts";

const keys = new RowKeys();

function keysOfVector(vector: Vector, kind: KeyKind, start: number, end: number): string[] {
  keys.take(vector, kind, start, end);
  return Array.from({ length: keys.count }, (_, i) => `${keys.rows[i]}: ${keys.highs[i]} ${keys.lows[i]}`);
}

function keysOfScalars(values: readonly Scalar[], kind: KeyKind, start: number, end: number): string[] {
  return values.slice(start, end).flatMap((value, i) => {
    if (value === undefined) return [];
    expect(keyOfScalar(value, kind)).toBe(true);
    return [`${start + i}: ${HASHED[0]} ${HASHED[1]}`];
  });
}

/** Keys of rows are those of their values, whatever the vector. */
function check(type: DataType, values: readonly Scalar[], vector: Vector = vectorOf(type, values)): void {
  const kind = keyKindOf(type)!;
  for (const [start, end] of [
    [0, values.length],
    [1, values.length],
    [1, values.length - 1],
  ] as const) {
    expect(keysOfVector(vector, kind, start, end)).toEqual(keysOfScalars(values, kind, start, end));
  }
}

const BIG = 2 ** 53 - 1;
const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);

describe("keys of rows are those of their values", () => {
  test("small integers", () => check(INT8, [0, -1, 127, undefined, -128, 1]));
  test("integers up to 2^53", () => check(INT64, [0, -1, BIG, -BIG, 2 ** 32, -(2 ** 32), 2 ** 32 - 1, undefined, -(2 ** 31)]));
  test("integers beyond", () => check(INT64, [MAX, MIN, 1, -1, undefined, MAX - 1n]));
  test("unsigned integers beyond", () => check(UINT64, [2n ** 64n - 1n, 0, 2n ** 63n, 5]));
  test("floats", () => check(FLOAT64, [0.5, -0, 0, Number.NaN, Number.POSITIVE_INFINITY, undefined, -1e300]));
  test("floats of 32 bits", () => check(FLOAT32, [Math.fround(0.1), -0, undefined, 3]));
  test("Booleans", () => check(BOOLEAN, [true, false, undefined, true]));
  test("dates", () => check(DATE, [0, -1, 19_000, undefined]));
  test("text", () => check(STRING, ["", "a", undefined, "Grüße 🐟", "a"]));
  test("binary", () => check(BINARY, [Uint8Array.of(), Uint8Array.of(0, 255), undefined]));
  test.each([0n, -5n, MAX - 100n, MIN + 10n, 1_686_441_600_000_000_000n, 2n ** 32n - 1n])("times from base %d", (base) => {
    const offsets = Float64Array.of(0, 1, -4, 100, 2 ** 32 - 1, -(2 ** 32) - 1, 2 ** 52).filter(
      (offset) => base + BigInt(offset) <= MAX && base + BigInt(offset) >= MIN,
    );
    const values = Array.from(offsets, (offset) => base + BigInt(offset));
    const vector: Vector = { kind: "time", base, offsets, validity: undefined };
    check({ kind: "timestamp", unit: "nanosecond" }, values, vector);
    check({ kind: "timestamp", unit: "nanosecond" }, values, { kind: "wide", values: BigInt64Array.from(values), validity: undefined });
  });
});

test("a number is the same key in a narrow and in a wide vector", () => {
  const narrow = vectorOf(INT64, [5, -5]);
  const wide: Vector = { kind: "wide", values: BigInt64Array.of(5n, -5n), validity: undefined };
  expect(keysOfVector(narrow, "int", 0, 2)).toEqual(keysOfVector(wide, "int", 0, 2));
});

describe("values that are none of the kind have no key", () => {
  test.each([
    ["x", "int"],
    [1.5, "int"],
    [Number.NaN, "int"],
    [undefined, "int"],
    [5n, "float"],
    ["1", "float"],
    [1, "bytes"],
    [undefined, "bytes"],
  ] as const)("%p as %s", (value, kind) => expect(keyOfScalar(value, kind)).toBe(false));

  test("types without an index", () => {
    for (const kind of ["json", "interval", "null"] as const) expect(keyKindOf({ kind })).toBeUndefined();
  });
});
