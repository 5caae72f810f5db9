/**
 * The footer: schema, row groups, key-values.
 *
 * Source: Apache Parquet, parquet.thrift, struct FileMetaData.
 */
import type { WrittenChunk } from "../chunks/chunk-writer.ts";
import { FIXED_BYTES, PhysicalType, writeAnnotation, writeGroupAnnotation } from "../schema/physical-type.ts";
import { ThriftType, ThriftWriter } from "../thrift/thrift-compact.ts";
import type { ByteRange } from "../types.ts";

const CODEC_ZSTD = 6;
/** FieldRepetitionType of parquet.thrift. */
const REPETITION = { required: 0, optional: 1, repeated: 2 } as const;
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

/** A name in the schema of a file of groups: a group of names, or one of the file's columns, by its number. */
export type SchemaNode =
  | SchemaGroup
  | { readonly kind: "leaf"; readonly name: string; readonly isRequired: boolean; readonly column: number };

/** A group: the column of a list, struct or map, or what repeats in it. */
export interface SchemaGroup {
  readonly kind: "group";
  readonly name: string;
  readonly repetition: keyof typeof REPETITION;
  readonly holds?: "list" | "map";
  readonly children: readonly SchemaNode[];
}

/** Everything the footer says. */
export interface FooterContent {
  /** In a file of groups the names below the root; else these are the columns. */
  readonly schema?: readonly SchemaNode[];
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
  return writer.out.bytes();
}

function writeSchema(writer: ThriftWriter, footer: FooterContent): void {
  const { columns } = footer;
  const nodes =
    footer.schema ?? columns.map(({ name, nullable }, c): SchemaNode => ({ kind: "leaf", name, isRequired: !nullable, column: c }));
  writer.list(
    2,
    ThriftType.Struct,
    nodes.reduce((sum, node) => sum + sizeOf(node), 1),
  );
  writer.open();
  writer.text(4, "schema");
  writer.i32(5, nodes.length);
  writer.close();
  for (const node of nodes) writeNode(writer, footer, node);
}

/** Names in a node, its own included. */
function sizeOf(node: SchemaNode): number {
  return node.kind === "leaf" ? 1 : node.children.reduce((sum, child) => sum + sizeOf(child), 1);
}

function writeNode(writer: ThriftWriter, footer: FooterContent, node: SchemaNode): void {
  writer.open();
  if (node.kind === "leaf") {
    const physical = footer.physicalTypes[node.column]!;
    writer.i32(1, physical);
    if (physical === PhysicalType.FixedBytes) writer.i32(2, FIXED_BYTES);
    writer.i32(3, node.isRequired ? REPETITION.required : REPETITION.optional);
    writer.text(4, node.name);
    writeAnnotation(writer, footer.columns[node.column]!);
    writer.close();
    return;
  }
  writer.i32(3, REPETITION[node.repetition]);
  writer.text(4, node.name);
  writer.i32(5, node.children.length);
  if (node.holds !== undefined) writeGroupAnnotation(writer, node.holds);
  writer.close();
  for (const child of node.children) writeNode(writer, footer, child);
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
  const path = chunk.column.leaf?.path ?? [chunk.column.name];
  writer.list(3, ThriftType.Binary, path.length);
  for (const name of path) writer.elementText(name);
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
