/** A query that is asked of Varve and of DuckDB, and what of its answer must be the same. */
import type { CanonicalCell, CellKind, ResultDigest } from "../canonical.ts";
import { digestRows } from "../canonical.ts";
import type { ResultColumn, ResultTable } from "../sql-client.ts";

/** How an answer is fetched whole, where that is what is measured. */
export type AnswerFormat = "json" | "csv" | "arrow";

/** See the file header. */
export interface HeavyQuery {
  readonly name: string;
  readonly sql: string;
  /** Absent: the same text. */
  readonly duckdbSql?: string;
  /**
   * Rows are in order, and these columns of them are compared, by position or by name; "all" of them. Absent: whole rows, in any order.
   * A LIMIT behind an order with equal keys leaves open which rows come: then the keys alone are named.
   */
  readonly compares?: "all" | readonly (number | string)[];
  /** The answer is large: it is fetched in this format, and compared by DuckDB, which reads it. */
  readonly fetchedAs?: AnswerFormat;
}

/** Positions of the columns that are compared. Names may differ in case. */
export function comparedColumns(
  { compares }: HeavyQuery,
  names: readonly string[],
): { readonly order: readonly number[]; readonly isOrdered: boolean } {
  const all = names.map((_, position) => position);
  if (compares === undefined || compares === "all") return { order: all, isOrdered: compares === "all" };
  const order = compares.map((column) =>
    typeof column === "number" ? column : names.findIndex((name) => name.toLowerCase() === column.toLowerCase()),
  );
  return { order, isOrdered: true };
}

/** What is compared of Varve's answer. */
export function varveDigest(table: ResultTable, query: HeavyQuery): ResultDigest {
  const names = table.columns.map(({ name }) => name);
  const { order, isOrdered } = comparedColumns(query, names);
  const nanos = table.columns.map(({ type }) => NANOS_OF_TYPE[type]);
  const rows = table.rows.map((row) => row.map((cell, c) => inNanos(cell, nanos[c])));
  return digestRows(rows, table.columns.map(kindOf), order, isOrdered);
}

/** By the type of a column: nanoseconds of its unit. */
const NANOS_OF_TYPE: Readonly<Record<string, bigint>> = {
  TimestampSecond: 1_000_000_000n,
  TimestampMillisecond: 1_000_000n,
  TimestampMicrosecond: 1000n,
  TimestampNanosecond: 1n,
};

function inNanos(cell: CanonicalCell, nanos: bigint | undefined): CanonicalCell {
  const isWhole = typeof cell === "string" || typeof cell === "number";
  return nanos === undefined || !isWhole ? cell : BigInt(cell) * nanos;
}

/** Decimals and whole numbers are compared by their digits. */
function kindOf({ type }: ResultColumn): CellKind {
  return type.startsWith("Float") ? "float" : "text";
}
