/** Values both ways: what is written in binary or text is read back as it was; styles of dates and intervals; arrays. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DATE,
  displayName,
  FLOAT32,
  FLOAT64,
  INT16,
  INT32,
  INT64,
  INTERVAL,
  JSON_TYPE,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_MICROSECOND,
} from "../../column/data-type.ts";
import { encodeNested } from "../../column/nested.ts";
import { newSettings } from "../../query/session-settings.ts";
import type { Value } from "../../value/any-value.ts";
import { castValue } from "../../value/cast.ts";
import { daysFromCivil } from "../../value/civil.ts";
import { Cells } from "../wire/cells/cells.ts";
import { arrayElements } from "./array-text.ts";
import { dateText, intervalStyled, stampText } from "./cells/time-styles.ts";
import { appendBinary } from "./cells/value-binary.ts";
import { valueText } from "./cells/value-text.ts";
import { affectedTag, rowsTag } from "./command-tag.ts";
import { optionSettings } from "./handshake.ts";
import { parameterValue } from "./parameter-values.ts";
import { Format } from "./results.ts";
import { oidOf } from "./types.ts";

const STYLE = newSettings();
const SEED = 20_261_123;
const DECIMAL: DataType = { kind: "decimal", precision: 38, scale: 10 };

const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n });
const TYPES: readonly (readonly [DataType, fc.Arbitrary<Value>])[] = [
  [BOOLEAN, fc.boolean()],
  [INT16, fc.integer({ min: -32_768, max: 32_767 })],
  [INT32, fc.integer()],
  [INT64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  [FLOAT32, fc.float()],
  [FLOAT64, fc.double()],
  [STRING, fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0"))],
  [BINARY, fc.uint8Array()],
  [DATE, fc.integer({ min: -719_162, max: 2_932_896 })],
  [TIME_NANOSECOND, fc.integer({ min: 0, max: 86_399_999_999 }).map((value) => value * 1000)],
  [TIMESTAMP_MICROSECOND, micros],
  [
    INTERVAL,
    fc.record({
      months: fc.integer({ min: -9999, max: 9999 }),
      days: fc.integer({ min: -9999, max: 9999 }),
      nanos: fc.integer().map((n) => BigInt(n) * 1000n),
    }),
  ],
  [DECIMAL, fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })],
  [JSON_TYPE, fc.jsonValue().map((value) => castValue(JSON.stringify(value), STRING, JSON_TYPE, { timeZone: "UTC" }))],
];

/** A value as it is compared: numbers of any kind alike. */
function plain(value: Value): unknown {
  if (value instanceof Uint8Array) return [...value];
  const isWhole = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
  return isWhole ? String(value) : value;
}

function binaryOf(value: Exclude<Value, undefined>, type: DataType): Uint8Array {
  const cells = new Cells();
  cells.begin(0);
  appendBinary(cells, value, type, STYLE);
  return cells.own.slice(0, cells.used);
}

describe("values that are written and read back", () => {
  for (const [type, values] of TYPES) {
    const oid = oidOf(type);
    test(`${displayName(type)} in binary`, () => {
      fc.assert(
        fc.property(values, (value) => {
          if (value === undefined) return;
          const read = parameterValue({ oid, format: Format.Binary, bytes: binaryOf(value, type) }, "UTC");
          expect(plain(castValue(read.value, read.type, type, { timeZone: "UTC" }))).toEqual(plain(value));
        }),
        { seed: SEED },
      );
    });

    test(`${displayName(type)} in text`, () => {
      fc.assert(
        fc.property(values, (value) => {
          if (value === undefined) return;
          const bytes = new TextEncoder().encode(valueText(value, type, STYLE));
          const read = parameterValue({ oid, format: Format.Text, bytes }, "UTC");
          expect(plain(castValue(read.value, read.type, type, { timeZone: "UTC" }))).toEqual(plain(value));
        }),
        { seed: SEED },
      );
    });

    if (type.kind === "interval" || type.kind === "json") continue;
    test(`${displayName(type)} in an array`, () => {
      const list = { kind: "list", element: type } as const;
      fc.assert(
        fc.property(fc.array(fc.option(values, { nil: undefined }), { maxLength: 5 }), (parts) => {
          const whole = encodeNested(list, parts);
          for (const format of [Format.Binary, Format.Text]) {
            const bytes = format === Format.Binary ? binaryOf(whole, list) : new TextEncoder().encode(valueText(whole, list, STYLE));
            const read = parameterValue({ oid: oidOf(list), format, bytes }, "UTC");
            if (type.kind !== "time") expect(plain(read.value)).toEqual(plain(whole));
          }
        }),
        { seed: SEED },
      );
    });
  }

  test("binary that is cut is refused", () => {
    for (const [type, values] of TYPES) {
      if (type.kind === "string" || type.kind === "binary" || type.kind === "json") continue;
      const [value] = fc.sample(values, { numRuns: 1, seed: SEED });
      const bytes = binaryOf(value as Exclude<Value, undefined>, type);
      for (let length = 0; length < bytes.length; length++)
        expect(() => parameterValue({ oid: oidOf(type), format: Format.Binary, bytes: bytes.subarray(0, length) }, "UTC")).toThrow();
    }
  });
});

describe("styles", () => {
  const [days, seconds] = [10_212, 882_344_236];
  const dates: readonly (readonly [string, string, string, string])[] = [
    ["ISO", "MDY", "1997-12-17", "1997-12-17 07:37:16.123000"],
    ["ISO", "DMY", "1997-12-17", "1997-12-17 07:37:16.123000"],
    ["SQL", "MDY", "12/17/1997", "12/17/1997 07:37:16.123000"],
    ["SQL", "YMD", "12/17/1997", "12/17/1997 07:37:16.123000"],
    ["SQL", "DMY", "17/12/1997", "17/12/1997 07:37:16.123000"],
    ["Postgres", "MDY", "12-17-1997", "Wed Dec 17 07:37:16.123000 1997"],
    ["Postgres", "DMY", "17-12-1997", "Wed 17 Dec 07:37:16.123000 1997"],
    ["German", "DMY", "17.12.1997", "17.12.1997 07:37:16.123000"],
  ];
  for (const [dateStyle, dateOrder, date, stamp] of dates) {
    test(`dates of ${dateStyle}, ${dateOrder}`, () => {
      const style = { dateStyle, dateOrder } as Parameters<typeof dateText>[1];
      expect([dateText(days, style), stampText(seconds, 123_000, style)]).toEqual([date, stamp]);
    });
  }

  test("years before the first, and after 9999", () => {
    const style = { dateStyle: "ISO", dateOrder: "MDY" } as const;
    expect(dateText(daysFromCivil(-43, 3, 15), style)).toBe("0044-03-15 BC");
    expect(dateText(2_932_897, style)).toBe("10000-01-01");
  });

  const intervals: readonly (readonly [readonly [number, number, bigint], string, string, string, string])[] = [
    [[0, 1, 7380n], "P1DT2H3M", "1 2:03:00", "1 day 02:03:00", "@ 1 day 2 hours 3 mins"],
    [
      [14, 3, 14_706n],
      "P1Y2M3DT4H5M6S",
      "+1-2 +3 +4:05:06",
      "1 year 2 mons 3 days 04:05:06",
      "@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs",
    ],
    [[0, 0, 0n], "PT0S", "0", "00:00:00", "@ 0"],
    [[-14, 0, 0n], "P-1Y-2M", "-1-2", "-1 years -2 mons", "@ 1 year 2 mons ago"],
    [[0, -1, -7380n], "P-1DT-2H-3M", "-1 2:03:00", "-1 days -02:03:00", "@ 1 day 2 hours 3 mins ago"],
  ];
  for (const [[months, dayCount, secondCount], ...texts] of intervals) {
    test(`an interval in each style: ${texts[0]}`, () => {
      const interval = { months, days: dayCount, nanos: secondCount * 1_000_000_000n };
      const styles = ["iso_8601", "sql_standard", "postgres", "postgres_verbose"] as const;
      expect(styles.map((style) => intervalStyled(interval, style))).toEqual([...texts]);
    });
  }
});

test("arrays in text", () => {
  expect(arrayElements("{}")).toEqual([]);
  expect(arrayElements('{1, NULL ,"NULL","a b","\\"x\\"",c\\,d}')).toEqual(["1", undefined, "NULL", "a b", '"x"', "c,d"]);
  expect(arrayElements("[0:1]={1,2}")).toEqual(["1", "2"]);
  for (const text of ["", "{", "1,2", "{1,}", "{1}}", "{,1}", '{"a}', "{{1}}", '{"a"b}']) expect(() => arrayElements(text)).toThrow();
});

test("tags and options", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["INSERT INTO t VALUES (1)", "INSERT 0 3"],
    ["/* c */ update t set a = 1", "UPDATE 3"],
    ["DELETE FROM t", "DELETE 3"],
    ["CREATE TABLE IF NOT EXISTS t (…)", "CREATE TABLE"],
    ["CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE VIEW"],
    ["DROP TABLE t", "DROP TABLE"],
    ["ALTER TABLE t ADD COLUMN x INT", "ALTER TABLE"],
    ["TRUNCATE t", "TRUNCATE TABLE"],
    ["SET a = 1", "SET"],
    ["DECLARE c CURSOR FOR SELECT 1", "DECLARE CURSOR"],
    ["ADMIN flush_table('t')", "OK 3"],
  ];
  for (const [text, tag] of cases) expect([text, affectedTag(text, 3)]).toEqual([text, tag]);
  expect([rowsTag("SELECT 1", 2), rowsTag("FETCH 2 FROM c", 2), rowsTag("show tables", 2), rowsTag("(SELECT 1)", 2)]).toEqual([
    "SELECT 2",
    "FETCH 2",
    "SHOW",
    "SELECT 2",
  ]);
  expect(optionSettings("-c a=1 --b=x\\ y -cd=2 nonsense -c")).toEqual([
    ["a", "1"],
    ["b", "x y"],
    ["d", "2"],
  ]);
});

test("infinite dates and times, and those that 64 bits do not hold, are refused", () => {
  const given = (oid: number, bytes: Buffer): unknown => parameterValue({ oid, format: Format.Binary, bytes }, "UTC").value;
  const day = Buffer.alloc(4);
  const time = Buffer.alloc(8);
  for (const days of [-(2 ** 31), 2 ** 31 - 1]) {
    day.writeInt32BE(days);
    expect(() => given(1082, day)).toThrow("infinity");
  }
  for (const micros of [-(2n ** 63n), 2n ** 63n - 1n]) {
    time.writeBigInt64BE(micros);
    for (const oid of [1114, 1184]) expect(() => given(oid, time)).toThrow("infinity");
  }
  time.writeBigInt64BE(2n ** 63n - 2n);
  expect(() => given(1114, time)).toThrow("out of range");
  day.writeInt32BE(0);
  expect(given(1082, day)).toBe(10_957);
});
