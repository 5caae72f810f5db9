/**
 * The pages of one column of one row group, one after another: levels, and values as the database has them. Memory is a page and what is
 * read ahead, whatever the size of the row group.
 *
 *   page, version 1   | header | packed: repetition levels, definition levels (u32 length before each), values |
 *   page, version 2   | header | repetition levels | definition levels | values, packed or not |
 */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import type { ColumnMetaData } from "hyparquet/src/types.js";
import { corruptionOf, DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Scalar } from "../../../column/vector.ts";
import { ByteCursor } from "../../../format/parquet/encodings/byte-cursor.ts";
import { bitWidthOf } from "../../../format/parquet/encodings/rle-bit-packed.ts";
import { decodeBits, HybridReader } from "../../../format/parquet/encodings/rle-bit-unpacked.ts";
import { decodeSnappy } from "../../../format/snappy/decode.ts";
import type { OpenFile } from "../../../table/file-access.ts";
import { PARQUET_HEADER_BYTES_MAX, PARQUET_PAGE_BYTES_MAX, PARQUET_PAGE_ENTRIES_MAX } from "../limits.ts";
import { decompressLz4 } from "../lz4.ts";
import { valueReader } from "../parquet-types.ts";
import { ByteWindow } from "./byte-window.ts";
import { type PageHeader, readPageHeader } from "./page-header.ts";
import { dictionaryIndexes, ENCODING_RLE, isDictionaryEncoding, storedValues } from "./page-values.ts";
import type { ParquetLeaf } from "./schema-tree.ts";

/** Pages are unpacked with the length that their header tells as the limit. */
const UNPACK: Readonly<Partial<Record<string, (input: Uint8Array, length: number) => Uint8Array>>> = {
  SNAPPY: decodeSnappy,
  GZIP: (input, length) => gunzipSync(input, { maxOutputLength: Math.max(1, length) }),
  ZSTD: (input, length) => zstdDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  BROTLI: (input, length) => brotliDecompressSync(input, { maxOutputLength: Math.max(1, length) }),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4,
};

/** Entries of a leaf. */
export interface LeafPage {
  readonly entryCount: number;
  /** Undefined: every entry is a value. */
  readonly definition: Uint8Array | undefined;
  /** Undefined: every entry is a row. */
  readonly repetition: Uint8Array | undefined;
  /** Of the entries that are values, by their order. */
  readonly valueAt: (index: number) => Scalar;
}

/** Owns the reading of a chunk. */
export class ChunkReader {
  private readonly leaf: ParquetLeaf;
  private readonly meta: ColumnMetaData;
  private readonly name: string;
  private readonly window: ByteWindow;
  private readonly read: (stored: unknown) => Scalar;
  private readonly end: number;
  private readonly entryCount: number;
  private at: number;
  private entriesRead = 0;
  private dictionary: readonly Scalar[] | undefined;

  /** @throws DbError InvalidArguments for a chunk that lies nowhere in the file */
  constructor(file: OpenFile, leaf: ParquetLeaf, type: DataType, meta: ColumnMetaData, pieceBytes: number) {
    this.leaf = leaf;
    this.meta = meta;
    this.name = file.location;
    this.read = valueReader(leaf.element, type);
    const data = Number(meta.data_page_offset);
    const dictionary = Number(meta.dictionary_page_offset ?? 0n);
    this.at = dictionary > 0 && dictionary < data ? dictionary : data;
    this.end = this.at + Number(meta.total_compressed_size);
    this.entryCount = Number(meta.num_values);
    if (!(this.at >= 4 && this.end >= this.at && this.end <= file.byteLength && this.entryCount >= 0))
      throw new Error("a column lies outside the file");
    this.window = new ByteWindow(file, pieceBytes, this.at, this.end);
  }

  /** The next page with entries; undefined at the end. @throws DbError; Error for what is damaged */
  async next(): Promise<LeafPage | undefined> {
    while (this.entriesRead < this.entryCount) {
      const header = await this.header();
      const body = await this.window.take(this.at, header.storedByteLength);
      this.at += header.storedByteLength;
      const page = this.pageOf(header, body);
      if (page === undefined || page.entryCount === 0) continue;
      this.entriesRead += page.entryCount;
      return page;
    }
    return undefined;
  }

  /** Reads the header at the place and moves behind it. Headers say nowhere how long they are. */
  private async header(): Promise<PageHeader> {
    for (let length = this.window.peek(this.at).length; ; length = length * 4 + 4096) {
      const left = this.end - this.at;
      const bytes = await this.window.take(this.at, Math.min(left, length));
      try {
        const { header, length: byteLength } = readPageHeader(bytes, this.name, this.at);
        this.at += byteLength;
        this.check(header);
        return header;
      } catch (thrown) {
        if (bytes.length === left || bytes.length > PARQUET_HEADER_BYTES_MAX || !isCut(thrown)) throw thrown;
      }
    }
  }

  private check(header: PageHeader): void {
    const { byteLength, storedByteLength } = header;
    if (storedByteLength > this.end - this.at) throw new Error(`a page of ${storedByteLength} bytes goes beyond its column`);
    if (byteLength > PARQUET_PAGE_BYTES_MAX) throw new Error(`a page has ${byteLength} bytes, at most ${PARQUET_PAGE_BYTES_MAX} are read`);
    const count = header.kind === "other" ? 0 : header.kind === "dictionary" ? header.valueCount : header.entryCount;
    if (count > PARQUET_PAGE_ENTRIES_MAX) throw new Error(`a page has ${count} values, at most ${PARQUET_PAGE_ENTRIES_MAX} are read`);
    if (header.kind.startsWith("data") && count > this.entryCount - this.entriesRead)
      throw new Error("a column has more values than it says");
  }

  private pageOf(header: PageHeader, body: Uint8Array): LeafPage | undefined {
    switch (header.kind) {
      case "dictionary": {
        const cursor = this.cursor(this.unpacked(body, header.byteLength));
        const stored = storedValues(cursor, header.encoding, header.valueCount, this.leaf.element);
        this.dictionary = Array.from({ length: header.valueCount }, (_, i) => this.read(stored(i)));
        return undefined;
      }
      case "data-1":
        return this.pageOfVersion1(header, body);
      case "data-2":
        return this.pageOfVersion2(header, body);
      case "other":
        return undefined; // Indexes of pages, which nobody writes.
    }
  }

  private pageOfVersion1(header: Extract<PageHeader, { kind: "data-1" }>, body: Uint8Array): LeafPage {
    const cursor = this.cursor(this.unpacked(body, header.byteLength));
    const levelsOf = (max: number, encoding: number): Uint8Array | undefined => {
      if (max === 0) return undefined;
      if (encoding !== ENCODING_RLE) cursor.fail(`levels of encoding ${encoding}, which is not known`);
      const length = cursor.u32();
      const at = cursor.take(length);
      return this.levels(cursor.bytes.subarray(at, at + length), header.entryCount, max);
    };
    const repetition = levelsOf(this.leaf.repetition, header.repetitionEncoding);
    const definition = levelsOf(this.leaf.definition, header.definitionEncoding);
    return this.page(header, repetition, definition, cursor);
  }

  private pageOfVersion2(header: Extract<PageHeader, { kind: "data-2" }>, body: Uint8Array): LeafPage {
    const { entryCount, repetitionByteLength, definitionByteLength } = header;
    const valuesAt = repetitionByteLength + definitionByteLength;
    if (valuesAt > body.length || valuesAt > header.byteLength) throw new Error("a page has more levels than bytes");
    const { definition: definitionMax, repetition: repetitionMax } = this.leaf;
    const repetition = repetitionMax === 0 ? undefined : this.levels(body.subarray(0, repetitionByteLength), entryCount, repetitionMax);
    const definition =
      definitionMax === 0 ? undefined : this.levels(body.subarray(repetitionByteLength, valuesAt), entryCount, definitionMax);
    const packed = body.subarray(valuesAt);
    const values = header.isCompressed ? this.unpacked(packed, header.byteLength - valuesAt) : packed.slice();
    return this.page(header, repetition, definition, this.cursor(values));
  }

  private page(
    { entryCount, encoding }: { readonly entryCount: number; readonly encoding: number },
    repetition: Uint8Array | undefined,
    definition: Uint8Array | undefined,
    cursor: ByteCursor,
  ): LeafPage {
    let valueCount = entryCount;
    if (definition !== undefined) {
      const max = this.leaf.definition;
      for (let i = 0; i < entryCount; i++) if (definition[i] !== max) valueCount--;
    }
    if (!isDictionaryEncoding(encoding)) {
      const stored = storedValues(cursor, encoding, valueCount, this.leaf.element);
      return { entryCount, definition, repetition, valueAt: (index) => this.read(stored(index)) };
    }
    const { dictionary } = this;
    if (dictionary === undefined) return cursor.fail("numbers of a dictionary that is not there");
    const indexes = dictionaryIndexes(cursor, valueCount, dictionary.length);
    return { entryCount, definition, repetition, valueAt: (index) => dictionary[indexes[index] ?? 0] };
  }

  /** Levels are runs of numbers below the next power of two; those beyond the highest would point nowhere. */
  private levels(bytes: Uint8Array, count: number, max: number): Uint8Array {
    const cursor = this.cursor(bytes);
    const levels = new Uint8Array(count);
    if (max === 1) {
      decodeBits(cursor, count, levels);
      return levels;
    }
    const reader = new HybridReader(cursor, bitWidthOf(max + 1));
    for (let at = 0; at < count; at += reader.length) {
      reader.next();
      if (reader.value > max) cursor.fail(`a level of ${reader.value}, at most ${max} are there`);
      levels.fill(reader.value, at, at + reader.length);
    }
    return levels;
  }

  /** Bytes of their own: values may be views of them, and outlive what was read. */
  private unpacked(packed: Uint8Array, byteLength: number): Uint8Array {
    const { codec } = this.meta;
    if (byteLength === 0) return new Uint8Array(0);
    const unpack = UNPACK[codec];
    if (unpack === undefined && codec !== "UNCOMPRESSED") {
      throw new DbError(StatusCode.Unsupported, `cannot read '${this.name}': its compression ${codec} is not supported`);
    }
    const bytes = unpack === undefined ? packed.slice() : unpack(packed, byteLength);
    if (bytes.length !== byteLength) throw new Error(`a page has ${bytes.length} bytes, its header says ${byteLength}`);
    return bytes;
  }

  private cursor(bytes: Uint8Array): ByteCursor {
    return new ByteCursor(bytes, this.name, this.at);
  }
}

/** Whether a header may just not be there whole. */
function isCut(thrown: unknown): boolean {
  return corruptionOf(thrown) !== undefined;
}
