/**
 * Rows of a result as chunks of bytes, for every format that prints cell by cell.
 */
import { entryLength, textLength } from "../../../column/coded-text.ts";
import type { Batch, ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Pace } from "../../../base/scheduler/pace.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { type CellDialect, CellColumn } from "../../common/kernels/cell-column.ts";
import type { RowLayout } from "../../common/kernels/interleave.ts";
import { RowWriter } from "../../common/kernels/row-writer.ts";

/** Rows that one chunk holds at most: big enough to amortise a write, small enough to stay in cache. */
const CHUNK_ROWS_MAX = 2048;

/** Bytes after which a chunk ends. Reason: a chunk is held until the client takes it. */
const CHUNK_BYTES = 4 * 1024 * 1024;

/** Characters of texts that are printed at once. Reason: a batch of long texts may be more than memory has room for. */
const TEXT_CHARACTERS = 8 * 1024 * 1024;

/** Rows that are printed at once. Reason: their text is held while the client takes it, 30 MiB of a batch of 65,536 rows. */
const PRINTED_ROWS = 4096;

/** How many rows were printed. */
export interface RowCounter {
  rows: number;
}

/**
 * Prints at most `limit` rows; what is yielded is valid until the next is asked for. Stops reading the result once they are printed.
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
  pace: Pace,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const cells = columns.map((position) => new CellColumn((headers[position] as ColumnHeader).type, dialect));
  const writer = new RowWriter(cells, layout);
  for await (const batch of partsOf(batches)) {
    const rowCount = limit === undefined ? batch.rowCount : Math.min(batch.rowCount, limit - counter.rows);
    if (rowCount > 0) {
      for (const [index, position] of columns.entries()) {
        const vector = batch.vectors[position];
        if (vector === undefined) continue;
        for (const _ of cells[index]?.encodeSteps(vector, rowCount) ?? []) await pace.turn();
      }
      for (let start = 0; start < rowCount; ) {
        const end = Math.min(start + CHUNK_ROWS_MAX, rowCount);
        const printed = writer.write(start, end, CHUNK_BYTES);
        start += printed.rowCount;
        counter.rows += printed.rowCount;
        yield printed.bytes;
        await pace.turn();
      }
    }
    if (limit !== undefined && counter.rows >= limit) break;
  }
}

async function* partsOf(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
  for await (const batch of batches) yield* parts(batch);
}

/** A batch in parts of few rows, whose texts are no longer than `TEXT_CHARACTERS` together or of one row. */
function* parts(batch: Batch): Iterable<Batch> {
  const { rowCount } = batch;
  const long = batch.vectors.filter((vector) => charactersOf(vector, rowCount) > TEXT_CHARACTERS);
  let from = 0;
  let characters = 0;
  for (let to = 0; to < rowCount; ) {
    if (long.length === 0) to = Math.min(rowCount, from + PRINTED_ROWS);
    else characters += long.reduce((sum, vector) => sum + charactersAt(vector, to), 0);
    if (long.length > 0 && ++to < rowCount && characters < TEXT_CHARACTERS && to - from < PRINTED_ROWS) continue;
    yield sliceBatch(batch, from, to);
    from = to;
    characters = 0;
  }
}

/** Characters of the different values of a dictionary, counted until they are too many; bytes of the texts of all rows of other vectors. */
function charactersOf(vector: Vector, rowCount: number): number {
  if (vector.kind === "bytes") return (vector.offsets[rowCount] ?? 0) - (vector.offsets[0] ?? 0);
  if (vector.kind === "coded") return textLength(vector, 0, rowCount);
  return vector.kind === "dictionary" ? charactersOfTexts(vector.dictionary) : 0;
}

type Texts = Extract<Vector, { kind: "dictionary" }>["dictionary"];

/** Dictionaries that were counted, which each batch of an answer has again, and how long they were then: some grow. */
const counted = new WeakMap<Texts, { readonly length: number; readonly characters: number }>();

function charactersOfTexts(texts: Texts): number {
  const known = counted.get(texts);
  if (known?.length === texts.length) return known.characters;
  let characters = 0;
  for (const text of texts) if ((characters += text?.length ?? 0) > TEXT_CHARACTERS) break;
  counted.set(texts, { length: texts.length, characters });
  return characters;
}

function charactersAt(vector: Vector, row: number): number {
  if (vector.kind === "bytes") return (vector.offsets[row + 1] ?? 0) - (vector.offsets[row] ?? 0);
  if (vector.kind === "coded") return entryLength(vector.entries, vector.codes[row] ?? 0);
  return vector.kind === "dictionary" ? (vector.dictionary[vector.codes[row] ?? 0]?.length ?? 0) : 0;
}

/** 0..count-1. */
export function allColumns(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}
