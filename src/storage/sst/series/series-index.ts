/**
 * Which rows of a file belong to which series, kept in the file beside the Parquet data, so that a scan never decodes a tag column.
 * FORMAT.md has the layout. 4,000 series of 2M rows: about 30 KB, 0.02 B a row; a million series of ten tags: 11 B a series.
 */
import { ByteReader } from "../../../base/bytes/byte-reader.ts";
import { ByteWriter } from "../../../base/bytes/byte-writer.ts";
import type { TextTable } from "../../../column/text-table.ts";

/** Where the runs of a file lie: what stays in memory of an open one. Every time of a row fits 64 bits; `timeBase` itself may lie below. */
export interface RunIndex {
  /** Row at which each run ends; the last is the row count. */
  readonly ends: Uint32Array;
  /** Row at which the first run begins; absent: 0. Only where an open file has the runs of one table of many. */
  readonly firstRow?: number;
  /** Times of the first and last row of each run, as offsets from `timeBase`. */
  readonly timeBase: bigint;
  readonly firstTimes: Float64Array;
  readonly lastTimes: Float64Array;
}

/** The runs of a file: one a series, in the order of the rows. */
export interface SeriesIndex extends RunIndex {
  /** Tag columns by their ids, in key order. */
  readonly columnIds: readonly number[];
  /** Values of each tag column. */
  readonly dictionaries: readonly TextTable[];
  /** `codes[c][r]`: code of run r in tag column c. */
  readonly codes: readonly Uint32Array[];
}

/** Name of the blob in the file. */
export const SERIES_INDEX_BLOB = "series-index";
const VERSION = 2;
/** Had four bytes a code whatever the dictionary; files of it are read. */
const VERSION_1 = 1;
const TIME_MAX = 2n ** 63n - 1n;

/** Encodes the index, compressed. */
export function encodeSeriesIndex(index: SeriesIndex): Uint8Array {
  const out = new ByteWriter(plainBytesOf(index)); // All at once: what is outgrown by a million series is 60 MiB.
  out.u32(VERSION);
  out.u32(index.ends.length);
  out.i64(BigInt.asIntN(64, index.timeBase));
  out.varint(index.columnIds.length);
  for (let c = 0; c < index.columnIds.length; c++) {
    out.u32(index.columnIds[c] as number);
    writeTexts(index.dictionaries[c] as TextTable, out);
    const width = codeWidth((index.dictionaries[c] as TextTable).size);
    out.raw(bytesOf(narrowed(index.codes[c] as Uint32Array, width)));
  }
  out.raw(bytesOf(index.ends));
  out.raw(bytesOf(index.firstTimes));
  out.raw(bytesOf(index.lastTimes));
  const packed = Bun.zstdCompressSync(out.bytes(), { level: 1 });
  const whole = new ByteWriter(4 + packed.length);
  whole.u32(out.length);
  whole.raw(packed);
  return whole.bytes();
}

/** Bytes of an index before it is compressed, at most. */
function plainBytesOf({ dictionaries, ends }: SeriesIndex): number {
  let bytes = 32 + ends.length * 20;
  for (const { size, starts } of dictionaries) bytes += 16 + size * 5 + (starts[size] as number) + ends.length * codeWidth(size);
  return bytes;
}

/**
 * Decodes what `encodeSeriesIndex` made.
 *
 * @throws ByteReadError or the decompressor's error when the bytes are damaged; the caller names the file
 */
export function decodeSeriesIndex(bytes: Uint8Array): SeriesIndex {
  const plainBytes = new ByteReader(bytes).u32();
  const unpacked = Bun.zstdDecompressSync(bytes.subarray(4));
  const plain = new Uint8Array(unpacked.buffer, unpacked.byteOffset, unpacked.length); // Not the Buffer, whose `slice` is a view.
  if (plain.length !== plainBytes) throw new Error(`series index of ${plainBytes} bytes; got ${plain.length}`);
  const input = new ByteReader(plain);
  const version = input.u32();
  if (version !== VERSION && version !== VERSION_1) throw new Error(`series index has version ${version}, which this server does not know`);
  const runCount = input.u32();
  const timeBase = input.i64();
  const columnCount = input.varint();
  const columnIds: number[] = [];
  const dictionaries: TextTable[] = [];
  const codes: Uint32Array[] = [];
  for (let c = 0; c < columnCount; c++) {
    columnIds.push(input.u32());
    const texts = readTexts(input, plain);
    const width = version === VERSION_1 ? 4 : codeWidth(texts.size);
    const stored = copyOf(input.raw(runCount * width));
    dictionaries.push(texts);
    codes.push(widened(stored, width));
  }
  const ends = new Uint32Array(copyOf(input.raw(runCount * 4)));
  const firstTimes = new Float64Array(copyOf(input.raw(runCount * 8)));
  const lastTimes = new Float64Array(copyOf(input.raw(runCount * 8)));
  if (input.remaining > 0) throw new Error(`series index ends ${input.remaining} bytes before its blob`);
  checkRuns(codes, dictionaries, ends);
  return { columnIds, dictionaries, codes, ends, timeBase: baseOf(timeBase, firstTimes), firstTimes, lastTimes };
}

/** Bytes of a code: those of nine of the ten tags of a TSBS series fit one, which makes a million runs 34 MB less to unpack. */
function codeWidth(dictionarySize: number): 1 | 2 | 4 {
  if (dictionarySize <= 0x100) return 1;
  return dictionarySize <= 0x1_0000 ? 2 : 4;
}

function narrowed(codes: Uint32Array, width: 1 | 2 | 4): Uint8Array | Uint16Array | Uint32Array {
  if (width === 4) return codes;
  const target = width === 1 ? new Uint8Array(codes.length) : new Uint16Array(codes.length);
  target.set(codes);
  return target;
}

function widened(stored: ArrayBuffer, width: 1 | 2 | 4): Uint32Array {
  if (width === 4) return new Uint32Array(stored);
  const narrow = width === 1 ? new Uint8Array(stored) : new Uint16Array(stored);
  const codes = new Uint32Array(narrow.length);
  codes.set(narrow);
  return codes;
}

function writeTexts({ size, bytes, starts }: TextTable, out: ByteWriter): void {
  out.varint(size);
  for (let code = 1; code < size; code++) {
    const start = starts[code]!;
    const end = starts[code + 1]!;
    out.varint(end - start);
    out.piece(bytes, start, end);
  }
}

/**
 * Texts in memory of their own. Whether they are UTF-8 is not checked: the blob passed its checksum. Byte by byte, since texts are short: a
 * million of them in 25 ms, where a view a text took 400.
 */
function readTexts(input: ByteReader, plain: Uint8Array): TextTable {
  const size = input.varint();
  if (size < 1 || size > input.remaining + 1) throw new Error(`dictionary of ${size} texts in ${input.remaining} bytes`);
  const starts = new Uint32Array(size + 1);
  const end = plain.length;
  let at = input.offset;
  let length = 0;
  for (let code = 1; code < size; code++) {
    let textBytes = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = at < end ? plain[at++]! : 0xff;
      textBytes += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
      if (scale > 2 ** 28) throw new Error(`no length of a text at byte ${at}`);
    }
    at += textBytes;
    if (at > end) throw new Error(`a text of ${textBytes} bytes ends at byte ${at} of ${end}`);
    length += textBytes;
    starts[code + 1] = length;
  }
  const bytes = new Uint8Array(length);
  let from = input.offset;
  for (let code = 1; code < size; code++) {
    while (plain[from]! >= 0x80) from++;
    from++;
    const to = starts[code + 1]!;
    for (let into = starts[code]!; into < to; into++) bytes[into] = plain[from++]!;
  }
  input.raw(at - input.offset);
  return { size, bytes, starts };
}

function checkRuns(codes: readonly Uint32Array[], dictionaries: readonly TextTable[], ends: Uint32Array): void {
  for (let c = 0; c < codes.length; c++) {
    const { size } = dictionaries[c]!;
    const column = codes[c]!;
    for (let run = 0; run < column.length; run++) {
      if (column[run]! >= size) throw new Error(`code ${column[run]} in a dictionary of ${size}`);
    }
  }
  for (let run = 1; run < ends.length; run++) {
    if (ends[run]! <= ends[run - 1]!) throw new Error(`run ${run} ends at row ${ends[run]}, after row ${ends[run - 1]}`);
  }
}

/** The group that begins before the first 64-bit time has a base that wrapped around: with it, times would lie beyond 64 bits. */
function baseOf(stored: bigint, firstTimes: Float64Array): bigint {
  const first = firstTimes[0];
  return first !== undefined && stored + BigInt(first) > TIME_MAX ? stored - 2n ** 64n : stored;
}

function bytesOf(array: Uint8Array | Uint16Array | Uint32Array | Float64Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Aligned memory of its own. */
function copyOf(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  return copy;
}
