/**
 * Writes the pages of one column chunk: compresses, puts header and checksum before each, and keeps what the indexes need.
 *
 *   | header | definition levels | values, zstd where that saves 5 % |   a data page
 */
import { assert } from "../../../base/assert.ts";
import { invalidArguments } from "../../../base/error.ts";
import { crc32 } from "../../../base/bytes/hash.ts";
import { bitWidthOf, HybridEncoder, encodeHybrid } from "../encodings/rle-bit-packed.ts";
import type { FileOutput } from "./file-output.ts";
import { COMPRESSED_SHARE_MAX, PAGE_BYTES_MAX } from "../limits.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import { Encoding, encodePageHeader } from "../page/page-header.ts";
import { type PhysicalType, physicalTypeOf } from "../schema/physical-type.ts";
import type { LeafLevels, LeafPlace, ParquetColumn } from "../types.ts";

/** Bounds as stored; undefined when the page or chunk has no values or no usable bound. */
export interface StoredBounds {
  readonly min: Uint8Array | undefined;
  readonly max: Uint8Array | undefined;
}

/** What a finished chunk leaves for footer and indexes. Arrays are by page. */
export interface WrittenChunk {
  readonly column: ParquetColumn;
  readonly physical: PhysicalType;
  readonly startOffset: number;
  readonly dataOffset: number;
  readonly hasDictionary: boolean;
  readonly encodings: readonly number[];
  readonly byteLength: number;
  readonly uncompressedByteLength: number;
  /** Entries of a leaf, else rows. */
  readonly valueCount: number;
  readonly nullCount: number;
  readonly bounds: StoredBounds & { readonly exact: boolean };
  readonly pageOffsets: readonly number[];
  readonly pageLengths: readonly number[];
  readonly pageRowStarts: readonly number[];
  readonly pageValueCounts: readonly number[];
  readonly pageNullCounts: readonly number[];
  readonly pageBounds: readonly StoredBounds[];
  /** Sums for numeric fields, else empty. */
  readonly pageSums: readonly number[];
  /** Serialized bloom filter, to be placed after the row groups. */
  readonly bloom: Uint8Array | undefined;
}

/** One data page handed to `ChunkWriter.dataPage`. */
export interface PageContent {
  /** Rows; of a leaf its entries. */
  readonly rowCount: number;
  readonly nullCount: number;
  readonly encoding: Encoding;
  readonly values: Uint8Array<ArrayBuffer>;
  readonly bounds: StoredBounds;
  readonly sum?: number;
}

/** Bounds of a page or chunk without any. */
export const noBounds: StoredBounds = { min: undefined, max: undefined };

/** Owns one chunk while it is written. Pages are written in order; `finish` ends it. */
export class ChunkWriter {
  readonly column: ParquetColumn;
  readonly physical: PhysicalType;
  readonly zstdLevel: number;
  /** Where encoders put the values of the next page. */
  readonly values: ByteWriter;
  private readonly output: FileOutput;
  private readonly leafLevels: LeafLevels | undefined;
  private readonly levels = new ByteWriter(1024);
  /** Of the page whose levels are prepared: rows that begin in it, undefined where entries are rows, and bytes of repetition levels. */
  private pageRecords: number | undefined;
  private repetitionByteLength = 0;
  private readonly startOffset: number;
  private dataOffset = -1;
  private hasDictionary = false;
  private uncompressedByteLength = 0;
  private rowCount = 0;
  private valueCount = 0;
  private nullCount = 0;
  private readonly encodings = new Set<number>([Encoding.Rle]);
  private readonly pageOffsets: number[] = [];
  private readonly pageLengths: number[] = [];
  private readonly pageRowStarts: number[] = [];
  private readonly pageValueCounts: number[] = [];
  private readonly pageNullCounts: number[] = [];
  private readonly pageBounds: StoredBounds[] = [];
  private readonly pageSums: number[] = [];

  /** @param leafLevels of a column with a place in groups: those of its entries, which stand in the place of rows then */
  constructor(column: ParquetColumn, output: FileOutput, values: ByteWriter, zstdLevel: number, leafLevels?: LeafLevels) {
    this.leafLevels = leafLevels;
    this.column = column;
    this.physical = physicalTypeOf(column);
    this.output = output;
    this.values = values;
    this.zstdLevel = zstdLevel;
    this.startOffset = output.offset;
  }

  /** Writes the dictionary page: PLAIN values, which must come before any data page. */
  dictionaryPage(values: Uint8Array<ArrayBuffer>, valueCount: number): void {
    assert(this.dataOffset < 0, "the dictionary comes first");
    this.checkSize(values.length);
    const stored = Bun.zstdCompressSync(values, { level: this.zstdLevel });
    const header = encodePageHeader({
      kind: "dictionary",
      uncompressedByteLength: values.length,
      storedByteLength: stored.length,
      crc: crc32(stored),
      valueCount,
      encoding: Encoding.Plain,
    });
    this.output.write(header);
    this.output.write(stored);
    this.uncompressedByteLength += header.length + values.length;
    this.hasDictionary = true;
    this.encodings.add(Encoding.Plain);
  }

  /** Writes a data page whose levels `definitionLevels` or `allValid` prepared. */
  dataPage(page: PageContent): void {
    const levels = this.levels.bytes();
    this.checkSize(levels.length + page.values.length);
    const packed = page.values.length === 0 ? undefined : Bun.zstdCompressSync(page.values, { level: this.zstdLevel });
    const compressed = packed !== undefined && packed.length < page.values.length * COMPRESSED_SHARE_MAX;
    const stored = compressed ? packed : page.values;
    const header = encodePageHeader({
      kind: "data",
      uncompressedByteLength: levels.length + page.values.length,
      storedByteLength: levels.length + stored.length,
      crc: crc32(stored, crc32(levels)),
      rowCount: page.rowCount,
      nullCount: page.nullCount,
      encoding: page.encoding,
      levelByteLength: levels.length - this.repetitionByteLength,
      compressed,
      ...(this.pageRecords === undefined ? {} : { repeated: { rowCount: this.pageRecords, levelByteLength: this.repetitionByteLength } }),
    });
    const offset = this.output.offset;
    if (this.dataOffset < 0) this.dataOffset = offset;
    this.output.write(header);
    this.output.write(levels);
    this.output.write(stored);
    this.pageOffsets.push(offset);
    this.pageLengths.push(this.output.offset - offset);
    this.pageRowStarts.push(this.rowCount);
    this.pageValueCounts.push(page.rowCount);
    this.pageNullCounts.push(page.nullCount);
    this.pageBounds.push(page.bounds);
    if (page.sum !== undefined) this.pageSums.push(page.sum);
    this.rowCount += this.pageRecords ?? page.rowCount;
    this.valueCount += page.rowCount;
    this.nullCount += page.nullCount;
    this.uncompressedByteLength += header.length + levels.length + page.values.length;
    this.encodings.add(page.encoding);
    this.levels.reset();
    this.values.reset();
  }

  /** Prepares the levels of the next page from rows `[start, end)`. Returns how many are NULL. */
  definitionLevels(validity: Uint8Array | undefined, start: number, end: number): number {
    this.levels.reset();
    if (this.column.leaf !== undefined && this.leafLevels !== undefined) {
      return this.levelsOfEntries(this.column.leaf, this.leafLevels, start, end);
    }
    if (!this.column.nullable) return 0;
    if (validity === undefined) {
      const encoder = new HybridEncoder(this.levels, 1);
      encoder.run(1, end - start);
      encoder.finish();
      return 0;
    }
    const rows = validity.subarray(start, end);
    encodeHybrid(this.levels, rows, rows.length, 1);
    let valid = 0;
    for (let i = 0; i < rows.length; i++) valid += rows[i]!;
    return rows.length - valid;
  }

  /** Repetition levels, then definition levels, of entries `[start, end)`. Returns how many of them have no value. */
  private levelsOfEntries(place: LeafPlace, { definition, repetition }: LeafLevels, start: number, end: number): number {
    this.pageRecords = undefined;
    this.repetitionByteLength = 0;
    if (repetition !== undefined) {
      const repeats = repetition.subarray(start, end);
      let records = 0;
      for (let i = 0; i < repeats.length; i++) if (repeats[i] === 0) records++;
      encodeHybrid(this.levels, repeats, repeats.length, bitWidthOf(place.repetitionMax + 1));
      this.pageRecords = records;
      this.repetitionByteLength = this.levels.length;
    }
    const { definitionMax } = place;
    const defined = definition.subarray(start, end);
    if (definitionMax > 0) encodeHybrid(this.levels, defined, defined.length, bitWidthOf(definitionMax + 1));
    let values = 0;
    for (let i = 0; i < defined.length; i++) if (defined[i] === definitionMax) values++;
    return end - start - values;
  }

  /** Where tags write their levels, run by run. */
  levelEncoder(): HybridEncoder {
    this.levels.reset();
    return new HybridEncoder(this.levels, 1);
  }

  /** Ends the chunk. */
  finish(bounds: StoredBounds & { readonly exact: boolean }, bloom?: Uint8Array): WrittenChunk {
    return {
      column: this.column,
      physical: this.physical,
      startOffset: this.startOffset,
      dataOffset: this.dataOffset,
      hasDictionary: this.hasDictionary,
      encodings: [...this.encodings],
      byteLength: this.output.offset - this.startOffset,
      uncompressedByteLength: this.uncompressedByteLength,
      valueCount: this.valueCount,
      nullCount: this.nullCount,
      bounds,
      pageOffsets: this.pageOffsets,
      pageLengths: this.pageLengths,
      pageRowStarts: this.pageRowStarts,
      pageValueCounts: this.pageValueCounts,
      pageNullCounts: this.pageNullCounts,
      pageBounds: this.pageBounds,
      pageSums: this.pageSums,
      bloom,
    };
  }

  private checkSize(byteLength: number): void {
    if (byteLength <= PAGE_BYTES_MAX) return;
    throw invalidArguments(
      `cannot write a page of column ${this.column.name}: ${byteLength} bytes, at most ${PAGE_BYTES_MAX} fit; write fewer rows at once`,
    );
  }
}
