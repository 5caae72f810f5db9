/** The tables of a random case: one wide, one narrow, with values at the edges of every type. */
import fc from "fast-check";
import { duckdbType } from "./duckdb-dialect.ts";
import type { Kind } from "./term.ts";

/** A unit of a time column. */
export interface Unit {
  readonly type: string;
  readonly perSecond: bigint;
}

/** All units. */
const UNITS: readonly Unit[] = [
  { type: "TIMESTAMP(3)", perSecond: 1000n },
  { type: "TIMESTAMP(0)", perSecond: 1n },
  { type: "TIMESTAMP(6)", perSecond: 1_000_000n },
  { type: "TIMESTAMP(9)", perSecond: 1_000_000_000n },
];

/** A column and what its values look like in Varve's SQL; in DuckDB they look the same unless `duck` says so. */
export interface Column {
  readonly name: string;
  /** undefined: DuckDB's arithmetic is not asked for values like these; they are compared, sorted, grouped and aggregated. */
  readonly kind: Kind | undefined;
  readonly type: string;
  readonly isTag?: boolean;
  readonly values: readonly string[];
}

const SMALL = ["0", "1", "-1", "2", "7", "100"];
const TEXTS = ["'a'", "''", "'b'", "'A'", "'ab'", "'a%'", "'_b'", "'ä'", "'日本'", "'😀'", "'\uffee'", "'12'", "' x '", "'it''s'"];

/** Columns of the wide table, its time and its row number aside. */
const WIDE: readonly Column[] = [
  { name: "h", kind: "text", type: "STRING", isTag: true, values: ["'a'", "'b'", "'c'", "''", "'ä'", "'😀'", "'\uffee'"] },
  { name: "id", kind: "int", type: "INT", isTag: true, values: ["1", "10", "9", "-5", "0", "2147483647"] },
  { name: "i", kind: "int", type: "BIGINT", values: SMALL },
  { name: "n", kind: "int", type: "INT", values: [...SMALL, "2147483647", "-2147483648"] },
  { name: "y", kind: "int", type: "TINYINT", values: [...SMALL, "127", "-128"] },
  { name: "w", kind: "int", type: "INT UNSIGNED", values: ["0", "1", "7", "4294967295"] },
  {
    name: "big",
    kind: undefined,
    type: "BIGINT",
    values: ["0", "9223372036854775807", "-9223372036854775808", "9007199254740993", "9007199254740992", "-1", "5"],
  },
  {
    name: "ubig",
    kind: undefined,
    type: "BIGINT UNSIGNED",
    values: ["0", "18446744073709551615", "9223372036854775808", "1", "9007199254740993"],
  },
  { name: "f", kind: "float", type: "DOUBLE", values: ["0.0", "1.0", "1.5", "-2.25", "0.125", "100.0", "-7.0"] },
  {
    name: "x",
    kind: undefined,
    type: "DOUBLE",
    values: ["0.0", "'NaN'", "'inf'", "'-inf'", "-0.0", "1e300", "-1e300", "5e-324", "0.1", "1.0"],
  },
  { name: "g", kind: "float", type: "FLOAT", values: ["0.0", "0.5", "-3.25", "64.0"] },
  { name: "ok", kind: "bool", type: "BOOLEAN", values: ["true", "false"] },
  { name: "s", kind: "text", type: "STRING", values: TEXTS },
  {
    name: "d",
    kind: "date",
    type: "DATE",
    values: ["'1970-01-01'", "'2024-02-29'", "'1969-12-31'", "'2024-01-31'", "'0001-01-01'", "'9999-12-31'"],
  },
  { name: "m", kind: "decimal", type: "DECIMAL(10, 2)", values: ["0.00", "1.50", "-1.50", "99999999.99", "-99999999.99", "0.01", "10.00"] },
];

const NARROW: readonly Column[] = [
  { name: "h", kind: "text", type: "STRING", isTag: true, values: ["'a'", "'b'", "'c'", "'zz'"] },
  { name: "i", kind: "int", type: "BIGINT", values: SMALL },
  { name: "f", kind: "float", type: "DOUBLE", values: ["0.0", "1.0", "1.5", "-2.25"] },
  { name: "s", kind: "text", type: "STRING", values: TEXTS.slice(0, 5) },
];

/** Rows of one table: values as SQL, `NULL` included; the time in ticks. */
export interface Rows {
  readonly name: "t" | "u";
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** Tables of one case. */
export interface Tables {
  readonly unit: Unit;
  readonly all: readonly [Rows, Rows];
  readonly isAppend: boolean;
  /** Where the rows of the engine lie when it is asked. */
  readonly place: "memory" | "files" | "both";
  /** Rows that are deleted once all are there. */
  readonly deleted?: readonly { readonly name: string; readonly condition: string }[];
}

const START_SECONDS = 1_709_164_740n; // 2024-02-28T23:59:00Z: a minute before a leap day.

/** Columns of a table with its time and row number, which no two rows share. */
function columnsOf(columns: readonly Column[], unit: Unit): readonly Column[] {
  const ticks = [
    0n,
    1n,
    unit.perSecond,
    59n * unit.perSecond,
    60n * unit.perSecond,
    86_400n * unit.perSecond,
    -1n,
    -(2n ** 31n) * unit.perSecond,
  ];
  const times = ticks.map((tick) => String(START_SECONDS * unit.perSecond + tick));
  return [...columns, { name: "k", kind: "int", type: "BIGINT", values: [] }, { name: "ts", kind: "time", type: unit.type, values: times }];
}

function rowsOf(columns: readonly Column[], most: number): fc.Arbitrary<readonly (readonly string[])[]> {
  const cells = columns.map(({ name, values }): fc.Arbitrary<string> => {
    if (name === "k") return fc.constant("0");
    const value = fc.constantFrom(...values);
    return name === "ts" ? value : fc.oneof({ weight: 1, arbitrary: fc.constant("NULL") }, { weight: 5, arbitrary: value });
  });
  const numbered = (rows: string[][]): string[][] =>
    rows.map((row, r) => row.map((cell, c) => (columns[c]?.name === "k" ? String(r + 1) : cell)));
  return fc.array(fc.tuple(...cells), { maxLength: most, size: "max" }).map(numbered);
}

/** Tables of any size up to `most` rows, the second one smaller. */
export function tablesArbitrary(most: number): fc.Arbitrary<Tables> {
  return fc.constantFrom(...UNITS).chain((unit) => {
    const [wide, narrow] = [columnsOf(WIDE, unit), columnsOf(NARROW, unit)];
    return fc
      .record({
        t: rowsOf(wide, most),
        u: rowsOf(narrow, Math.ceil(most / 3)),
        isAppend: fc.boolean(),
        place: fc.constantFrom("memory" as const, "files" as const, "both" as const),
      })
      .map(({ t, u, isAppend, place }) => {
        const kept = (rows: Rows): Rows => (isAppend ? rows : { ...rows, rows: lastOfEachKey(rows) });
        const all = [kept({ name: "t", columns: wide, rows: t }), kept({ name: "u", columns: narrow, rows: u })] as const;
        return { unit, all, isAppend, place };
      });
  });
}

/** Without rows that a later one of the same tags and time replaces: DuckDB keeps what it is given. */
function lastOfEachKey({ columns, rows }: Rows): readonly (readonly string[])[] {
  const byKey = new Map<string, readonly string[]>();
  for (const row of rows) byKey.set(row.filter((_, c) => columns[c]?.isTag === true || columns[c]?.name === "ts").join(), row);
  return [...byKey.values()];
}

/** The CREATE TABLE of Varve. */
export function createText({ name, columns }: Rows, isAppend: boolean): string {
  const parts = columns.map((column) => `${column.name} ${column.type}${column.name === "ts" ? " TIME INDEX" : ""}`);
  const tags = columns.filter(({ isTag }) => isTag === true).map((column) => column.name);
  return `CREATE TABLE ${name} (${parts.join(", ")}, PRIMARY KEY (${tags.join(", ")}))${isAppend ? " WITH (append_mode = 'true')" : ""}`;
}

/** An INSERT of rows `[from, to)`; undefined when there is none. */
export function insertText({ name, rows }: Rows, from = 0, to: number = rows.length): string | undefined {
  const part = rows.slice(from, to);
  return part.length === 0 ? undefined : `INSERT INTO ${name} VALUES ${part.map((row) => `(${row.join(", ")})`).join(", ")}`;
}

/** The table and its rows for DuckDB. */
export function duckdbTexts(table: Rows): readonly string[] {
  const parts = table.columns.map(({ name, type }) => `${name} ${duckdbType(type)}`);
  const insert = insertText(table);
  return [`CREATE OR REPLACE TABLE ${table.name} (${parts.join(", ")})`, ...(insert === undefined ? [] : [insert])];
}

/** A DELETE for each of `deleted`. */
export function deleteTexts({ deleted = [] }: Tables): readonly string[] {
  return deleted.map(({ name, condition }) => `DELETE FROM ${name} WHERE ${condition}`);
}
