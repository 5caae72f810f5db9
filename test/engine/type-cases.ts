/** The types of columns, for tests that take each through every place that holds rows. */
import type { SqlSession } from "./sql-session.ts";

/** A type with literals and the JSON cells that they come back as. */
export interface TypeCase {
  readonly type: string;
  readonly literals: readonly (readonly [literal: string, cell: string])[];
}

function of(type: string, ...literals: readonly (readonly [string, string])[]): TypeCase {
  return { type, literals };
}

const DIGITS28 = "9".repeat(28);
/** Every type of a column, with its smallest, largest and usual values. */
export const CASES: readonly TypeCase[] = [
  of("BOOLEAN", ["false", "false"], ["true", "true"], ["1", "true"], ["'true'", "true"]),
  of("TINYINT", ["-128", "-128"], ["127", "127"], ["5", "5"]),
  of("SMALLINT", ["-32768", "-32768"], ["32767", "32767"], ["300", "300"]),
  of("INT", ["-2147483648", "-2147483648"], ["2147483647", "2147483647"], ["70000", "70000"]),
  of(
    "BIGINT",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["9007199254740993", "9007199254740993"],
  ),
  of("TINYINT UNSIGNED", ["0", "0"], ["255", "255"], ["128", "128"]),
  of("SMALLINT UNSIGNED", ["0", "0"], ["65535", "65535"], ["40000", "40000"]),
  of("INT UNSIGNED", ["0", "0"], ["4294967295", "4294967295"], ["2147483648", "2147483648"]),
  of("BIGINT UNSIGNED", ["0", "0"], ["18446744073709551615", "18446744073709551615"], ["9223372036854775808", "9223372036854775808"]),
  of("FLOAT", ["-3.4028234e38", "-3.4028234663852886e38"], ["3.4028234e38", "3.4028234663852886e38"], ["1.5", "1.5"], ["'NaN'", "null"]),
  of(
    "DOUBLE",
    ["-1.7976931348623157e308", "-1.7976931348623157e308"],
    ["1.7976931348623157e308", "1.7976931348623157e308"],
    ["0.1", "0.1"],
  ),
  of("DECIMAL(4, 2)", ["-99.99", '"-99.99"'], ["99.99", '"99.99"'], ["1.5", '"1.50"'], ["-0.005", '"-0.01"']),
  of("DECIMAL(9, 3)", ["-999999.999", '"-999999.999"'], ["'999999.999'", '"999999.999"'], ["1", '"1.000"']),
  of(
    "DECIMAL(18, 6)",
    ["-999999999999.999999", '"-999999999999.999999"'],
    ["999999999999.999999", '"999999999999.999999"'],
    ["9007199254.740993", '"9007199254.740993"'],
    ["0.1", '"0.100000"'],
  ),
  of(
    "DECIMAL",
    [`-${DIGITS28}.9999999999`, `"-${DIGITS28}.9999999999"`],
    [`${DIGITS28}.9999999999`, `"${DIGITS28}.9999999999"`],
    ["0.1", '"0.1000000000"'],
  ),
  of(
    "DECIMAL(38, 38)",
    [`-0.${"9".repeat(38)}`, `"-0.${"9".repeat(38)}"`],
    [`0.${"9".repeat(38)}`, `"0.${"9".repeat(38)}"`],
    ["1e-38", `"0.${"0".repeat(37)}1"`],
  ),
  of("STRING", ["''", '""'], ["'it''s é 😀'", '"it\'s é 😀"'], [`'${"x".repeat(300)}'`, `"${"x".repeat(300)}"`]),
  of("BINARY", ["X''", "[]"], ["X'00ff7f'", "[0,255,127]"], ["'ab'", "[97,98]"]),
  of("DATE", ["'0001-01-01'", "-719162"], ["'9999-12-31'", "2932896"], ["'2024-02-29'", "19782"], ["'1969-12-31'", "-1"]),
  of("TIME", ["'00:00:00'", "0"], ["'23:59:59.999999999'", "86399999999999"], ["'12:30'", "45000000000000"]),
  of("TIME(0)", ["'00:00:00'", "0"], ["'23:59:59'", "86399"], ["'12:30:15'", "45015"]),
  of("TIME(3)", ["'00:00:00'", "0"], ["'23:59:59.999'", "86399999"], ["'12:30:15.5'", "45015500"]),
  of("TIME(6)", ["'00:00:00'", "0"], ["'23:59:59.999999'", "86399999999"], ["'00:00:00.000001'", "1"]),
  of(
    "TIMESTAMP(0)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31 12:00:00'", "1706702400"],
  ),
  of(
    "TIMESTAMP(3)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31T12:00:00.5Z'", "1706702400500"],
  ),
  of(
    "TIMESTAMP(6)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31 12:00:00.000001'", "1706702400000001"],
  ),
  of(
    "TIMESTAMP(9)",
    ["-9223372036854775808", "-9223372036854775808"],
    ["9223372036854775807", "9223372036854775807"],
    ["'2024-01-31 12:00:00.000000001'", "1706702400000000001"],
  ),
  of(
    "JSON",
    ["'{}'", "{}"],
    [`'{"b":[1,2.50,"x"],"a":null,"n":123456789012345678901234567890}'`, '{"a":null,"b":[1,2.5,"x"],"n":123456789012345678901234567890}'],
    ["'true'", "true"],
    ["parse_json('[1]')", "[1]"],
  ),
  of(
    "VECTOR(2)",
    ["'[-3.4028235e38, 3.4028235e38]'", "[255,255,127,255,255,255,127,127]"],
    ["'[0.0, 0.0]'", "[0,0,0,0,0,0,0,0]"],
    ["parse_vec('[1,2]')", "[0,0,128,63,0,0,0,64]"],
  ),
];

/** Where rows are, one after another. */
export const PLACES: readonly ["the memtable", "the replayed log", "a file", "a merged file", "a restarted engine"] = [
  "the memtable",
  "the replayed log",
  "a file",
  "a merged file",
  "a restarted engine",
];

/** Brings the rows of a table to the next place. */
export async function move(session: SqlSession, table: string, place: (typeof PLACES)[number]): Promise<void> {
  if (place === "the replayed log") await session.machine.crash();
  if (place === "a file") await session.flush(table);
  if (place === "a merged file") await session.compact(table);
  if (place === "a restarted engine") await session.machine.restart();
}

/** A table name for a type. */
export function nameFor(prefix: string, type: string): string {
  return `${prefix}_${type.replaceAll(/\W+/g, "_").toLowerCase()}`;
}
