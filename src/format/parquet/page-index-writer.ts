/**
 * Column index (bounds and null counts of each page) and offset index (where each page lies), as Parquet defines them.
 *
 * Source: Apache Parquet, PageIndex.md.
 */
import { assert } from "../../base/assert.ts";
import type { WrittenChunk } from "./chunk-writer.ts";
import { ThriftType, ThriftWriter } from "./thrift-compact.ts";

const EMPTY = new Uint8Array(0);

/** The column index of a chunk. Every page with values has bounds. */
export function encodeColumnIndex(chunk: WrittenChunk): Uint8Array<ArrayBuffer> {
  const pageCount = chunk.pageOffsets.length;
  const isNullPage = (page: number): boolean => chunk.pageNullCounts[page] === chunk.pageValueCounts[page];
  for (let page = 0; page < pageCount; page++) {
    const { min, max } = chunk.pageBounds[page]!;
    assert(isNullPage(page) || (min !== undefined && max !== undefined), `bounds of page ${page} of column ${chunk.column.name}`);
  }
  const writer = new ThriftWriter();
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
  return writer.out.written();
}

/** The offset index of a chunk. */
export function encodeOffsetIndex(chunk: WrittenChunk): Uint8Array<ArrayBuffer> {
  const pageCount = chunk.pageOffsets.length;
  const writer = new ThriftWriter();
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
  return writer.out.written();
}
