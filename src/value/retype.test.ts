/** A column whose type was changed shows what CAST makes of its values, and NULL where CAST refuses. */
import { codedOf, plainOf } from "../../test/support/coded-text.ts";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DbError } from "../base/error.ts";
import { unitsPerDay } from "./clock-time.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  displayName,
  FLOAT32,
  FLOAT64,
  INT8,
  INT32,
  INT64,
  INTERVAL,
  JSON2,
  JSON_TYPE,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MICROSECOND,
  TIMESTAMP_NANOSECOND,
  TIMESTAMP_SECOND,
  UINT8,
  UINT64,
} from "../column/data-type.ts";
import { exactInteger } from "../column/exact-integer.ts";
import { canRetype, retypeScalar, retypeVector } from "./retype.ts";
import { scalarAt } from "../column/scalar.ts";
import type { Scalar, Vector } from "../column/vector.ts";
import { vectorOf } from "../column/vector-builder.ts";
import { castValue } from "./cast.ts";

const TYPES: readonly DataType[] = [
  BOOLEAN,
  INT8,
  INT32,
  INT64,
  UINT8,
  UINT64,
  FLOAT32,
  FLOAT64,
  STRING,
  BINARY,
  DATE,
  TIMESTAMP_SECOND,
  TIMESTAMP_MICROSECOND,
  TIMESTAMP_NANOSECOND,
  { kind: "decimal", precision: 5, scale: 2 },
  { kind: "decimal", precision: 18, scale: 4 },
  { kind: "decimal", precision: 38, scale: 10 },
  { kind: "time", unit: "second" },
  TIME_NANOSECOND,
  JSON_TYPE,
  { kind: "vector", dimension: 1 },
];
const TEXTS = [
  "5",
  " -7 ",
  "+12",
  "1e3",
  "1.5",
  "abc",
  "",
  "true",
  "no",
  "inf",
  "-Infinity",
  "nan",
  "300",
  "2024-02-29",
  "2023-02-29",
  "2024-01-31T12:00:00Z",
  "2024-01-31 12:00:00.123456789",
  "2024-01-31 12:00+08:00",
  "1969-12-31 23:59:59.5",
  "2024-01-31 25:00:00",
  "18446744073709551615",
  "12:30:00.5",
  "1.005",
  "-0.5e2",
  '{"b":1,"a":[]}',
  "[1.5]",
  "[1,2]",
];

function valueOf(type: DataType): fc.Arbitrary<Scalar> {
  switch (type.kind) {
    case "boolean":
      return fc.boolean();
    case "int": {
      const min = type.signed ? -(2n ** BigInt(type.bits - 1)) : 0n;
      const max = 2n ** BigInt(type.signed ? type.bits - 1 : type.bits) - 1n;
      return fc.bigInt({ min, max }).map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));
    }
    case "float":
      return type.bits === 32 ? fc.float() : fc.oneof(fc.double(), fc.integer());
    case "date":
      return fc.integer({ min: -10_000_000, max: 10_000_000 });
    case "timestamp":
      return fc.bigInt({ min: -(10n ** 11n), max: 10n ** 11n });
    case "binary":
      return fc.uint8Array({ maxLength: 3 });
    case "vector":
      return fc.uint8Array({ minLength: type.dimension * 4, maxLength: type.dimension * 4 });
    case "time":
      return fc.integer({ min: 0, max: Number(unitsPerDay(type.unit)) - 1 });
    case "decimal": {
      const most = 10n ** BigInt(type.precision) - 1n;
      return fc.oneof(fc.bigInt({ min: -most, max: most }), fc.bigInt({ min: -999n, max: 999n })).map(exactInteger);
    }
    case "json":
      return fc.constantFrom("{}", "[1.5]", "true", '"2024-02-29"');
    default:
      return fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 5 }));
  }
}

function cast(value: Scalar, from: DataType, to: DataType): unknown {
  try {
    return castValue(value, from, to, { timeZone: "UTC" });
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    return undefined;
  }
}

for (const from of TYPES) {
  const targets = TYPES.filter((to) => canRetype(from, to));
  test(`${displayName(from)} becomes what CAST makes of it`, () => {
    const values = fc.array(fc.option(valueOf(from), { nil: undefined }), { maxLength: 6 });
    fc.assert(
      fc.property(values, fc.constantFrom(...targets), (given, to) => {
        const vector = retypeVector(vectorOf(from, given), from, to);
        for (const [row, value] of given.entries()) {
          const want = cast(value, from, to);
          expect(retypeScalar(value, from, to)).toEqual(want as never);
          expect(scalarAt(vector, to, row)).toEqual(want as never);
        }
      }),
      { seed: 7, numRuns: 150 },
    );
  });
}

describe("refused", () => {
  test.each([
    [BOOLEAN, DATE],
    [BINARY, INT64],
    [DATE, BOOLEAN],
    [INT64, BINARY],
    [INT64, INTERVAL],
    [FLOAT64, DATE],
    [STRING, JSON2],
    [BOOLEAN, { kind: "decimal", precision: 1, scale: 0 } as const],
    [INT64, { kind: "duration", unit: "second" } as const],
    [INT64, { kind: "list", element: INT64 } as const],
  ])("%p to %p", (from, to) => expect(canRetype(from, to)).toBe(false));
});

test("days beyond 32 bits are NULL: a file could not hold them", () => {
  expect(retypeScalar(2n ** 62n, TIMESTAMP_SECOND, DATE)).toBeUndefined();
  expect(retypeScalar(2 ** 31, INT64, DATE)).toBeUndefined();
  expect(retypeScalar(2 ** 31 - 1, INT64, DATE)).toBe(2 ** 31 - 1);
});

test("values that CAST refuses become NULL, others stay", () => {
  const vector = retypeVector(vectorOf(INT64, [1, 300, -1, undefined]), INT64, UINT8);
  expect([0, 1, 2, 3].map((row) => scalarAt(vector, UINT8, row))).toEqual([1, undefined, undefined, undefined]);
});

test("text by code is cast as plain text is, to numbers and to itself", () => {
  const texts = ["1", undefined, "x", "-7", "1", "1.5"];
  for (const to of [INT64, FLOAT64, BINARY]) {
    const [coded, plain] = [codedOf(texts), plainOf(texts)].map((vector) => retypeVector(vector, STRING, to));
    const valuesOf = (vector: Vector | undefined): unknown[] => texts.map((_, row) => scalarAt(vector as Vector, to, row));
    expect(valuesOf(coded)).toEqual(valuesOf(plain));
  }
});
