/** Other readers see what we wrote: hyparquet value by value, DuckDB through a file. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { clockText } from "../../value/clock-time.ts";
import type { DataType } from "../../column/data-type.ts";
import { decimalText } from "../../column/decimal.ts";
import type { Scalar } from "../../column/vector.ts";
import { everyType } from "./testing/every-type.ts";
import { writeToMemory } from "./testing/memory-file.ts";

type TimeType = Extract<DataType, { kind: "time" }>;

const table = everyType(2000);
const bytes = writeToMemory(table.columns, table.rowCount, table.inputs, {
  rowsPerPage: 300,
  rowsPerRowGroup: 900,
  seriesEnds: table.seriesEnds,
});
const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
const position = (name: string): number => table.columns.findIndex((column) => column.name === name);
const valuesOf = (name: string): readonly Scalar[] => table.values[position(name)] ?? [];

const isLong = (unit: string): boolean => unit === "microsecond" || unit === "nanosecond";

/** Days, milliseconds and the like as hyparquet shows them. */
function asHyparquet(name: string, value: Scalar): unknown {
  const { type } = table.columns[position(name)]!;
  if (value === undefined) return undefined;
  if (type.kind === "date") return new Date(Number(value) * 86_400_000);
  if (type.kind === "decimal") return Number(value) * 10 ** -type.scale; // It has floats only.
  if (type.kind === "time") return type.unit === "second" ? Number(value) * 1000 : isLong(type.unit) ? BigInt(value as number) : value;
  if (type.kind === "json") return JSON.parse(String(value));
  if (type.kind === "timestamp") {
    const perMilli = { second: 1000, millisecond: 1, microsecond: 1 / 1000, nanosecond: 1 / 1e6 }[type.unit];
    return new Date(Math.trunc(Number(value) * perMilli));
  }
  return type.kind === "int" && type.bits === 64 ? BigInt(value as number | bigint) : type.kind === "duration" ? value : value;
}

describe("hyparquet reads", () => {
  const binary = ["binary", "embedding"]; // left out: shown as text or bytes by annotation
  test("every value", async () => {
    const rows = await parquetReadObjects({ file: buffer, compressors, utf8: true });
    expect(rows.length).toBe(table.rowCount);
    for (const { name } of table.columns) {
      if (binary.includes(name)) continue;
      const got = rows.map((row): unknown => row[name] ?? undefined);
      expect(got.map((value) => (value instanceof Date ? value.getTime() : value))).toEqual(
        valuesOf(name).map((value) => {
          const want = asHyparquet(name, value);
          return want instanceof Date ? want.getTime() : want;
        }),
      );
    }
  });

  test("the footer", () => {
    const metadata = parquetMetadata(buffer);
    expect(Number(metadata.num_rows)).toBe(table.rowCount);
    expect(metadata.row_groups.length).toBe(3);
    const chunk = metadata.row_groups[0]?.columns[position("level")]?.meta_data;
    expect(chunk?.statistics).toMatchObject({ min_value: "", max_value: "warn" });
  });
});

describe("DuckDB reads", () => {
  let folder = "";
  let path = "";
  let connection: DuckDBConnection;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "varve-parquet-"));
    path = join(folder, "sample.parquet");
    await Bun.write(path, bytes);
    connection = await (await DuckDBInstance.create(":memory:")).connect();
  });
  afterAll(async () => {
    connection.closeSync();
    await rm(folder, { recursive: true });
  });

  async function query(sql: string): Promise<unknown[][]> {
    return (await connection.runAndReadAll(sql.replaceAll("$file", `'${path}'`))).getRows() as unknown[][];
  }

  test("counts and sums", async () => {
    const integers = ["i8", "u8", "i16", "u16", "i32", "u32", "u32_high", "u32_middle", "i64", "i64_walk", "i64_high", "u64", "u64_middle"];
    const sums = integers.map((name) => `sum(${name})`).join(", ");
    const [row] = await query(`select count(*), count(i8), ${sums} from $file`);
    const want = integers.map((name) => valuesOf(name).reduce<bigint>((sum, value) => sum + BigInt((value ?? 0) as number | bigint), 0n));
    expect(row).toEqual([2000n, BigInt(valuesOf("i8").filter((value) => value !== undefined).length), ...want]);
  });

  test("the ends of 64 bits, floats, booleans and text", async () => {
    const [row] = await query(
      "select min(i64_ends), max(i64_ends), sum(f64), count(*) filter (flag), count(distinct message), sum(length(message)) from $file",
    );
    const messages = valuesOf("message").filter((value) => value !== undefined) as string[];
    expect(row?.slice(0, 2)).toEqual([-(2n ** 63n), 2n ** 63n - 1n]);
    const floats = valuesOf("f64").reduce<number>((sum, value) => sum + ((value as number | undefined) ?? 0), 0);
    expect(row?.[2]).toBeCloseTo(floats, 3);
    expect(row?.slice(3)).toEqual([
      BigInt(valuesOf("flag").filter((value) => value === true).length),
      BigInt(new Set(messages).size),
      BigInt(messages.reduce((sum, value) => sum + value.length, 0)),
    ]);
  });

  test("times in their unit", async () => {
    const [row] = await query(
      "select epoch_ms(min(ts_s)), epoch_ms(min(ts_ms)), epoch_us(max(ts_us)), epoch_ns(max(ts_ns)), max(duration) from $file",
    );
    const bounds = (name: string): bigint[] =>
      (valuesOf(name).filter((value) => value !== undefined) as bigint[]).toSorted((a, b) => (a < b ? -1 : 1));
    expect(row?.[0]).toBe(bounds("ts_s")[0]! * 1000n);
    expect(row?.[1]).toBe(bounds("ts_ms")[0]!);
    expect(row?.[2]).toBe(bounds("ts_us").at(-1)!);
    expect(row?.[4]).toBe(bounds("duration").at(-1)!);
  });

  test("types that it shows by their own names", async () => {
    const columns = ["decimal", "decimal9", "decimal18", "decimal38", "time_s", "time_ms", "time_us", "time_ns", "day", "json", "binary"];
    const [row] = await query(`select ${columns.map((name) => `any_value(typeof("${name}"))`).join(", ")} from $file`);
    expect(row).toEqual([
      "DECIMAL(10,2)",
      "DECIMAL(9,3)",
      "DECIMAL(18,18)",
      "DECIMAL(38,10)",
      "TIME",
      "TIME",
      "TIME",
      "TIME_NS",
      "DATE",
      "JSON",
      "BLOB",
    ]);
  });

  test("decimals and times of day, every digit", async () => {
    for (const name of ["decimal", "decimal9", "decimal18", "decimal38", "decimal38_small", "time_s", "time_ms", "time_us", "time_ns"]) {
      const { type } = table.columns[position(name)]!;
      const text = (value: Scalar): string | null => {
        if (value === undefined) return null;
        return type.kind === "decimal"
          ? decimalText(value as number | bigint, type.scale)
          : clockText(value as number, (type as TimeType).unit);
      };
      const rows = await query(`select ${name}::varchar from $file`);
      // It prints seconds without their last zeros, and DECIMAL(18, 18) without the zero before the point.
      const trimmed = (value: string | null): string | null =>
        type.kind === "time" ? (value?.replace(/0+$/, "") ?? null) : (value?.replace(/^(-?)0(?=[.])/, "$1") ?? null);
      expect(rows.map(([value]) => trimmed(value as string | null))).toEqual(valuesOf(name).map((value) => trimmed(text(value))));
    }
  });

  test("bounds of decimals let the right rows through", async () => {
    const count = (test: (value: bigint) => boolean): bigint =>
      BigInt(valuesOf("decimal38_small").filter((value) => value !== undefined && test(BigInt(value as number | bigint))).length);
    expect(await query("select count(*) from $file where decimal38_small < -4.5")).toEqual([[count((value) => value < -450n)]]);
    expect(await query("select count(*) from $file where decimal38_small = 0.01")).toEqual([[count((value) => value === 1n)]]);
    expect(await query("select min(decimal38)::varchar, max(decimal38)::varchar from $file")).toEqual([
      ["-9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"],
    ]);
  });

  test("what bounds and bloom filters let through", async () => {
    expect(await query("select count(*) from $file where host = 'b'")).toEqual([[400n]]);
    expect(await query("select count(*) from $file where host is null")).toEqual([[400n]]);
    expect(await query("select count(*) from $file where host = 'nobody'")).toEqual([[0n]]);
    expect(await query("select count(*) from $file where u32_high > 4294967294")).toEqual([
      [BigInt(valuesOf("u32_high").filter((value) => value === 4_294_967_295).length)],
    ]);
    expect(await query("select bool_and(bloom_filter_excludes) from parquet_bloom_probe($file, 'host', 'nobody')")).toEqual([[true]]);
    expect(await query("select bool_or(bloom_filter_excludes) from parquet_bloom_probe($file, 'host', 'b')")).toEqual([[false]]);
  });
});

test("a file without rows is read as empty", async () => {
  const empty = writeToMemory(table.columns, 0, everyType(0).inputs);
  const file = empty.buffer.slice(empty.byteOffset, empty.byteOffset + empty.length) as ArrayBuffer;
  expect(await parquetReadObjects({ file, compressors })).toEqual([]);
});
