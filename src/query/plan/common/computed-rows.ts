/** Rows that the server computes, as batches. */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Scalar } from "../../../column/vector.ts";
import { vectorOf } from "../../../column/vector-builder.ts";
import type { SourceRun } from "../../operator/contract/node.ts";

/** A column of a computed table. */
export interface BuiltInColumn extends ColumnHeader {
  readonly nullable: boolean;
}

/** Rows that the server computes, or reads from files, and their columns. */
export interface ComputedRows {
  readonly columns: readonly ColumnHeader[];
  readonly batches: (run: Pick<SourceRun, "pace">) => Iterable<Batch> | AsyncIterable<Batch>;
  /** Of a table that is as long as a LIMIT right above it wants: that many rows. */
  readonly rowsFor?: ((rowCount: number) => Iterable<Batch>) | undefined;
}

/** Columns and rows of a computed table. */
export interface BuiltInTable extends ComputedRows {
  readonly id: number;
  readonly columns: readonly BuiltInColumn[];
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
