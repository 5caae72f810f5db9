/**
 * The footer: schema, row groups, key-values.
 *
 * Source: Apache Parquet, parquet.thrift, struct FileMetaData.
 */
import type { WrittenChunk } from "./chunk-writer.ts";
import { FIXED_BYTES, PhysicalType, writeAnnotation } from "./physical-type.ts";
import { ThriftType, ThriftWriter } from "./thrift-compact.ts";
import type { ByteRange } from "./types.ts";

const CODEC_ZSTD = 6;
const REPETITION_REQUIRED = 0;
const REPETITION_OPTIONAL = 1;
const FORMAT_VERSION = 2;

/** A chunk with where its indexes and bloom filter were put. */
export interface PlacedChunk {
  readonly chunk: WrittenChunk;
  readonly columnIndex: ByteRange;
  readonly offsetIndex: ByteRange;
  readonly bloom: ByteRange | undefined;
}

/** A row group as the footer lists it; chunks in the order of the columns. */
export interface PlacedRowGroup {
  readonly rowCount: number;
  readonly chunks: readonly PlacedChunk[];
}

/** Everything the footer says. */
export interface FooterContent {
  readonly columns: readonly WrittenChunk["column"][];
  readonly physicalTypes: readonly number[];
  readonly rowCount: number;
  readonly rowGroups: readonly PlacedRowGroup[];
  /** In this order. */
  readonly keyValues: readonly (readonly [key: string, value: string])[];
  readonly createdBy: string;
}

/** The bytes of the footer, without its length and the magic. */
export function encodeFooter(footer: FooterContent): Uint8Array<ArrayBuffer> {
  const writer = new ThriftWriter();
  writer.open();
  writer.i32(1, FORMAT_VERSION);
  writeSchema(writer, footer);
  writer.i64(3, footer.rowCount);
  writer.list(4, ThriftType.Struct, footer.rowGroups.length);
  footer.rowGroups.forEach((group, ordinal) => writeRowGroup(writer, group, ordinal));
  writer.list(5, ThriftType.Struct, footer.keyValues.length);
  for (const [key, value] of footer.keyValues) {
    writer.open();
    writer.text(1, key);
    writer.text(2, value);
    writer.close();
  }
  writer.text(6, footer.createdBy);
  writer.list(7, ThriftType.Struct, footer.columns.length);
  for (let c = 0; c < footer.columns.length; c++) {
    writer.open();
    writer.struct(1); // bounds are ordered as the type defines
    writer.close();
    writer.close();
  }
  writer.close();
  return writer.out.written();
}

function writeSchema(writer: ThriftWriter, footer: FooterContent): void {
  writer.list(2, ThriftType.Struct, footer.columns.length + 1);
  writer.open();
  writer.text(4, "schema");
  writer.i32(5, footer.columns.length);
  writer.close();
  footer.columns.forEach((column, c) => {
    writer.open();
    writer.i32(1, footer.physicalTypes[c]!);
    if (footer.physicalTypes[c] === PhysicalType.FixedBytes) writer.i32(2, FIXED_BYTES);
    writer.i32(3, column.nullable ? REPETITION_OPTIONAL : REPETITION_REQUIRED);
    writer.text(4, column.name);
    writeAnnotation(writer, column);
    writer.close();
  });
}

function writeRowGroup(writer: ThriftWriter, group: PlacedRowGroup, ordinal: number): void {
  let byteLength = 0;
  let uncompressed = 0;
  for (const { chunk } of group.chunks) {
    byteLength += chunk.byteLength;
    uncompressed += chunk.uncompressedByteLength;
  }
  writer.open();
  writer.list(1, ThriftType.Struct, group.chunks.length);
  for (const placed of group.chunks) writeColumnChunk(writer, placed);
  writer.i64(2, uncompressed);
  writer.i64(3, group.rowCount);
  writer.i64(5, group.chunks[0]?.chunk.startOffset ?? 0);
  writer.i64(6, byteLength);
  if (ordinal < 0x8000) writer.i16(7, ordinal);
  writer.close();
}

function writeColumnChunk(writer: ThriftWriter, placed: PlacedChunk): void {
  writer.open();
  writer.i64(2, 0); // deprecated, but required: no metadata beside the chunk
  writer.struct(3);
  writeColumnMetadata(writer, placed);
  writer.close();
  writer.i64(4, placed.offsetIndex.offset);
  writer.i32(5, placed.offsetIndex.length);
  writer.i64(6, placed.columnIndex.offset);
  writer.i32(7, placed.columnIndex.length);
  writer.close();
}

function writeColumnMetadata(writer: ThriftWriter, { chunk, bloom }: PlacedChunk): void {
  writer.i32(1, chunk.physical);
  writer.list(2, ThriftType.I32, chunk.encodings.length);
  for (const encoding of chunk.encodings) writer.elementInt(encoding);
  writer.list(3, ThriftType.Binary, 1);
  writer.elementText(chunk.column.name);
  writer.i32(4, CODEC_ZSTD);
  writer.i64(5, chunk.valueCount);
  writer.i64(6, chunk.uncompressedByteLength);
  writer.i64(7, chunk.byteLength);
  writer.i64(9, chunk.dataOffset);
  if (chunk.hasDictionary) writer.i64(11, chunk.startOffset);
  writer.struct(12);
  writer.i64(3, chunk.nullCount);
  const { min, max, exact } = chunk.bounds;
  if (max !== undefined) writer.binary(5, max);
  if (min !== undefined) writer.binary(6, min);
  if (max !== undefined) writer.bool(7, exact);
  if (min !== undefined) writer.bool(8, exact);
  writer.close();
  if (bloom !== undefined) {
    writer.i64(14, bloom.offset);
    writer.i32(15, bloom.length);
  }
}
