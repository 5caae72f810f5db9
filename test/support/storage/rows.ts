/** Rows as plain objects, and the slow, obvious way to do with them what storage does with arrays: the oracle of its tests. */
import type { DataType } from "../../../src/column/data-type.ts";
import { scalarAt } from "../../../src/column/scalar.ts";
import type { Scalar } from "../../../src/column/vector.ts";
import { vectorOf } from "../../../src/column/vector-builder.ts";
import type { Arena } from "../../../src/storage/memtable/arena.ts";
import type { Chunk, ChunkValues } from "../../../src/storage/memtable/chunk.ts";
import { buildChunk } from "../../../src/storage/memtable/chunk-builder.ts";
import { repeatedVector } from "../../../src/storage/memtable/repeated-bytes.ts";
import type { MergeMode } from "../../../src/table/schema.ts";

/** A field column of the rows. */
export interface FieldColumn {
  readonly id: number;
  readonly type: DataType;
}

/** One row: `values` holds one scalar a field column. */
export interface Row {
  readonly series: number;
  readonly time: bigint;
  readonly values: readonly Scalar[];
}

/** The rows of one request. Columns that `columnIds` leaves out are not part of the request. */
export interface Request {
  readonly rows: readonly Row[];
  readonly columnIds: readonly number[];
}

/** The chunk of a request. All times lie within 2^53 of the first. */
export function chunkOf(sequence: number, request: Request, fields: readonly FieldColumn[], arena: Arena): Chunk {
  const { rows, columnIds } = request;
  const timeBase = rows[0]?.time ?? 0n;
  return buildChunk(
    {
      sequence,
      rowCount: rows.length,
      series: Uint32Array.from(rows, (row) => row.series),
      seriesMax: rows.reduce((max, row) => Math.max(max, row.series), 0),
      timeBase,
      timeOffsets: Float64Array.from(rows, (row) => Number(row.time - timeBase)),
      columns: fields.flatMap((field, index) => {
        if (!columnIds.includes(field.id)) return [];
        const values = rows.map((row) => row.values[index]);
        return [{ columnId: field.id, type: field.type, vector: vectorOf(field.type, values) }];
      }),
    },
    arena,
  );
}

/** The value of a row of a chunk's column. */
export function chunkScalar(data: ChunkValues, type: DataType, row: number): Scalar {
  return data.kind === "repeated" ? scalarAt(repeatedVector(data, row + 1), type, row) : scalarAt(data, type, row);
}

/** The values that a row of the request has in the table: columns that the request leaves out are NULL. */
function rowsOf(request: Request, fields: readonly FieldColumn[]): Row[] {
  return request.rows.map((row) => ({
    ...row,
    values: fields.map((field, index) => (request.columnIds.includes(field.id) ? row.values[index] : undefined)),
  }));
}

/**
 * All rows in the order (series in `order`, time), duplicates resolved by the merge mode. Series that `order` leaves out are dropped.
 *
 * @param requests oldest first
 * @param order series numbers in the wanted order
 */
export function mergedRows(
  requests: readonly Request[],
  fields: readonly FieldColumn[],
  order: readonly number[],
  mergeMode: MergeMode,
): Row[] {
  const all = requests.flatMap((request) => rowsOf(request, fields));
  return order.flatMap((series) => {
    const rows = all.filter((row) => row.series === series);
    rows.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)); // Stable: equal times stay in the order they were written.
    if (mergeMode === "append") return rows;
    const merged: Row[] = [];
    for (const row of rows) {
      const last = merged.at(-1);
      if (last?.time !== row.time) merged.push(row);
      else merged[merged.length - 1] = mergeMode === "last_row" ? row : { ...row, values: newestValues(last, row) };
    }
    return merged;
  });
}

function newestValues(older: Row, newer: Row): Scalar[] {
  return newer.values.map((value, index) => (value === undefined ? older.values[index] : value));
}
