/**
 * Rows of a result as chunks of bytes, for every format that prints cell by cell.
 */
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import { type CellDialect, CellColumn } from "../kernels/cell-column.ts";
import { interleave, type RowLayout } from "../kernels/interleave.ts";

/** Rows that one chunk holds at most: big enough to amortise a write, small enough to stay in cache. */
const CHUNK_ROWS_MAX = 2048;

/** How many rows were printed. */
export interface RowCounter {
  rows: number;
}

/**
 * Prints at most `limit` rows; stops reading the result once they are printed.
 *
 * @param columns positions of the columns to print, in the order of `layout.before`
 * @param counter grows by the rows of each chunk before the chunk is yielded
 */
export async function* printRows(
  headers: readonly ColumnHeader[],
  batches: AsyncIterable<Batch>,
  columns: readonly number[],
  dialect: CellDialect,
  layout: RowLayout,
  limit: number | undefined,
  counter: RowCounter,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const cells = columns.map((position) => new CellColumn((headers[position] as ColumnHeader).type, dialect));
  for await (const batch of batches) {
    const rowCount = limit === undefined ? batch.rowCount : Math.min(batch.rowCount, limit - counter.rows);
    if (rowCount > 0) {
      for (const [index, position] of columns.entries()) {
        const vector = batch.vectors[position];
        if (vector !== undefined) cells[index]?.encode(vector, rowCount);
      }
      for (let start = 0; start < rowCount; start += CHUNK_ROWS_MAX) {
        const end = Math.min(start + CHUNK_ROWS_MAX, rowCount);
        const chunk = interleave(cells, layout, start, end);
        counter.rows += end - start;
        yield chunk;
      }
    }
    if (limit !== undefined && counter.rows >= limit) break;
  }
}

/** 0..count-1. */
export function allColumns(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
