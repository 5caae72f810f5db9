/** Rows → a file: encoded, compressed, written under a name of its own until it is whole. */
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import type { FileAccess, FileConnection } from "../../table/file-access.ts";
import { sliceBatch } from "../../column/slice.ts";
import { type Bytes, compressed } from "./compression.ts";
import type { CopyOptions } from "./copy-options.ts";
import { type EncodingWork, encodeParquet } from "./encode-parquet.ts";
import { encodeCsv, encodeJson } from "./encode-text.ts";

/** Where rows go. */
export interface Destination {
  readonly files: FileAccess;
  readonly location: string;
  readonly connection: FileConnection;
}

/** Rows with their columns. */
export interface Rows {
  readonly headers: readonly ColumnHeader[];
  readonly batches: AsyncIterable<Batch>;
}

/** Writes a file and gives the number of its rows. @throws DbError; there is no such file then, or the one that was */
export async function exportRows(rows: Rows, to: Destination, options: CopyOptions, work: EncodingWork): Promise<number> {
  const file = await to.files.create(to.location, to.connection);
  const counted = { rows: 0 };
  try {
    const bytes = encoded({ ...rows, batches: counting(rows.batches, counted) }, options, work);
    for await (const piece of bytes) await file.write(piece);
    await file.finish();
  } catch (thrown) {
    await file.abort();
    throw thrown;
  }
  return counted.rows;
}

function encoded({ headers, batches }: Rows, options: CopyOptions, work: EncodingWork): Bytes {
  if (options.format === "parquet") return encodeParquet(headers, batches, work);
  const text = options.format === "csv" ? encodeCsv(headers, batches, options) : encodeJson(headers, batches, options);
  const { compression } = options;
  return compression === undefined || compression === "none" ? text : compressed(text, compression);
}

async function* counting(batches: AsyncIterable<Batch>, counted: { rows: number }): AsyncIterable<Batch> {
  for await (const batch of batches) {
    counted.rows += batch.rowCount;
    yield batch;
  }
}

/** The first rows of a stream. */
export async function* firstRows(batches: AsyncIterable<Batch>, count: number): AsyncIterable<Batch> {
  let left = count;
  if (left === 0) return;
  for await (const batch of batches) {
    yield sliceBatch(batch, 0, Math.min(left, batch.rowCount));
    left -= batch.rowCount;
    if (left <= 0) return;
  }
}
