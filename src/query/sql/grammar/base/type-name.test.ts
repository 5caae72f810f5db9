import { expect, test } from "bun:test";
import { displayName } from "../../../../column/data-type.ts";
import { timestampLiteralType, typeNamed } from "./type-name.ts";

function check(names: string, want: string, args: readonly number[] = [], unsigned = false): void {
  for (const name of names.split(" ")) {
    const type = typeNamed(name, args, unsigned);
    expect("problem" in type ? type.why : displayName(type), name).toBe(want);
  }
}

test("knows every spelling", () => {
  check("bool boolean", "Boolean");
  check("tinyint", "Int8");
  check("smallint int2 int16", "Int16");
  check("int integer int4 int32", "Int32");
  check("bigint int8 int64", "Int64");
  check("float float4 float32 real", "Float32");
  check("double float8 float64 double_precision", "Float64");
  check("char varchar text string tinytext mediumtext longtext character_varying", "String");
  check("binary varbinary blob bytea", "Binary");
  check("date", "Date");
  check("interval", "IntervalMonthDayNano");
  check("json", "Json");
  check("json2", "Json2");
  check("json2", "type json2 does not take (1)", [1]);
  check("uint8", "UInt8");
  check("uint64", "UInt64");
});

test("UNSIGNED makes whole numbers unsigned, and nothing else", () => {
  check("tinyint", "UInt8", [], true);
  check("smallint", "UInt16", [], true);
  check("int integer", "UInt32", [], true);
  check("bigint int8", "UInt64", [], true);
  check("double", "type double cannot be UNSIGNED", [], true);
  check("uint8", "type uint8 cannot be UNSIGNED", [], true);
});

test("timestamps have four precisions", () => {
  check("timestamp timestamp_ms timestampmillisecond timestamptz", "TimestampMillisecond");
  check("datetime timestamp_us timestampmicrosecond", "TimestampMicrosecond");
  check("timestamp_s timestamp_sec timestampsecond", "TimestampSecond");
  check("timestamp_ns timestampnanosecond", "TimestampNanosecond");
  check("timestamp", "TimestampSecond", [0]);
  check("timestamp", "TimestampMillisecond", [3]);
  check("timestamp datetime", "TimestampNanosecond", [9]);
  check("timestamp", "timestamp(2) must have precision 0, 3, 6 or 9", [2]);
  check("timestamp_ms", "type timestamp_ms does not take (3)", [3]);
});

test("times of day have four precisions", () => {
  check("time", "TimeNanosecond");
  check("time", "TimeSecond", [0]);
  check("time", "TimeMillisecond", [3]);
  check("time", "TimeMicrosecond", [6]);
  check("time", "TimeNanosecond", [9]);
  check("time", "time(2) must have precision 0, 3, 6 or 9", [2]);
  check("time", "type time does not take (3, 3)", [3, 3]);
});

test("decimals have a precision and a scale", () => {
  check("decimal numeric dec", "Decimal(38, 10)");
  check("decimal", "Decimal(5, 0)", [5]);
  check("decimal", "Decimal(5, 2)", [5, 2]);
  check("decimal", "decimal precision must be 1 to 38, not 39", [39]);
  check("decimal", "decimal precision must be 1 to 38, not 0", [0]);
  check("decimal", "decimal scale 6 must not exceed precision 5", [5, 6]);
  check("decimal", "type decimal does not take (1, 2, 3)", [1, 2, 3]);
});

test("vectors have a dimension", () => {
  check("vector", "Vector(3)", [3]);
  check("vector", "type vector needs one dimension: VECTOR(n)");
  check("vector", "vector dimension must be 1 to 65535, not 0", [0]);
});

test("lengths and display widths are ignored", () => {
  check("varchar", "String", [255]);
  check("int", "Int32", [11]);
  check("float", "Float32", [24]);
  check("varchar", "type varchar does not take (1, 2)", [1, 2]);
});

test("tells unknown types from those of other servers", () => {
  expect(typeNamed("wibble", [], false)).toEqual({ problem: "unknown", why: "unknown type 'wibble'" });
  expect(typeNamed("timetz", [], false)).toEqual({ problem: "unsupported", why: "type TIMETZ" });
  expect(typeNamed("uuid", [], false)).toMatchObject({ problem: "unsupported" });
  expect(typeNamed("constructor", [], false)).toMatchObject({ problem: "unknown" });
});

test("a timestamp literal is as fine as its fraction", () => {
  const of = (text: string): string => displayName(timestampLiteralType(text));
  expect(of("2024-01-01")).toBe("TimestampMillisecond");
  expect(of("2024-01-01 00:00:00.123")).toBe("TimestampMillisecond");
  expect(of("2024-01-01 00:00:00.1234+08:00")).toBe("TimestampMicrosecond");
  expect(of("2024-01-01T00:00:00.1234567Z")).toBe("TimestampNanosecond");
});
