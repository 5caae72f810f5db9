/**
 * Decodes pages of an opened file: bytes of one page in, one vector out.
 *
 * What a page decodes into follows from its bounds in the page index: integers take the narrowest of Int8Array, Int16Array, Int32Array,
 * Float64Array and BigInt64Array, because loops over narrow arrays are up to 3 x faster and caches hold more pages.
 */
import type { TextTable } from "../../../column/text-table.ts";
import { isWideDecimal } from "../../../column/decimal.ts";
import type { Vector } from "../../../column/vector.ts";
import { corruption } from "../corruption.ts";
import type { ByteCursor } from "../encodings/byte-cursor.ts";
import { decodePlainBytes } from "../encodings/byte-arrays.ts";
import { decodeBits, decodeHybrid, HybridReader, hybridCapacity } from "../encodings/rle-bit-unpacked.ts";
import type { ParquetFile } from "./file.ts";
import { Encoding } from "../page/page-header.ts";
import type { PageContext } from "./page-context.ts";
import { type DataPage, readDataPage, readDictionaryPage } from "./page-reader.ts";
import { spread } from "./vectors/spread.ts";
import type { DecodeOptions, PageAddress, PageDictionary, PageIndex, TagPage } from "../types.ts";
import { decodeBytes } from "./vectors/bytes-page.ts";
import { decodeDecimalTexts, decodeFixedBytes } from "./vectors/decimal-page.ts";
import { decodeFloats } from "./vectors/float-page.ts";
import { decodeIntegers, decodeTimes } from "./vectors/integer-page.ts";

const newBuffer = (byteLength: number): ArrayBuffer => new ArrayBuffer(byteLength);
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Decodes the dictionary page of a chunk.
 *
 * @param bytes the bytes of `ColumnChunk.dictionary`
 * @throws DbError StorageUnavailable
 */
export function decodeDictionary(file: ParquetFile, rowGroup: number, column: number, bytes: Uint8Array): PageDictionary {
  const { offset } = file.rowGroups[rowGroup]!.chunks[column]!.range;
  const { header, values } = readDictionaryPage(file, offset, bytes);
  const { valueCount } = header;
  const descriptor = file.columns[column]!;
  if (descriptor.type.kind === "float") {
    const width = descriptor.type.bits / 8;
    if (values.end !== valueCount * width) values.fail(`${values.end} bytes of ${valueCount} floats`);
    const { buffer } = new Uint8Array(values.bytes); // A copy, aligned for the array below.
    return { kind: "number", values: width === 8 ? new Float64Array(buffer) : new Float32Array(buffer) };
  }
  const plain = decodePlainBytes(values, valueCount);
  if (descriptor.type.kind !== "string") return { kind: "bytes", ...plain };
  if (descriptor.role !== "tag") return { kind: "texts", entries: textsOf(plain.offsets, plain.bytes) };
  const strings: (string | undefined)[] = [undefined];
  for (let i = 0; i < valueCount; i++) strings.push(decoder.decode(plain.bytes.subarray(plain.offsets[i], plain.offsets[i + 1])));
  return { kind: "strings", values: strings };
}

/** A table of texts by code; code 0 is NULL. */
function textsOf(offsets: Uint32Array, bytes: Uint8Array): TextTable {
  const starts = new Uint32Array(offsets.length + 1);
  starts.set(offsets, 1);
  return { size: offsets.length, bytes, starts };
}

/**
 * Decodes a page of tags of type string into runs.
 *
 * @param bytes the page, header included: `lengths[p]` bytes at `offsets[p]` of its index
 * @throws DbError StorageUnavailable
 */
export function decodeTagPage(file: ParquetFile, at: PageAddress, bytes: Uint8Array, options: DecodeOptions = {}): TagPage {
  const { page, rowCount } = openPage(file, at, bytes, options);
  const { values, levels, header } = page;
  if (header.encoding !== Encoding.RleDictionary) values.fail(`a tag page of encoding ${header.encoding}`);
  const indexes = new HybridReader(values, values.u8());
  const validity = new HybridReader(levels, 1);
  const ends: number[] = [];
  const codes: number[] = [];
  let levelLeft = 0;
  let indexLeft = 0;
  for (let row = 0; row < rowCount; ) {
    if (levelLeft === 0) {
      validity.next();
      levelLeft = validity.length;
    }
    let length = Math.min(levelLeft, rowCount - row);
    let code = 0;
    if (validity.value !== 0) {
      if (indexLeft === 0) {
        indexes.next();
        indexLeft = indexes.length;
      }
      length = Math.min(length, indexLeft);
      indexLeft -= length;
      code = indexes.value + 1;
    }
    levelLeft -= length;
    row += length;
    if (codes.length > 0 && codes[codes.length - 1] === code) {
      ends[ends.length - 1] = row;
    } else {
      ends.push(row);
      codes.push(code);
    }
  }
  checkConsumed(levels);
  checkConsumed(values);
  return { rowCount, ends: Uint32Array.from(ends), codes: Uint32Array.from(codes) };
}

/**
 * Decodes a page: tags of type string as "dictionary", other strings as "coded" where they lie in a dictionary, timestamps and durations as
 * "time" or "wide", all else of text, binary and decimals of more than 18 digits as "bytes", the rest as "number" or "wide".
 * Typed arrays have exactly one element a row.
 *
 * @param bytes the page, header included; the result never shares its memory
 * @param dictionary needed when the chunk has a dictionary page
 * @throws DbError StorageUnavailable
 */
export function decodePage(
  file: ParquetFile,
  at: PageAddress,
  bytes: Uint8Array,
  dictionary: PageDictionary | undefined,
  options: DecodeOptions = {},
): Vector {
  const { page, rowCount, index } = openPage(file, at, bytes, options);
  const column = file.columns[at.column]!;
  const allocate = options.allocate ?? newBuffer;
  const validity = readValidity(page, rowCount, allocate);
  const valueCount = rowCount - page.header.nullCount;
  const ownsValues = page.header.compressed && options.allocate === undefined;
  const vector = decodeValues(
    { column, page, rowCount, validity, valueCount, index, pageNumber: at.page, dictionary, allocate, ownsValues },
    options.timeBase,
  );
  if (valueCount > 0) checkConsumed(page.values);
  return vector;
}

/** The last byte of a page belongs to its last value; anything else means that it was misread. */
function checkConsumed(cursor: ByteCursor): void {
  if (cursor.at !== cursor.end) cursor.fail(`${cursor.end - cursor.at} bytes left over`);
}

function decodeValues(context: PageContext, timeBase: bigint | undefined): Vector {
  const { column } = context;
  switch (column.type.kind) {
    case "boolean":
      return decodeBooleans(context);
    case "float":
      return decodeFloats(context);
    case "int":
    case "date":
    case "time":
      return decodeIntegers(context);
    case "decimal":
      if (column.decimalText === true) return decodeDecimalTexts(context, column.type);
      return isWideDecimal(column.type) ? decodeFixedBytes(context) : decodeIntegers(context);
    case "timestamp":
    case "duration":
      return decodeTimes(context, timeBase);
    case "string":
      if (column.role === "tag") return decodeTags(context);
      return context.page.header.encoding === Encoding.RleDictionary ? decodeCoded(context) : decodeBytes(context);
    default:
      return decodeBytes(context);
  }
}

interface OpenPage {
  readonly page: DataPage;
  readonly rowCount: number;
  readonly index: PageIndex;
}

function openPage(file: ParquetFile, at: PageAddress, bytes: Uint8Array, options: DecodeOptions): OpenPage {
  const index = file.pageIndex(at.rowGroup, at.column);
  const offset = index.offsets[at.page]!;
  const rowCount = index.rowStarts[at.page + 1]! - index.rowStarts[at.page]!;
  const page = readDataPage(file, offset, bytes, options.verifyChecksum ?? true);
  const { header } = page;
  const nullCount = index.nullCounts[at.page]!;
  if (header.rowCount !== rowCount || header.nullCount !== nullCount) {
    const found = `a page of ${header.rowCount} rows, ${header.nullCount} NULL`;
    throw corruption(file.fileName, offset, `${found}, where ${rowCount} rows, ${nullCount} NULL, belong`);
  }
  if (!file.columns[at.column]!.nullable && header.nullCount > 0) {
    throw corruption(file.fileName, offset, `${header.nullCount} NULLs in a column without any`);
  }
  return { page, rowCount, index };
}

function readValidity(page: DataPage, rowCount: number, allocate: PageContext["allocate"]): Uint8Array | undefined {
  const { nullCount } = page.header;
  if (nullCount === 0) return undefined;
  const validity = new Uint8Array(allocate(rowCount), 0, rowCount);
  const ones = decodeBits(page.levels, rowCount, validity);
  checkConsumed(page.levels);
  if (ones !== rowCount - nullCount) page.levels.fail(`${rowCount - ones} NULLs where ${nullCount} belong`);
  return validity;
}

function decodeBooleans(context: PageContext): Vector {
  const { page, rowCount, validity, valueCount, allocate } = context;
  const { values, header } = page;
  if (header.encoding !== Encoding.Rle) values.fail(`a boolean page of encoding ${header.encoding}`);
  const byteLength = values.u32();
  if (byteLength !== values.end - values.at) values.fail(`${byteLength} bytes of booleans, ${values.end - values.at} left`);
  const bits = new Uint8Array(allocate(rowCount), 0, rowCount);
  decodeBits(values, valueCount, bits);
  if (validity !== undefined) spread(bits, valueCount, validity);
  return { kind: "number", values: bits, validity };
}

function decodeTags(context: PageContext): Vector {
  const { values, header } = context.page;
  const { dictionary } = context;
  if (dictionary?.kind !== "strings") return values.fail("the dictionary of the tags was not given");
  if (header.encoding !== Encoding.RleDictionary) values.fail(`a tag page of encoding ${header.encoding}`);
  return { kind: "dictionary", codes: decodeCodes(context, dictionary.values.length - 1), dictionary: dictionary.values };
}

function decodeCoded(context: PageContext): Vector {
  const { page, dictionary } = context;
  if (dictionary?.kind !== "texts") return page.values.fail("the dictionary of the texts was not given");
  return { kind: "coded", codes: decodeCodes(context, dictionary.entries.size - 1), entries: dictionary.entries };
}

/** Codes of all rows, 0 for NULL: indexes into a dictionary of so many entries, plus 1. */
function decodeCodes({ page: { values }, rowCount, validity, valueCount, allocate }: PageContext, entryCount: number): Uint32Array {
  const capacity = hybridCapacity(rowCount);
  const codes = new Uint32Array(allocate(capacity * 4), 0, capacity);
  decodeHybrid(values, valueCount, values.u8(), entryCount, codes);
  for (let i = 0; i < valueCount; i++) codes[i]!++;
  if (validity !== undefined) {
    spread(codes, valueCount, validity);
    for (let row = 0; row < rowCount; row++) if (validity[row] === 0) codes[row] = 0;
  }
  return codes.subarray(0, rowCount);
}
