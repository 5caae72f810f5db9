/**
 * What goes into the Parquet writer and what comes out of the reader. No I/O here: the writer pushes bytes into a sink, the reader is
 * given bytes.
 *
 *   writer:  new ParquetWriter(columns, sink, options?)
 *            → append(rowCount, inputs, seriesEnds?)* → addBlob(name, bytes)* → finish(keyValues)
 *   reader:  openParquet(fileName, fileLength, tail)     → file.pageIndex(g, c) → bytes of a page → decodePage / decodeTagPage
 *
 * All pages of a row group are cut at the same rows in every column, so page p of any two columns of a group covers the same rows.
 */
import type { DataType } from "../../column/data-type.ts";
import type { TextTable } from "../../column/text-table.ts";
import type { BytesVector, NumberVector, TimeVector, WideVector } from "../../column/vector.ts";

/** What a column is for. Tags sort the rows and are stored as runs; the one time column is never NULL. */
export type ColumnRole = "tag" | "time" | "field";

/** A column of a file. */
export interface ParquetColumn {
  readonly name: string;
  /** Any type but "null". */
  readonly type: DataType;
  /** Whether values may be NULL. Tags are always nullable (code 0), the time column never. */
  readonly nullable: boolean;
  readonly role: ColumnRole;
  /** Writes a bloom filter a row group. For tags and for string or binary fields; ignored elsewhere. Default false. */
  readonly bloom?: boolean;
  /**
   * Stores timestamps of unit "second" as bare INT64 seconds, not as TIMESTAMP(MILLIS). Needed only when a value lies beyond
   * ±9,223,372,036,854,775 s, which milliseconds cannot hold; the writer turns it on by itself when the first rows appended have such
   * values. Default false.
   */
  readonly bareSeconds?: boolean;
  /**
   * Writes one page a row group instead of ending pages where other columns do. For tags of type string that are NULL nearly everywhere, of
   * which there are many: 200 of them cost 40 KB a row group of 1M rows, with pages 900 KB. Not stored. Default false.
   */
  readonly isUnpaged?: boolean;
  /** Decimals lie in the file as text: what version 1 wrote. Known to the reader only. */
  readonly decimalText?: boolean;
  /** Where a part of a list, struct or map stands in the file's schema: only in files of groups (`groups/`). */
  readonly leaf?: LeafPlace;
}

/** A column of the file below a column of the table: the one at the end of the groups. */
export interface LeafPlace {
  /** Names from the table's column down. */
  readonly path: readonly string[];
  /** Optional and repeated names on the path: the definition level of a value. 0..255 */
  readonly definitionMax: number;
  /** Repeated names on the path. 0..255 */
  readonly repetitionMax: number;
}

/** Levels of a leaf's entries, one of each an entry, as Parquet defines them. Entries whose definition is the highest have a value. */
export interface LeafLevels {
  readonly definition: Uint8Array;
  /** Undefined where nothing repeats: every entry is a row then. */
  readonly repetition: Uint8Array | undefined;
}

/** Values of a tag column of type string as runs of equal values; run r is rows `[ends[r - 1] ?? 0, ends[r])` of the rows appended. */
export interface TagRuns {
  readonly kind: "runs";
  /** Row end of each run, ascending; the last is the row count. Empty runs are allowed. */
  readonly ends: Uint32Array;
  /** Code of each run; 0 is NULL. `codes.length >= ends.length`. */
  readonly codes: Uint32Array;
  /** Value of each code. Only those that `codes` names are stored. */
  readonly texts: TextTable;
}

/** Values of a string or JSON field of which few are different and none is NULL, one code a row. */
export interface CodedBytes {
  readonly kind: "coded";
  /** Code of each row: an index into `texts`. */
  readonly codes: Uint32Array;
  /** Distinct values, 1 MiB together at most. Only those that a row has are stored. */
  readonly texts: readonly Uint8Array[];
  readonly validity: undefined;
}

/**
 * Rows of one column handed to the writer; which kind fits which type is fixed:
 *
 * | role, type                                            | input                                                        |
 * |-------------------------------------------------------|--------------------------------------------------------------|
 * | tag of type string                                    | runs                                                         |
 * | tag of another type                                   | as a field of that type                                      |
 * | time                                                  | time                                                         |
 * | timestamp and duration fields                         | time, or wide (BigInt64Array) when they lie too far apart    |
 * | boolean (0/1), date (days), time of day, float, int and | number (any typed array whose values are of the type)      |
 * | decimal of up to 18 digits within ±2^53               |                                                              |
 * | int 64 and decimal with values beyond ±2^53           | wide                                                         |
 * | string, json, binary, interval (text), vector         | bytes, or coded                                              |
 * | decimal of more than 18 digits                        | bytes, 16 a value (`column/decimal.ts`)                      |
 *
 * Borrowed until `append` returns. Values under NULL (`validity[i] === 0`) are ignored.
 */
export type ColumnInput = TagRuns | NumberVector | WideVector | TimeVector | BytesVector | CodedBytes;

/** Takes the bytes of a file in order. `bytes` is borrowed until `write` returns: write it out or copy it. */
export interface ByteSink {
  write(bytes: Uint8Array): void;
}

/** How a file is written. */
export interface WriterOptions {
  /** Level of zstd, 1..22. Default 1. A page is left uncompressed when zstd saves less than 5 % of it. */
  readonly zstdLevel: number;
  /** Most rows of a page. Default 16,384. Cuts move back to a series border when one lies in the second half of the page. */
  readonly rowsPerPage: number;
  /** Most rows of a row group. Default 1,048,576. `append` splits longer inputs. */
  readonly rowsPerRowGroup: number;
  /** Named in the footer as `created_by`. Default "varve". */
  readonly createdBy: string;
}

/** What `finish` tells about the file. */
export interface WrittenFile {
  readonly rowCount: number;
  readonly byteLength: number;
  readonly rowGroupCount: number;
  readonly pageCount: number;
  /** Bytes of the column chunks of each column, headers and dictionaries included, in the order of the columns. */
  readonly columnByteLengths: Float64Array;
  /** Smallest and largest time, exact, in the unit of the time column; undefined for a file without rows. */
  readonly timeMin: bigint | undefined;
  readonly timeMax: bigint | undefined;
  /** CRC-32 of all its bytes. */
  readonly crc: number;
}

/** A range of bytes of a file. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Which page: indexes of the row group, of the column in `ParquetFile.columns`, and of the page in its chunk. */
export interface PageAddress {
  readonly rowGroup: number;
  readonly column: number;
  readonly page: number;
}

/** A row group of an opened file. */
export interface RowGroup {
  /** Row of the file at which the group begins. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** By column of the file. */
  readonly chunks: readonly ColumnChunk[];
}

/** One column of one row group. */
export interface ColumnChunk {
  /** All bytes of the chunk: dictionary page, if any, then the data pages. */
  readonly range: ByteRange;
  /** Where the dictionary page lies, if there is one. Give its bytes to `decodeDictionary`. */
  readonly dictionary: ByteRange | undefined;
  /** Where the bloom filter lies, header included, if there is one. */
  readonly bloom: ByteRange | undefined;
  readonly nullCount: number;
  readonly uncompressedByteLength: number;
}

/** The pages of one column chunk: arrays by page, of length `pageCount` unless said otherwise. */
export interface PageIndex {
  readonly pageCount: number;
  /** Byte of the file at which each page begins, its header included. */
  readonly offsets: Float64Array;
  /** Bytes of each page, header included. */
  readonly lengths: Uint32Array;
  /** First row of each page within its row group, and the row count of the group at the end: `pageCount + 1` entries. */
  readonly rowStarts: Uint32Array;
  readonly nullCounts: Uint32Array;
  /**
   * Bounds of numbers, booleans, dates and times as doubles: `mins` rounded down, `maxs` rounded up where 2^53 is exceeded, so that a
   * value is never outside. Exact for integers within ±2^53. NaN on a page without values. A float page that holds a NaN has
   * `maxs = Infinity` (and `sums = NaN`). Undefined for tags, strings and binary.
   */
  readonly mins: Float64Array | undefined;
  readonly maxs: Float64Array | undefined;
  /** The same bounds, exact, for 64-bit integers, timestamps and durations, in the unit of the column; 0 on a page without values. */
  readonly wideMins: BigInt64Array | BigUint64Array | undefined;
  readonly wideMaxs: BigInt64Array | BigUint64Array | undefined;
  /** Bounds of tags, strings and binary: prefixes of at most 64 bytes, the upper one rounded up; undefined where there is none. */
  readonly byteMins: readonly (Uint8Array | undefined)[] | undefined;
  readonly byteMaxs: readonly (Uint8Array | undefined)[] | undefined;
  /**
   * Sum of the values of each page for numeric fields (int, float). NaN means "decode the page": the page holds a NaN or its integer
   * sum is not exact in a double. The count of values is `rowStarts[p + 1] - rowStarts[p] - nullCounts[p]`. Undefined for other columns.
   */
  readonly sums: Float64Array | undefined;
}

/** A decoded dictionary page. */
export type PageDictionary =
  /** Tags of type string: `values[0]` is undefined (NULL), so the codes of `decodeTagPage` index it directly. */
  | { readonly kind: "strings"; readonly values: readonly (string | undefined)[] }
  /** String fields: the text of value i has code i + 1, so that rows can have codes and 0 be NULL. */
  | { readonly kind: "texts"; readonly entries: TextTable }
  /** Other fields of bytes: entry i is `bytes[offsets[i], offsets[i + 1])`. */
  | { readonly kind: "bytes"; readonly offsets: Uint32Array; readonly bytes: Uint8Array }
  /** Floats. */
  | { readonly kind: "number"; readonly values: Float32Array | Float64Array };

/** A decoded page of tags. Run r is rows `[ends[r - 1] ?? 0, ends[r])` of the page; neighbours differ. */
export interface TagPage {
  readonly rowCount: number;
  /** Row end of each run, counted from the page's first row. */
  readonly ends: Uint32Array;
  /** Index into the chunk's dictionary; 0 is NULL. */
  readonly codes: Uint32Array;
}

/** How a page is decoded. */
export interface DecodeOptions {
  /**
   * Times only: what the offsets count from, in the unit of the column. Every time of the page must then lie within 2^53 of it. Default:
   * the smallest time of the page (`wideMins`); a page that spans 2^53 units or more comes as "wide".
   */
  readonly timeBase?: bigint;
  /** Makes the memory of the result, e.g. a SharedArrayBuffer. Must be zeroed. Default: an ArrayBuffer. */
  readonly allocate?: (byteLength: number) => ArrayBuffer | SharedArrayBuffer;
  /** Checks the page's CRC-32. Default true. */
  readonly verifyChecksum?: boolean;
}
