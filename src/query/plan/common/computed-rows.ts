/** Rows that the server computes, as batches. */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { RowSource } from "../../operator/source/node.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";

/** A column of a computed table. */
export interface BuiltInColumn extends ColumnHeader {
  readonly nullable: boolean;
}

/** Rows that the server computes, or reads from files, and their columns. */
export interface ComputedRows {
  readonly columns: readonly ColumnHeader[];
  readonly source: RowSource;
}

/** Columns and rows of a computed table. */
export interface BuiltInTable extends ComputedRows {
  readonly id: number;
  readonly columns: readonly BuiltInColumn[];
  /** How many of the columns `*` shows, where it leaves the last ones out. */
  readonly shown?: number;
  /** Further columns that `*` leaves out, each of one value. */
  readonly hidden?: readonly (ColumnHeader & { readonly value: number })[];
}

/** One batch of rows. */
export function batchOf(columns: readonly ColumnHeader[], rows: readonly (readonly Scalar[])[]): Batch {
  return {
    rowCount: rows.length,
    vectors: columns.map((column, i) =>
      vectorOf(
        column.type,
        rows.map((row) => row[i]),
      ),
    ),
  };
}
