/** Rows that the server computes, as batches. */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";

/** Columns and rows of a computed table. */
export interface BuiltInTable {
  readonly columns: readonly ColumnHeader[];
  readonly batches: () => Iterable<Batch>;
  /** Of a table that is as long as it is asked to be: that many first rows. */
  readonly first?: (rowCount: number) => Iterable<Batch>;
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
