/** Rows that the server computes, as batches. */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";

/** A column of a computed table. */
export interface BuiltInColumn extends ColumnHeader {
  readonly nullable: boolean;
}

/** Columns and rows of a computed table. */
export interface BuiltInTable {
  readonly id: number;
  readonly columns: readonly BuiltInColumn[];
  readonly batches: () => Iterable<Batch>;
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
