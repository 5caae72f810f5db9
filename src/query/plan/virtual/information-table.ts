/** What a table of `information_schema` is: its columns by a line of text, its rows by a function. */
import type { TableId } from "../../../base/units.ts";
import {
  BINARY,
  BOOLEAN,
  type DataType,
  DURATION_MILLISECOND,
  FLOAT32,
  INT16,
  INT32,
  INT64,
  type NestedType,
  STRING,
  TIMESTAMP_MICROSECOND,
  TIMESTAMP_MILLISECOND,
  TIMESTAMP_NANOSECOND,
  TIMESTAMP_SECOND,
  UINT32,
  UINT64,
  UINT8,
} from "../../../column/data-type.ts";
import { encodeNested } from "../../../column/nested.ts";
import type { Scalar } from "../../../column/vector.ts";
import type { Catalog, Table } from "../../../table/catalog.ts";
import type { ViewInfo } from "../../../table/view.ts";
import type { RunningStatement, SystemFacts } from "../../system-facts.ts";
import type { BuiltInColumn } from "../common/computed-rows.ts";
import type { Unanswered } from "./asked-tables.ts";

/** Values by column; what is left out is NULL. */
export type InformationRow = Readonly<Record<string, Scalar>>;

/** What rows are computed from. */
export interface InformationSources {
  readonly catalog: Catalog;
  readonly system: SystemFacts;
  /** Start of the statement, nanoseconds since the epoch. */
  readonly now: bigint;
  /** What `system.statements` answered; absent: it was not asked. */
  readonly statements?: readonly RunningStatement[] | undefined;
  /** Number of the connection that asks; undefined: it has none. */
  readonly connectionId?: number | undefined;
  /** Tables whose sizes and files nobody told; absent: all are known. */
  readonly unanswered?: Unanswered | undefined;
  /** Types of a view's columns; absent, or undefined for one that cannot be read: they are not known. */
  readonly viewTypes?: ((view: ViewInfo) => readonly DataType[] | undefined) | undefined;
}

/** A table of `information_schema`. */
export interface InformationTable {
  readonly name: string;
  /** Stable: clients know tables by it. */
  readonly id: number;
  readonly columns: readonly BuiltInColumn[];
  readonly rows: (sources: InformationSources) => Iterable<InformationRow>;
}

const NUMBERS: NestedType = { kind: "list", element: INT32 };

const TYPES: Readonly<Record<string, DataType>> = {
  i16: INT16,
  i32: INT32,
  f32: FLOAT32,
  a: { kind: "list", element: STRING },
  ai: NUMBERS,
  oid: { kind: "int", bits: 32, signed: true, oid: true },
  i2v: { ...NUMBERS, vector: "int2vector" },
  oidv: { ...NUMBERS, vector: "oidvector" },
  i64: INT64,
  u64: UINT64,
  u32: UINT32,
  u8: UINT8,
  b: BOOLEAN,
  bin: BINARY,
  ts0: TIMESTAMP_SECOND,
  ts3: TIMESTAMP_MILLISECOND,
  ts6: TIMESTAMP_MICROSECOND,
  ts9: TIMESTAMP_NANOSECOND,
  dur3: DURATION_MILLISECOND,
};

/** Columns from words `name`, `name:type`; a `?` at the end: it may be NULL. */
export function informationTable(name: string, id: number, columns: string, rows: InformationTable["rows"] = () => []): InformationTable {
  const parsed = columns
    .trim()
    .split(/\s+/)
    .map((word) => {
      const nullable = word.endsWith("?");
      const [column = "", type = ""] = (nullable ? word.slice(0, -1) : word).split(":");
      return { name: column, type: TYPES[type] ?? STRING, nullable };
    });
  return { name, id, columns: parsed, rows };
}

/** A value of a column `:ai`. */
export function numberList(numbers: readonly number[]): Scalar {
  return encodeNested(NUMBERS, numbers);
}

/** Tables of all databases, by database and name, those of the server itself left out. */
export function* allTables(catalog: Catalog): Iterable<Table> {
  for (const { name } of catalog.databases()) yield* tablesOf(catalog, name);
}

/** The rows that each table has, table by table. */
export function rowsOfEach(rowsOf: (table: Table, sources: InformationSources) => Iterable<InformationRow>): InformationTable["rows"] {
  return function* (sources) {
    for (const table of allTables(sources.catalog)) yield* rowsOf(table, sources);
  };
}

/** Whether a table has told what it has. */
export function isKnown({ schema }: Table, { unanswered }: Pick<InformationSources, "unanswered">): boolean {
  return unanswered?.has(schema.id) !== true;
}

/** Tables of a database by name. */
export function tablesOf(catalog: Catalog, database: string): readonly Table[] {
  return catalog.tables(database).toSorted((a, b) => (a.schema.name < b.schema.name ? -1 : 1));
}

/** Options as lines of `'key'='value'`: `ttl` first, then by key. */
export function optionLines(options: Readonly<Record<string, string>>): string {
  return Object.keys(options)
    .sort((a, b) => (a === "ttl" ? -1 : b === "ttl" || a > b ? 1 : -1))
    .map((key) => `'${key}'='${options[key]}'\n`)
    .join("");
}

/** Number of a table's only region: its id, and region 0. */
export function regionIdOf(tableId: TableId): bigint {
  return BigInt(tableId) << 32n;
}
