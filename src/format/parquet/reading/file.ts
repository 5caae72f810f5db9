/**
 * Opens a Parquet file of ours from its last bytes: footer at once, page indexes on demand.
 *
 * The caller reads the file's tail, gives it to `openParquet`, and is told when more is needed. An opened file keeps that tail (indexes and
 * footer, about 20 bytes a page and column), never pages.
 */
import { crc32 } from "../../../base/bytes/hash.ts";
import { decodeColumns } from "../schema/column-schema.ts";
import { corruption } from "../corruption.ts";
import { decodeFooter, type Footer, type FooterChunk } from "../footer/file-metadata-reader.ts";
import {
  BLOB_PAGE_SUMS,
  BLOB_PREFIX,
  CHECKSUM_PLACEHOLDER,
  checksumPosition,
  EXTRAS_VERSION,
  KEY_BLOOMS,
  KEY_COLUMNS,
  KEY_TAIL,
  KEY_VERSION,
  parseNumbers,
} from "../footer/footer-keys.ts";
import { FOOTER_BYTES_MAX, PAGE_ROWS_MAX, ROW_GROUP_ROWS_MAX } from "../limits.ts";
import { type ColumnIndex, decodeBounds, decodeColumnIndex, decodeOffsetIndex, type OffsetIndex } from "../footer/page-index-reader.ts";
import { decodePageSums, hasPageSums } from "../page/page-sums.ts";
import { FIXED_BYTES, PhysicalType, physicalTypeOf } from "../schema/physical-type.ts";
import { ThriftReader } from "../thrift/thrift-compact.ts";
import type { ByteRange, PageIndex, ParquetColumn, RowGroup } from "../types.ts";

/** An opened file, or how many last bytes of it `openParquet` needs. */
export type OpenResult = { readonly kind: "file"; readonly file: ParquetFile } | { readonly kind: "more"; readonly byteLength: number };

const MAGIC = 0x3152_4150; // "PAR1"
const ENDING_BYTES = 8;

/**
 * Opens a file.
 *
 * @param fileName for error messages
 * @param tail the last bytes of the file, 64 KiB or all of it at first; kept by the opened file
 * @throws DbError StorageUnavailable when the file is damaged or not ours
 */
export function openParquet(fileName: string, fileLength: number, tail: Uint8Array): OpenResult {
  const tailStart = fileLength - tail.length;
  if (fileLength < ENDING_BYTES + 4) throw corruption(fileName, 0, `${fileLength} bytes are too few`, "length");
  if (tail.length < ENDING_BYTES) return { kind: "more", byteLength: ENDING_BYTES };
  const ending = new DataView(tail.buffer, tail.byteOffset + tail.length - ENDING_BYTES, ENDING_BYTES);
  if (ending.getUint32(4, true) !== MAGIC)
    throw corruption(fileName, fileLength - 4, "it does not end with PAR1: cut off or not Parquet", "length");
  const footerLength = ending.getUint32(0, true);
  const footerStart = fileLength - ENDING_BYTES - footerLength;
  if (footerLength > FOOTER_BYTES_MAX || footerStart < 4) {
    throw corruption(fileName, fileLength - ENDING_BYTES, `a footer of ${footerLength} bytes`);
  }
  if (footerStart < tailStart) return { kind: "more", byteLength: fileLength - footerStart };
  const footerBytes = tail.subarray(footerStart - tailStart, tail.length - ENDING_BYTES);
  verifyFooter(fileName, footerStart, footerBytes);
  const footer = decodeFooter(new ThriftReader(footerBytes, 0, fileName, footerStart));
  const [indexStart, checksum] = parseNumbers(footer.keyValues.get(KEY_TAIL) ?? "", 2) ?? [-1, 0];
  if (indexStart === undefined || indexStart < 0 || indexStart > footerStart) {
    throw corruption(fileName, footerStart, `no ${KEY_TAIL} in the footer: not a file of Varve`);
  }
  if (indexStart < tailStart) return { kind: "more", byteLength: fileLength - indexStart };
  const indexBytes = tail.subarray(indexStart - tailStart, footerStart - tailStart);
  if (crc32(indexBytes) !== checksum) throw corruption(fileName, indexStart, "the page indexes do not match their checksum", "checksum");
  return { kind: "file", file: new ParquetFile(fileName, fileLength, footer, indexBytes, indexStart) };
}

function verifyFooter(fileName: string, footerStart: number, footer: Uint8Array): void {
  const digits = checksumPosition(footer);
  if (digits < 0) throw corruption(fileName, footerStart, "no checksum in the footer: damaged or not a file of Varve");
  const end = digits + CHECKSUM_PLACEHOLDER.length;
  const stored = Buffer.from(footer.buffer, footer.byteOffset + digits, CHECKSUM_PLACEHOLDER.length).toString("latin1");
  const zeros = Buffer.from(CHECKSUM_PLACEHOLDER, "latin1");
  const computed = crc32(footer.subarray(end), crc32(zeros, crc32(footer.subarray(0, digits))));
  if (computed.toString(16).padStart(8, "0") !== stored)
    throw corruption(fileName, footerStart, "the footer does not match its checksum", "checksum");
}

/** A file's metadata. Immutable but for page indexes, which are decoded at first use and kept. */
export class ParquetFile {
  readonly fileName: string;
  readonly fileLength: number;
  readonly rowCount: number;
  readonly columns: readonly ParquetColumn[];
  readonly rowGroups: readonly RowGroup[];
  readonly keyValues: ReadonlyMap<string, string>;
  readonly createdBy: string;
  private readonly footer: Footer;
  private readonly indexBytes: Uint8Array;
  private readonly indexStart: number;
  private bloomChecksums: readonly (number | undefined)[] | undefined;
  private readonly pageIndexes: (PageIndex | undefined)[] = [];
  /** Byte in the blob of page sums at which each row group begins; made at first use. */
  private readonly sumStarts: number[] = [0];

  /** Use `openParquet`. @throws DbError StorageUnavailable */
  constructor(fileName: string, fileLength: number, footer: Footer, indexBytes: Uint8Array, indexStart: number) {
    this.fileName = fileName;
    this.fileLength = fileLength;
    this.footer = footer;
    this.indexBytes = indexBytes;
    this.indexStart = indexStart;
    this.rowCount = footer.rowCount;
    this.keyValues = footer.keyValues;
    this.createdBy = footer.createdBy;
    this.columns = this.readColumns();
    this.rowGroups = this.readRowGroups();
  }

  /** Position of a column by name, -1 when the file has none such. */
  columnIndexOf(name: string): number {
    return this.columns.findIndex((column) => column.name === name);
  }

  /** The pages of a chunk. Decoded once. @throws DbError StorageUnavailable */
  pageIndex(rowGroup: number, column: number): PageIndex {
    const key = rowGroup * this.columns.length + column;
    return (this.pageIndexes[key] ??= this.readPageIndex(rowGroup, column));
  }

  /** CRC-32 of the bloom filter of a chunk; undefined when there is none, or none of its checksum. */
  bloomChecksum(rowGroup: number, column: number): number | undefined {
    this.bloomChecksums ??= this.readBloomChecksums();
    return this.bloomChecksums[rowGroup * this.columns.length + column];
  }

  private readBloomChecksums(): readonly (number | undefined)[] {
    const chunks = this.rowGroups.flatMap((group) => group.chunks);
    const count = chunks.filter(({ bloom }) => bloom !== undefined).length;
    const checksums = parseNumbers(this.keyValues.get(KEY_BLOOMS) ?? "", count) ?? [];
    let next = 0;
    return chunks.map(({ bloom }) => (bloom === undefined ? undefined : checksums[next++]));
  }

  /** Where a blob given to `ParquetWriter.addBlob` lies, or undefined. @throws DbError StorageUnavailable */
  blob(name: string): ByteRange | undefined {
    const [offset, length] = this.blobEntry(name) ?? [];
    return offset === undefined || length === undefined ? undefined : { offset, length };
  }

  /** `bytes`, read from `blob(name)`, once length and checksum are right. @throws DbError StorageUnavailable */
  verifyBlob(name: string, bytes: Uint8Array): Uint8Array {
    const [offset, length, checksum] = this.blobEntry(name) ?? [];
    if (offset === undefined) this.fail(0, `there is no blob ${name}`);
    if (bytes.length !== length) this.fail(offset, `blob ${name} has ${length} bytes; got ${bytes.length}`);
    if (crc32(bytes) !== checksum) this.fail(offset, `blob ${name} does not match its checksum`);
    return bytes;
  }

  private fail(offset: number, why: string): never {
    throw corruption(this.fileName, offset, why);
  }

  private blobEntry(name: string): readonly number[] | undefined {
    const text = this.keyValues.get(BLOB_PREFIX + name);
    if (text === undefined) return undefined;
    const entry = parseNumbers(text, 3);
    if (entry === undefined || entry[0]! + entry[1]! > this.fileLength) this.fail(0, `blob ${name} lies at ${text}`);
    return entry;
  }

  private readColumns(): readonly ParquetColumn[] {
    const version = Number(this.keyValues.get(KEY_VERSION));
    if (!(version >= 1 && version <= EXTRAS_VERSION)) {
      this.fail(this.fileLength, `version ${version} of the format; this server reads up to ${EXTRAS_VERSION}: upgrade it`);
    }
    const described = decodeColumns(this.keyValues.get(KEY_COLUMNS) ?? "");
    if (typeof described === "string") this.fail(this.fileLength, described);
    const stored = this.footer.columns;
    const columns =
      version > 1 ? described : described.map((column) => (column.type.kind === "decimal" ? { ...column, decimalText: true } : column));
    const same = stored.length === columns.length && columns.every((column, c) => isStoredAs(column, stored[c]!));
    if (!same) this.fail(this.fileLength, "the column descriptions do not match the schema");
    return columns;
  }

  private readRowGroups(): readonly RowGroup[] {
    let firstRow = 0;
    const groups = this.footer.rowGroups.map(({ rowCount, chunks }): RowGroup => {
      if (rowCount > ROW_GROUP_ROWS_MAX) this.fail(this.fileLength, `a row group of ${rowCount} rows`);
      if (chunks.length !== this.columns.length) this.fail(this.fileLength, `${chunks.length} chunks of ${this.columns.length} columns`);
      for (const chunk of chunks) this.checkChunk(chunk, rowCount);
      const group = { firstRow, rowCount, chunks };
      firstRow += rowCount;
      return group;
    });
    if (firstRow !== this.rowCount) this.fail(this.fileLength, `${firstRow} rows in row groups, ${this.rowCount} in the file`);
    return groups;
  }

  private checkChunk(chunk: FooterChunk, rowCount: number): void {
    const { range, dictionary, bloom, offsetIndex, columnIndex } = chunk;
    if (chunk.valueCount !== rowCount) this.fail(range.offset, `a chunk of ${chunk.valueCount} values in ${rowCount} rows`);
    for (const part of [range, dictionary, bloom]) {
      if (part === undefined) continue;
      if (part.offset < 0 || part.length < 0 || part.offset + part.length > this.indexStart) {
        this.fail(part.offset, `${part.length} bytes reach beyond the data`);
      }
    }
    for (const part of [offsetIndex, columnIndex]) {
      if (part === undefined) continue;
      if (part.offset < this.indexStart || part.offset + part.length > this.indexStart + this.indexBytes.length) {
        this.fail(part.offset, `an index of ${part.length} bytes outside the indexes`);
      }
    }
  }

  private indexReader(range: ByteRange): ThriftReader {
    const start = range.offset - this.indexStart;
    return new ThriftReader(this.indexBytes.subarray(start, start + range.length), 0, this.fileName, range.offset);
  }

  private readPageIndex(rowGroup: number, column: number): PageIndex {
    const { rowCount } = this.rowGroups[rowGroup]!;
    const chunk = this.footer.rowGroups[rowGroup]!.chunks[column]!;
    if (chunk.offsetIndex === undefined) this.fail(chunk.range.offset, "a chunk without an offset index");
    if (chunk.columnIndex === undefined) this.fail(chunk.range.offset, "a chunk without a column index");
    const { offset } = chunk.columnIndex;
    const places = decodeOffsetIndex(this.indexReader(chunk.offsetIndex));
    const index = decodeColumnIndex(this.indexReader(chunk.columnIndex));
    const pageCount = places.offsets.length;
    const rowStarts = this.rowStartsOf(places, chunk, rowCount);
    const descriptor = this.columns[column]!;
    return {
      pageCount,
      offsets: places.offsets,
      lengths: places.lengths,
      rowStarts,
      nullCounts: this.nullCountsOf(index, rowStarts, offset),
      ...decodeBounds(descriptor, physicalTypeOf(descriptor), index, pageCount, (why) => this.fail(offset, why)),
      sums: hasPageSums(descriptor) ? this.sumsOf(rowGroup, column, pageCount) : undefined,
    };
  }

  private nullCountsOf(index: ColumnIndex, rowStarts: Uint32Array, offset: number): Uint32Array {
    const pageCount = rowStarts.length - 1;
    if (index.nullCounts.length !== pageCount) this.fail(offset, `null counts of ${index.nullCounts.length} pages of ${pageCount}`);
    const nullCounts = new Uint32Array(pageCount);
    for (let page = 0; page < pageCount; page++) {
      const nullCount = index.nullCounts[page]!;
      const rows = rowStarts[page + 1]! - rowStarts[page]!;
      if (nullCount < 0 || nullCount > rows) this.fail(offset, `${nullCount} NULLs in the ${rows} rows of page ${page}`);
      nullCounts[page] = nullCount;
    }
    return nullCounts;
  }

  private rowStartsOf(places: OffsetIndex, chunk: FooterChunk, rowCount: number): Uint32Array {
    const { offsets, lengths, firstRows } = places;
    const { range } = chunk;
    const rowStarts = new Uint32Array(offsets.length + 1);
    for (let page = 0; page < offsets.length; page++) {
      const next = page + 1 < offsets.length ? firstRows[page + 1]! : rowCount;
      const rows = next - firstRows[page]!;
      if (!(rows > 0 && rows <= PAGE_ROWS_MAX)) this.fail(range.offset, `${rows} rows in page ${page}`);
      if (offsets[page]! < range.offset || offsets[page]! + lengths[page]! > range.offset + range.length) {
        this.fail(offsets[page]!, `page ${page} lies outside its chunk`);
      }
      rowStarts[page] = firstRows[page]!;
    }
    if (rowStarts[0] !== 0) this.fail(range.offset, `the first page begins at row ${rowStarts[0]}`);
    rowStarts[offsets.length] = rowCount;
    return rowStarts;
  }

  private sumsOf(rowGroup: number, column: number, pageCount: number): Float64Array {
    const numericBefore = this.columns.slice(0, column).filter(hasPageSums).length;
    const numericCount = this.columns.filter(hasPageSums).length;
    const entry = this.blobEntry(BLOB_PAGE_SUMS);
    if (entry === undefined || entry[0]! < this.indexStart) this.fail(this.indexStart, "the page sums are missing");
    const start = entry[0]! - this.indexStart;
    const blob = this.indexBytes.subarray(start, start + entry[1]!);
    for (let g = this.sumStarts.length; g <= rowGroup; g++) {
      const pages = this.pageCountOf(g - 1);
      this.sumStarts.push(this.sumStarts[g - 1]! + pages * numericCount * 8);
    }
    const sums = decodePageSums(blob, this.sumStarts[rowGroup]! + numericBefore * pageCount * 8, pageCount);
    if (sums === undefined) this.fail(entry[0]!, "the page sums end early");
    return sums;
  }

  /** Pages of every chunk of a row group. */
  private pageCountOf(rowGroup: number): number {
    const index = this.footer.rowGroups[rowGroup]!.chunks[0]?.offsetIndex;
    return index === undefined ? 0 : decodeOffsetIndex(this.indexReader(index)).offsets.length;
  }
}

function isStoredAs(column: ParquetColumn, stored: Footer["columns"][number]): boolean {
  if (column.type.kind === "null") return false;
  const physical = physicalTypeOf(column);
  const isAsLong = stored.valueBytes === (physical === PhysicalType.FixedBytes ? FIXED_BYTES : 0);
  return column.name === stored.name && column.nullable === stored.optional && physical === stored.physical && isAsLong;
}
