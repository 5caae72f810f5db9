/**
 * Reads the footer into compact records. Unknown fields are skipped; fields that we never need are not kept.
 *
 * Source: Apache Parquet, parquet.thrift, struct FileMetaData.
 */
import { type ThriftReader, ThriftType } from "../thrift/thrift-compact.ts";
import type { ByteRange } from "../types.ts";

/** A leaf column of the schema, as stored. */
export interface FooterColumn {
  readonly name: string;
  readonly physical: number;
  /** Bytes of a value of physical type FixedBytes, else 0. */
  readonly valueBytes: number;
  readonly optional: boolean;
}

/** A column chunk of the footer. */
export interface FooterChunk {
  readonly range: ByteRange;
  readonly dictionary: ByteRange | undefined;
  readonly bloom: ByteRange | undefined;
  readonly columnIndex: ByteRange | undefined;
  readonly offsetIndex: ByteRange | undefined;
  readonly nullCount: number;
  readonly valueCount: number;
  readonly uncompressedByteLength: number;
}

/** A row group of the footer. */
export interface FooterRowGroup {
  readonly rowCount: number;
  readonly chunks: readonly FooterChunk[];
}

/** What the footer says. */
export interface Footer {
  readonly rowCount: number;
  readonly columns: readonly FooterColumn[];
  readonly rowGroups: readonly FooterRowGroup[];
  readonly keyValues: ReadonlyMap<string, string>;
  readonly createdBy: string;
}

/** Reads a whole footer. @throws DbError StorageUnavailable */
export function decodeFooter(reader: ThriftReader): Footer {
  let rowCount = -1;
  let columns: FooterColumn[] = [];
  let rowGroups: FooterRowGroup[] = [];
  let createdBy = "";
  const keyValues = new Map<string, string>();
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 2) columns = readList(reader, readSchemaElement).slice(1);
    else if (id === 3) rowCount = reader.size();
    else if (id === 4) rowGroups = readList(reader, readRowGroup);
    else if (id === 5) for (const [key, value] of readList(reader, readKeyValue)) keyValues.set(key, value);
    else if (id === 6) createdBy = reader.text();
    else reader.skip();
  }
  if (rowCount < 0) reader.fail("a footer without a row count");
  return { rowCount, columns, rowGroups, keyValues, createdBy };
}

/** The elements of the list of structs that `field` announced. */
function readList<T>(reader: ThriftReader, readElement: (reader: ThriftReader) => T): T[] {
  const size = reader.list(ThriftType.Struct);
  const elements: T[] = [];
  for (let i = 0; i < size; i++) {
    reader.open();
    elements.push(readElement(reader));
  }
  return elements;
}

function readSchemaElement(reader: ThriftReader): FooterColumn {
  let name = "";
  let physical = -1;
  let valueBytes = 0;
  let optional = false;
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) physical = reader.int();
    else if (id === 2) valueBytes = reader.int();
    else if (id === 3) optional = reader.int() !== 0;
    else if (id === 4) name = reader.text();
    else reader.skip();
  }
  return { name, physical, valueBytes, optional };
}

function readKeyValue(reader: ThriftReader): [string, string] {
  let key = "";
  let value = "";
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) key = reader.text();
    else if (id === 2) value = reader.text();
    else reader.skip();
  }
  return [key, value];
}

function readRowGroup(reader: ThriftReader): FooterRowGroup {
  let rowCount = -1;
  let chunks: FooterChunk[] = [];
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) chunks = readList(reader, readChunk);
    else if (id === 3) rowCount = reader.size();
    else reader.skip();
  }
  if (rowCount < 0) reader.fail("a row group without a row count");
  return { rowCount, chunks };
}

interface ChunkFields {
  valueCount: number;
  uncompressedByteLength: number;
  byteLength: number;
  dataOffset: number;
  dictionaryOffset: number;
  nullCount: number;
  bloomOffset: number;
  bloomLength: number;
}

function readChunk(reader: ThriftReader): FooterChunk {
  let offsetIndexOffset = -1;
  let offsetIndexLength = 0;
  let columnIndexOffset = -1;
  let columnIndexLength = 0;
  let fields: ChunkFields | undefined;
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 3) fields = readColumnMetadata(reader);
    else if (id === 4) offsetIndexOffset = reader.size();
    else if (id === 5) offsetIndexLength = reader.size();
    else if (id === 6) columnIndexOffset = reader.size();
    else if (id === 7) columnIndexLength = reader.size();
    else reader.skip();
  }
  if (fields === undefined) reader.fail("a column chunk without metadata");
  const { dataOffset, dictionaryOffset, byteLength } = fields;
  const offset = dictionaryOffset >= 0 ? dictionaryOffset : dataOffset;
  // A chunk without rows has no data page; its dictionary is then all of it.
  const dictionaryEnd = dataOffset >= 0 ? dataOffset : offset + byteLength;
  return {
    range: { offset: Math.max(0, offset), length: byteLength },
    dictionary: dictionaryOffset < 0 ? undefined : { offset, length: dictionaryEnd - offset },
    bloom: rangeOrNone(fields.bloomOffset, fields.bloomLength),
    columnIndex: rangeOrNone(columnIndexOffset, columnIndexLength),
    offsetIndex: rangeOrNone(offsetIndexOffset, offsetIndexLength),
    nullCount: fields.nullCount,
    valueCount: fields.valueCount,
    uncompressedByteLength: fields.uncompressedByteLength,
  };
}

function rangeOrNone(offset: number, length: number): ByteRange | undefined {
  return offset < 0 ? undefined : { offset, length };
}

function readColumnMetadata(reader: ThriftReader): ChunkFields {
  const fields: ChunkFields = {
    valueCount: 0,
    uncompressedByteLength: 0,
    byteLength: 0,
    dataOffset: -1,
    dictionaryOffset: -1,
    nullCount: 0,
    bloomOffset: -1,
    bloomLength: 0,
  };
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 5) fields.valueCount = reader.size();
    else if (id === 6) fields.uncompressedByteLength = reader.size();
    else if (id === 7) fields.byteLength = reader.size();
    else if (id === 9) fields.dataOffset = reader.int();
    else if (id === 11) fields.dictionaryOffset = reader.size();
    else if (id === 12) fields.nullCount = readNullCount(reader);
    else if (id === 14) fields.bloomOffset = reader.size();
    else if (id === 15) fields.bloomLength = reader.size();
    else reader.skip();
  }
  return fields;
}

function readNullCount(reader: ThriftReader): number {
  let nullCount = 0;
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 3) nullCount = reader.size();
    else reader.skip();
  }
  return nullCount;
}
