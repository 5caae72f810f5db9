/** A table with a column of every type and kind of page, from a fixed formula: for cross-checks with other readers and as a fixture. */
import type { DataType } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { ColumnInput, ParquetColumn } from "../types.ts";
import { field, inputOf, runsOf } from "./memory-file.ts";

/** Rows, columns and their values. */
export interface SampleTable {
  readonly rowCount: number;
  readonly columns: readonly ParquetColumn[];
  readonly inputs: readonly ColumnInput[];
  /** Values by column. */
  readonly values: readonly (readonly Scalar[])[];
  readonly seriesEnds: Uint32Array;
}

const int = (bits: 8 | 16 | 32 | 64, signed: boolean): DataType => ({ kind: "int", bits, signed });
const text = new TextEncoder();

/** Value of row `i` of each field; every seventh row is NULL. */
const FIELDS: Readonly<Record<string, readonly [DataType, (i: number) => Scalar]>> = {
  i8: [int(8, true), (i) => (i % 256) - 128],
  u8: [int(8, false), (i) => i % 256],
  i16: [int(16, true), (i) => ((i * 37) % 65_536) - 32_768],
  u16: [int(16, false), (i) => (i * 37) % 65_536],
  i32: [int(32, true), (i) => (i * 2_654_435) | 0],
  u32: [int(32, false), (i) => (i * 265_443_591) >>> 0],
  u32_high: [int(32, false), (i) => 4_294_967_295 - (i % 50)],
  u32_middle: [int(32, false), (i) => 2_147_483_640 + (i % 50)],
  i64: [int(64, true), (i) => i * 1e10],
  i64_walk: [int(64, true), (i) => (i * i) % 97],
  i64_ends: [int(64, true), (i) => (i % 2 === 1 ? 9_223_372_036_854_775_807n : -9_223_372_036_854_775_808n)],
  i64_high: [int(64, true), (i) => 9_223_372_036_854_775_000n + BigInt(i % 5)],
  u64: [int(64, false), (i) => 18_446_744_073_709_551_615n - BigInt(i)],
  u64_middle: [int(64, false), (i) => 9_223_372_036_854_775_806n + BigInt(i % 5)],
  f32: [{ kind: "float", bits: 32 }, (i) => Math.fround(i / 3)],
  f64: [{ kind: "float", bits: 64 }, (i) => i / 3],
  f64_special: [{ kind: "float", bits: 64 }, (i) => [Number.NaN, -0, 0, 1 / 0, -1 / 0, i / 7][i % 6]],
  f64_few: [{ kind: "float", bits: 64 }, (i) => (i % 10) / 3],
  f32_few: [{ kind: "float", bits: 32 }, (i) => Math.fround((i % 10) / 3)],
  flag: [{ kind: "boolean" }, (i) => i % 3 === 0],
  day: [{ kind: "date" }, (i) => i - 1000],
  message: [{ kind: "string" }, (i) => `série ${i} ${"x".repeat(i % 90)}`],
  level: [{ kind: "string" }, (i) => ["info", "warn", "", "error"][i % 4]],
  binary: [{ kind: "binary" }, (i) => Uint8Array.of(i & 255, 0, 255)],
  json: [{ kind: "json" }, (i) => `{"a":${i}}`],
  decimal: [{ kind: "decimal", precision: 10, scale: 2 }, (i) => i * 100 + 25],
  embedding: [{ kind: "vector", dimension: 2 }, (i) => text.encode(`${i}`.padStart(8, "0"))],
  ts_s: [{ kind: "timestamp", unit: "second" }, (i) => 1_700_000_000n + BigInt(i * i)],
  ts_ms: [{ kind: "timestamp", unit: "millisecond" }, (i) => 1_700_000_000_000n - BigInt(i)],
  ts_us: [{ kind: "timestamp", unit: "microsecond" }, (i) => BigInt(i) - 1_700_000_000_000_000n],
  ts_ns: [{ kind: "timestamp", unit: "nanosecond" }, (i) => 1_700_000_000_000_000_000n + BigInt(i) * 1_000_000_007n],
  duration: [{ kind: "duration", unit: "nanosecond" }, (i) => BigInt(i) * 1000n],
  // From version 2 on.
  decimal9: [
    { kind: "decimal", precision: 9, scale: 3 },
    (i) => (i % 2 === 0 ? 999_999_999 : -999_999_999) + (i % 100) * (i % 2 === 0 ? -1 : 1),
  ],
  decimal18: [{ kind: "decimal", precision: 18, scale: 18 }, (i) => (i % 2 === 0 ? 999_999_999_999_999_999n : -(10n ** 17n) - BigInt(i))],
  decimal38: [{ kind: "decimal", precision: 38, scale: 10 }, (i) => (i % 2 === 0 ? 10n ** 38n - 1n - BigInt(i) : BigInt(i) - 10n ** 38n)],
  decimal38_small: [{ kind: "decimal", precision: 38, scale: 2 }, (i) => i - 500],
  time_s: [{ kind: "time", unit: "second" }, (i) => (i * 977) % 86_400],
  time_ms: [{ kind: "time", unit: "millisecond" }, (i) => (i * 977_001) % 86_400_000],
  time_us: [{ kind: "time", unit: "microsecond" }, (i) => (i * 977_000_001) % 86_400_000_000],
  time_ns: [{ kind: "time", unit: "nanosecond" }, (i) => (i * 977_000_000_001) % 86_400_000_000_000],
};

/** The table with `rowCount` rows. */
export function everyType(rowCount: number): SampleTable {
  const rows = Array.from({ length: rowCount }, (_, i) => i);
  const nanos: DataType = { kind: "timestamp", unit: "nanosecond" };
  const columns: ParquetColumn[] = [
    { name: "time", type: nanos, nullable: false, role: "time" },
    { name: "host", type: { kind: "string" }, nullable: true, role: "tag", bloom: true },
  ];
  const times = rows.map((i) => 1_700_000_000_000_000_000n + BigInt(i % 10) * 10_000_000_000n);
  const hosts = rows.map((i) => [undefined, "a", "b", "é", "z".repeat(100)][Math.floor(i / 10) % 5]);
  const values: Scalar[][] = [times, hosts];
  const inputs: ColumnInput[] = [inputOf(nanos, times), runsOf(hosts)];
  for (const [name, [type, valueOf]] of Object.entries(FIELDS)) {
    const column = rows.map((i) => (i % 7 === 3 ? undefined : valueOf(i)));
    columns.push(field(name, type));
    values.push(column);
    inputs.push(inputOf(type, column));
  }
  const seriesEnds = Uint32Array.from({ length: Math.ceil(rowCount / 10) }, (_, s) => Math.min(rowCount, (s + 1) * 10));
  return { rowCount, columns, inputs, values, seriesEnds };
}
