/**
 * Column index (bounds and null counts of each page) and offset index (where each page lies), as Parquet defines them.
 *
 * Source: Apache Parquet, PageIndex.md.
 */
import { assert } from "../../../base/assert.ts";
import type { WrittenChunk } from "../chunks/chunk-writer.ts";
import type { PlacedChunk, PlacedRowGroup } from "./file-metadata-writer.ts";
import type { FileOutput } from "../chunks/file-output.ts";
import { ThriftType, ThriftWriter } from "../thrift/thrift-compact.ts";
import type { ByteRange } from "../types.ts";

const EMPTY = new Uint8Array(0);
/** Chunks whose indexes are written before others get a turn. */
const CHUNKS_AT_ONCE = 256;

/** Row groups without their indexes. */
interface UnindexedGroup {
  readonly rowCount: number;
  readonly chunks: readonly WrittenChunk[];
  /** One a chunk, where there are any. */
  readonly blooms?: readonly (ByteRange | undefined)[];
}

/** Writes the column indexes of all chunks, and then their offset indexes, with stops in which others may have a turn. */
export function* placeIndexes(groups: readonly UnindexedGroup[], output: FileOutput): Generator<void, readonly PlacedRowGroup[]> {
  const writer = new ThriftWriter();
  let placed = 0;
  const place = (encode: (chunk: WrittenChunk, to: ThriftWriter) => void, chunk: WrittenChunk): ByteRange => {
    placed++;
    const { offset } = output;
    writer.out.reset();
    encode(chunk, writer);
    output.write(writer.out.bytes());
    return { offset, length: writer.out.length };
  };
  const columnIndexes: ByteRange[] = [];
  for (const { chunks } of groups) {
    for (const chunk of chunks) {
      columnIndexes.push(place(encodeColumnIndex, chunk));
      if (placed % CHUNKS_AT_ONCE === 0) yield;
    }
  }
  const rowGroups: PlacedRowGroup[] = [];
  let at = 0;
  for (const { rowCount, chunks, blooms } of groups) {
    const row: PlacedChunk[] = [];
    for (const [c, chunk] of chunks.entries()) {
      row.push({ chunk, columnIndex: columnIndexes[at++]!, offsetIndex: place(encodeOffsetIndex, chunk), bloom: blooms?.[c] });
      if (placed % CHUNKS_AT_ONCE === 0) yield;
    }
    rowGroups.push({ rowCount, chunks: row });
  }
  return rowGroups;
}

/** The column index of a chunk. Every page with values has bounds. */
function encodeColumnIndex(chunk: WrittenChunk, writer: ThriftWriter): void {
  const pageCount = chunk.pageOffsets.length;
  const isNullPage = (page: number): boolean => chunk.pageNullCounts[page] === chunk.pageValueCounts[page];
  for (let page = 0; page < pageCount; page++) {
    const { min, max } = chunk.pageBounds[page]!;
    assert(isNullPage(page) || (min !== undefined && max !== undefined), `bounds of page ${page} of column ${chunk.column.name}`);
  }
  writer.open();
  writer.list(1, ThriftType.True, pageCount);
  for (let page = 0; page < pageCount; page++) writer.elementBool(isNullPage(page));
  writer.list(2, ThriftType.Binary, pageCount);
  for (const bounds of chunk.pageBounds) writer.elementBinary(bounds.min ?? EMPTY);
  writer.list(3, ThriftType.Binary, pageCount);
  for (const bounds of chunk.pageBounds) writer.elementBinary(bounds.max ?? EMPTY);
  writer.i32(4, 0); // bounds in no particular order
  writer.list(5, ThriftType.I64, pageCount);
  for (const nullCount of chunk.pageNullCounts) writer.elementInt(nullCount);
  writer.close();
}

/** The offset index of a chunk. */
function encodeOffsetIndex(chunk: WrittenChunk, writer: ThriftWriter): void {
  const pageCount = chunk.pageOffsets.length;
  writer.open();
  writer.list(1, ThriftType.Struct, pageCount);
  for (let page = 0; page < pageCount; page++) {
    writer.open();
    writer.i64(1, chunk.pageOffsets[page]!);
    writer.i32(2, chunk.pageLengths[page]!);
    writer.i64(3, chunk.pageRowStarts[page]!);
    writer.close();
  }
  writer.close();
}
