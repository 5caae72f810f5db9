/**
 * Values of a page of any writer, as they are stored: numbers, bigints, booleans, bytes. `parquet-types.ts` knows what they mean.
 *
 * Nothing is allocated for a count that the page's bytes cannot hold. Source: Apache Parquet, Encodings.md.
 */
import type { SchemaElement } from "hyparquet";
import type { ByteCursor } from "../../../format/parquet/encodings/byte-cursor.ts";
import { decodeBits, decodeHybrid, hybridCapacity } from "../../../format/parquet/encodings/rle-bit-unpacked.ts";
import { PARQUET_PAGE_BYTES_MAX } from "../limits.ts";
import { deltaBytes, deltaInts, deltaLengthBytes, deltaLongs } from "./delta-values.ts";
import { NANOS_PER_DAY } from "../../function/value/value.ts";

/** A value as it is stored. */
type Stored = number | bigint | boolean | Uint8Array;

/**
 * The value at a place, below the count that was asked for. Pages may have millions of values: they stay bytes until each is wanted, since
 * as values of JavaScript they would take several times their memory.
 */
export type StoredValues = (index: number) => Stored | undefined;

/** Numbers of parquet.thrift's Encoding. */
const Encoding = {
  Plain: 0,
  PlainDictionary: 2,
  Rle: 3,
  DeltaBinaryPacked: 5,
  DeltaLengthByteArray: 6,
  DeltaByteArray: 7,
  RleDictionary: 8,
  ByteStreamSplit: 9,
} as const;

/** RLE, which levels have. */
export const ENCODING_RLE: number = Encoding.Rle;

/** Whether values are numbers of a dictionary's. */
export function isDictionaryEncoding(encoding: number): boolean {
  return encoding === Encoding.PlainDictionary || encoding === Encoding.RleDictionary;
}

/** Numbers of dictionary values, each below `dictionarySize`. */
export function dictionaryIndexes(cursor: ByteCursor, count: number, dictionarySize: number): Uint32Array {
  const indexes = new Uint32Array(hybridCapacity(count));
  if (count > 0) decodeHybrid(cursor, count, cursor.u8(), dictionarySize, indexes);
  return indexes.subarray(0, count);
}

/** The next `count` values, views of the cursor's bytes. @throws DbError StorageUnavailable */
export function storedValues(cursor: ByteCursor, encoding: number, count: number, element: SchemaElement): StoredValues {
  if (count === 0) return () => undefined;
  switch (encoding) {
    case Encoding.Plain:
    case Encoding.PlainDictionary: // Dictionary pages of older writers say so.
      return plainValues(cursor, count, element);
    case Encoding.Rle:
      if (element.type === "BOOLEAN") return rleBooleans(cursor, count);
      break;
    case Encoding.DeltaBinaryPacked:
      if (element.type === "INT32") return valuesOf(deltaInts(cursor, count));
      if (element.type === "INT64") return valuesOf(deltaLongs(cursor, count));
      break;
    case Encoding.DeltaLengthByteArray:
      if (element.type === "BYTE_ARRAY") return valuesOf(deltaLengthBytes(cursor, count));
      break;
    case Encoding.DeltaByteArray:
      if (element.type === "BYTE_ARRAY" || element.type === "FIXED_LEN_BYTE_ARRAY")
        return valuesOf(deltaBytes(cursor, count, PARQUET_PAGE_BYTES_MAX));
      break;
    case Encoding.ByteStreamSplit:
      return splitValues(cursor, count, element);
    default:
      break;
  }
  return cursor.fail(`encoding ${encoding} of ${element.type ?? "no type"}, which is not known`);
}

/** Bytes of a value; undefined where values differ in length. */
function widthOf({ type, type_length: length }: SchemaElement): number | undefined {
  switch (type) {
    case "INT32":
    case "FLOAT":
      return 4;
    case "INT64":
    case "DOUBLE":
      return 8;
    case "INT96":
      return 12;
    case "FIXED_LEN_BYTE_ARRAY":
      return length;
    default:
      return undefined;
  }
}

function valuesOf(values: ArrayLike<Stored>): StoredValues {
  return (index) => values[index];
}

function plainValues(cursor: ByteCursor, count: number, element: SchemaElement): StoredValues {
  const { type } = element;
  const { bytes } = cursor;
  if (type === "BOOLEAN") {
    const at = cursor.take(Math.ceil(count / 8));
    return (i) => (((bytes[at + (i >> 3)] ?? 0) >> (i & 7)) & 1) === 1;
  }
  if (type === "BYTE_ARRAY") return plainBytes(cursor, count);
  const width = widthOf(element);
  if (width === undefined || width < 0) return cursor.fail(`values of ${type ?? "no type"}`);
  const at = cursor.take(count * width);
  return fixedValues(bytes.slice(at, at + count * width), count, width, element);
}

function plainBytes(cursor: ByteCursor, count: number): StoredValues {
  if (count > (cursor.end - cursor.at) / 4) cursor.fail(`${count} values in ${cursor.end - cursor.at} bytes`);
  const starts = new Uint32Array(count);
  const ends = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const length = cursor.u32();
    starts[i] = cursor.take(length);
    ends[i] = cursor.at;
  }
  const { bytes } = cursor;
  return (i) => bytes.subarray(starts[i], ends[i]);
}

/** @param bytes of the values, the caller's no more */
function fixedValues(bytes: Uint8Array<ArrayBuffer>, count: number, width: number, { type }: SchemaElement): StoredValues {
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  switch (type) {
    case "INT32":
      return valuesOf(new Int32Array(buffer, byteOffset, count));
    case "INT64":
      return valuesOf(new BigInt64Array(buffer, byteOffset, count));
    case "FLOAT":
      return valuesOf(new Float32Array(buffer, byteOffset, count));
    case "DOUBLE":
      return valuesOf(new Float64Array(buffer, byteOffset, count));
    case "INT96": {
      const view = new DataView(buffer, byteOffset, count * width);
      return (i) => nanosOfInt96(view, i * width);
    }
    default:
      return (i) => bytes.subarray(i * width, (i + 1) * width);
  }
}

const JULIAN_EPOCH_DAY = 2_440_588;

/** Nanoseconds of the day, then the Julian day. */
function nanosOfInt96(view: DataView, at: number): bigint {
  return BigInt(view.getInt32(at + 8, true) - JULIAN_EPOCH_DAY) * NANOS_PER_DAY + view.getBigInt64(at, true);
}

function rleBooleans(cursor: ByteCursor, count: number): StoredValues {
  cursor.u32(); // bytes that follow
  const bits = new Uint8Array(count);
  decodeBits(cursor, count, bits);
  return (i) => bits[i] === 1;
}

function splitValues(cursor: ByteCursor, count: number, element: SchemaElement): StoredValues {
  const width = widthOf(element);
  if (width === undefined || width <= 0 || element.type === "INT96") return cursor.fail(`streams of ${element.type ?? "no type"}`);
  const at = cursor.take(count * width);
  const joined = new Uint8Array(count * width);
  for (let stream = 0; stream < width; stream++) {
    for (let i = 0; i < count; i++) joined[i * width + stream] = cursor.bytes[at + stream * count + i] ?? 0;
  }
  return fixedValues(joined, count, width, element);
}
