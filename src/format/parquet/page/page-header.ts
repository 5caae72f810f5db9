/**
 * The header before every page. Data pages are version 2: levels lie uncompressed before the values, and each page says for itself
 * whether its values are compressed. Every header carries the CRC-32 of the bytes after it, as stored.
 *
 * Source: Apache Parquet, parquet.thrift, struct PageHeader.
 */
import { type ThriftReader, ThriftWriter } from "../thrift/thrift-compact.ts";

/** Encodings that we write, by their number in parquet.thrift. */
export const Encoding = {
  Plain: 0,
  Rle: 3,
  DeltaBinaryPacked: 5,
  DeltaLengthByteArray: 6,
  RleDictionary: 8,
  ByteStreamSplit: 9,
} as const;

/** One of `Encoding`. */
export type Encoding = (typeof Encoding)[keyof typeof Encoding];

const PAGE_DICTIONARY = 2;
const PAGE_DATA_V2 = 3;

/** A data page's header. */
export interface DataPageHeader {
  readonly kind: "data";
  readonly uncompressedByteLength: number;
  /** Bytes after the header: levels and values as stored. */
  readonly storedByteLength: number;
  readonly crc: number | undefined;
  readonly rowCount: number;
  readonly nullCount: number;
  readonly encoding: number;
  /** Bytes of the definition levels at the start of the page. */
  readonly levelByteLength: number;
  readonly compressed: boolean;
  /** Of a page with repetition levels: its rows, and the bytes of those levels, which come first. `rowCount` is its entries then. */
  readonly repeated?: { readonly rowCount: number; readonly levelByteLength: number };
}

/** A dictionary page's header. Its values are always compressed. */
export interface DictionaryPageHeader {
  readonly kind: "dictionary";
  readonly uncompressedByteLength: number;
  readonly storedByteLength: number;
  readonly crc: number | undefined;
  readonly valueCount: number;
  readonly encoding: number;
}

/** The header of any page of ours. */
export type PageHeader = DataPageHeader | DictionaryPageHeader;

/** The bytes of a header. */
export function encodePageHeader(header: PageHeader): Uint8Array<ArrayBuffer> {
  const writer = new ThriftWriter();
  writer.open();
  writer.i32(1, header.kind === "data" ? PAGE_DATA_V2 : PAGE_DICTIONARY);
  writer.i32(2, header.uncompressedByteLength);
  writer.i32(3, header.storedByteLength);
  if (header.crc !== undefined) writer.i32(4, header.crc | 0);
  if (header.kind === "dictionary") {
    writer.struct(7);
    writer.i32(1, header.valueCount);
    writer.i32(2, header.encoding);
    writer.close();
  } else {
    writer.struct(8);
    writer.i32(1, header.rowCount);
    writer.i32(2, header.nullCount);
    writer.i32(3, header.repeated?.rowCount ?? header.rowCount);
    writer.i32(4, header.encoding);
    writer.i32(5, header.levelByteLength);
    writer.i32(6, header.repeated?.levelByteLength ?? 0);
    writer.bool(7, header.compressed);
    writer.close();
  }
  writer.close();
  return writer.out.bytes();
}

/** Reads the header at the reader's offset and leaves the offset behind it. @throws DbError StorageUnavailable */
export function decodePageHeader(reader: ThriftReader): PageHeader {
  let type = -1;
  let uncompressedByteLength = -1;
  let storedByteLength = -1;
  let crc: number | undefined;
  let inner: InnerHeader | undefined;
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) type = reader.int();
    else if (id === 2) uncompressedByteLength = reader.size();
    else if (id === 3) storedByteLength = reader.size();
    else if (id === 4) crc = reader.int() >>> 0;
    else if (id === 7 || id === 8) inner = decodeInner(reader);
    else reader.skip();
  }
  if (uncompressedByteLength < 0 || storedByteLength < 0 || inner === undefined) reader.fail("a page header without sizes");
  const sizes = { uncompressedByteLength, storedByteLength, crc };
  if (type === PAGE_DICTIONARY) return { kind: "dictionary", ...sizes, valueCount: inner.first, encoding: inner.second };
  if (type !== PAGE_DATA_V2) reader.fail(`a page of type ${type}, which we never write`);
  return {
    kind: "data",
    ...sizes,
    rowCount: inner.first,
    nullCount: inner.second,
    encoding: inner.encoding,
    levelByteLength: inner.levelByteLength,
    compressed: inner.compressed,
  };
}

interface InnerHeader {
  /** Number of values (both kinds). */
  first: number;
  /** Null count of a data page, encoding of a dictionary page. */
  second: number;
  encoding: number;
  levelByteLength: number;
  compressed: boolean;
}

function decodeInner(reader: ThriftReader): InnerHeader {
  const inner: InnerHeader = { first: 0, second: 0, encoding: -1, levelByteLength: 0, compressed: true };
  reader.open();
  for (let id = reader.field(); id !== 0; id = reader.field()) {
    if (id === 1) inner.first = reader.size();
    else if (id === 2) inner.second = reader.size();
    else if (id === 4) inner.encoding = reader.size();
    else if (id === 5) inner.levelByteLength = reader.size();
    else if (id === 7) inner.compressed = reader.bool();
    else reader.skip();
  }
  return inner;
}
