import { expect, test } from "bun:test";
import {
  BINARY,
  type DataType,
  displayName,
  INT64,
  INTERVAL,
  sameType,
  sqlName,
  STRING,
  TIMESTAMP_NANOSECOND,
  UINT8,
} from "./data-type.ts";

test.each([
  [INT64, "Int64", "BIGINT"],
  [UINT8, "UInt8", "TINYINT UNSIGNED"],
  [{ kind: "float", bits: 32 }, "Float32", "FLOAT"],
  [STRING, "String", "STRING"],
  [BINARY, "Binary", "VARBINARY"],
  [TIMESTAMP_NANOSECOND, "TimestampNanosecond", "TIMESTAMP(9)"],
  [{ kind: "timestamp", unit: "second" }, "TimestampSecond", "TIMESTAMP(0)"],
  [{ kind: "decimal", precision: 38, scale: 10 }, "Decimal(38, 10)", "DECIMAL(38, 10)"],
  [{ kind: "vector", dimension: 3 }, "Vector(3)", "VECTOR(3)"],
  [INTERVAL, "IntervalMonthDayNano", "INTERVAL"],
] as readonly (readonly [DataType, string, string])[])("%p is shown as %s and written as %s", (type, display, sql) => {
  expect(displayName(type)).toBe(display);
  expect(sqlName(type)).toBe(sql);
});

test("types are the same when their parameters are", () => {
  expect(sameType({ kind: "int", bits: 64, signed: true }, INT64)).toBe(true);
  expect(sameType({ kind: "int", bits: 64, signed: false }, INT64)).toBe(false);
  expect(sameType(STRING, BINARY)).toBe(false);
});
