/** Pages of integers, dates and times into the narrowest array that holds them. */
import type { NumberArray, TimeVector, Vector, WideVector } from "../../../../column/vector.ts";
import type { IntArray } from "../../encodings/bit-pack.ts";
import { decodeDeltaDoubles, decodeDeltaInts, deltaCapacity } from "../../encodings/delta-binary-unpacked.ts";
import { Encoding } from "../../page/page-header.ts";
import { PhysicalType, physicalTypeOf, storedScale } from "../../schema/physical-type.ts";
import type { PageContext } from "../page-context.ts";
import { spread } from "./spread.ts";

/** Bits of a narrow result. */
type NarrowBits = 8 | 16 | 32;

/** The values of a page of integers, decimals of up to 18 digits, dates or times of day. */
export function decodeIntegers(context: PageContext): Vector {
  const { validity, index, pageNumber, valueCount, rowCount } = context;
  const min = index.mins?.[pageNumber] ?? Number.NaN;
  const max = index.maxs?.[pageNumber] ?? Number.NaN;
  if (valueCount === 0) return { kind: "number", values: new Int8Array(context.allocate(rowCount), 0, rowCount), validity };
  if (Number.isNaN(min) || Number.isNaN(max)) context.page.values.fail("an integer page without bounds");
  const scale = storedScale(context.column);
  if (scale !== 1) return { kind: "number", values: decodeScaledInts(context, scale), validity };
  const narrow = narrowestFor(min, max);
  if (narrow !== undefined) return { kind: "number", values: decodeNarrow(context, narrow), validity };
  if (Number.isSafeInteger(min) && Number.isSafeInteger(max)) {
    return { kind: "number", values: decodeDoubles(context, 0n), validity };
  }
  return { kind: "wide", values: decodeWide(context), validity };
}

/** Times of day stored in a finer unit. */
function decodeScaledInts(context: PageContext, scale: number): NumberArray {
  const values = decodeNarrow(context, 32);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]! / scale;
    if (!Number.isInteger(value)) context.page.values.fail(`a time that is no whole number of ${scale} stored units`);
    values[i] = value;
  }
  return values;
}

function narrowestFor(min: number, max: number): NarrowBits | undefined {
  if (min >= -0x80 && max <= 0x7f) return 8;
  if (min >= -0x8000 && max <= 0x7fff) return 16;
  if (min >= -0x8000_0000 && max <= 0x7fff_ffff) return 32;
  return undefined;
}

function newInts(bits: NarrowBits, capacity: number, allocate: PageContext["allocate"]): IntArray {
  const buffer = allocate(capacity * (bits / 8));
  if (bits === 8) return new Int8Array(buffer, 0, capacity);
  return bits === 16 ? new Int16Array(buffer, 0, capacity) : new Int32Array(buffer, 0, capacity);
}

/** Values that fit 32 bits: only the low 32 bits of what is stored matter. */
function decodeNarrow(context: PageContext, bits: NarrowBits): NumberArray {
  const { page, valueCount, rowCount, validity, allocate } = context;
  const { values, header } = page;
  const capacity = Math.max(rowCount, deltaCapacity(valueCount));
  const out = newInts(bits, capacity, allocate);
  if (header.encoding === Encoding.DeltaBinaryPacked) {
    decodeDeltaInts(values, valueCount, out);
  } else {
    const stride = plainStride(context);
    const at = values.take(valueCount * stride);
    for (let i = 0; i < valueCount; i++) out[i] = values.view.getInt32(at + i * stride, true);
  }
  if (validity !== undefined) spread(out, valueCount, validity);
  return out.subarray(0, rowCount);
}

/** Bytes of a PLAIN value. */
function plainStride({ column, page }: PageContext): 4 | 8 {
  if (page.header.encoding !== Encoding.Plain) page.values.fail(`an integer page of encoding ${page.header.encoding}`);
  return physicalTypeOf(column) === PhysicalType.Int32 ? 4 : 8;
}

/** Rows as offsets from `base`, all within 2^53 of it. */
function decodeDoubles(context: PageContext, base: bigint): Float64Array {
  const out = decodeDense(context, base);
  if (context.validity !== undefined) spread(out, context.valueCount, context.validity);
  return out.subarray(0, context.rowCount);
}

/** Values other than NULL as offsets from `base`, in an array with room for all rows. */
function decodeDense(context: PageContext, base: bigint): Float64Array {
  const { page, valueCount, rowCount, allocate, column } = context;
  const { values, header } = page;
  const capacity = Math.max(rowCount, deltaCapacity(valueCount));
  const out = new Float64Array(allocate(capacity * 8), 0, capacity);
  const narrow = physicalTypeOf(column) === PhysicalType.Int32;
  const unsigned = column.type.kind === "int" && !column.type.signed;
  if (header.encoding === Encoding.DeltaBinaryPacked) {
    decodeDeltaDoubles(values, valueCount, out, base);
    // A page of unsigned 32-bit values that begins above 2^31 is stored with a negative first value.
    if (narrow && unsigned && out[0]! < 0) for (let i = 0; i < valueCount; i++) out[i]! += 2 ** 32;
  } else {
    const stride = plainStride(context);
    const at = values.take(valueCount * stride);
    if (stride === 8) subtractBase(values.view, at, valueCount, base, unsigned, out);
    else
      for (let i = 0; i < valueCount; i++) {
        out[i] = unsigned ? values.view.getUint32(at + 4 * i, true) : values.view.getInt32(at + 4 * i, true);
      }
  }
  return out;
}

const WORD: number = 2 ** 32;

/** 64-bit values as their distances from `base`, all within 2^53, word by word: a bigint a value costs ten times as much. */
function subtractBase(view: DataView, at: number, count: number, base: bigint, unsigned: boolean, out: Float64Array): void {
  const baseLow = Number(BigInt.asUintN(32, base));
  const baseHigh = Number(base >> 32n);
  for (let i = 0; i < count; i++) {
    const from = at + 8 * i;
    const high = unsigned ? view.getUint32(from + 4, true) : view.getInt32(from + 4, true);
    out[i] = (high - baseHigh) * WORD + (view.getUint32(from, true) - baseLow);
  }
}

/** 64-bit values of which some lie beyond 2^53. */
function decodeWide(context: PageContext): BigInt64Array | BigUint64Array {
  const { page, valueCount, rowCount, validity, allocate, column, index, pageNumber } = context;
  const { values, header } = page;
  const signed = new BigInt64Array(allocate(rowCount * 8), 0, rowCount);
  if (header.encoding === Encoding.DeltaBinaryPacked) {
    // The offsets from the smallest value are exact; the bits are the same for signed and unsigned columns.
    const min = BigInt.asIntN(64, index.wideMins?.[pageNumber] ?? 0n);
    const offsets = new Float64Array(deltaCapacity(valueCount));
    decodeDeltaDoubles(values, valueCount, offsets, min);
    addToBase(min, offsets, valueCount, new Int32Array(signed.buffer, 0, valueCount * 2));
  } else {
    plainStride(context);
    const { view } = values;
    const at = values.take(valueCount * 8);
    new Uint8Array(signed.buffer).set(new Uint8Array(view.buffer, view.byteOffset + at, valueCount * 8));
  }
  if (validity !== undefined) spread(signed, valueCount, validity);
  return column.type.kind === "int" && !column.type.signed ? new BigUint64Array(signed.buffer, 0, rowCount) : signed;
}

/** `base` and each offset as words, low half first, which wrap as 64-bit integers do. */
function addToBase(base: bigint, offsets: Float64Array, count: number, words: Int32Array): void {
  const baseLow = Number(BigInt.asUintN(32, base));
  const baseHigh = Number(BigInt.asIntN(32, base >> 32n));
  for (let i = 0; i < count; i++) {
    const offset = offsets[i]!;
    const low = baseLow + (offset >>> 0);
    words[2 * i] = low;
    words[2 * i + 1] = baseHigh + Math.floor(offset / WORD) + (low >= WORD ? 1 : 0);
  }
}

/**
 * The values of a timestamp or duration page: offsets from `timeBase` or the page's smallest value; the values themselves when no
 * `timeBase` is asked for and they span 2^53 units or more.
 */
export function decodeTimes(context: PageContext, timeBase: bigint | undefined): TimeVector | WideVector {
  const { column, index, pageNumber, validity, valueCount, rowCount, page } = context;
  const min = index.wideMins?.[pageNumber] ?? 0n;
  const max = index.wideMaxs?.[pageNumber] ?? 0n;
  const base = timeBase ?? min;
  if (valueCount === 0) {
    return { kind: "time", base, offsets: new Float64Array(context.allocate(rowCount * 8), 0, rowCount), validity };
  }
  if (index.wideMins === undefined) page.values.fail("a time page without bounds");
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  if (max - base > limit || base - min > limit) {
    if (timeBase !== undefined) page.values.fail(`times ${min} to ${max}, which are not within 2^53 of ${base}`);
    return { kind: "wide", values: decodeWideTimes(context), validity };
  }
  const scale = storedScale(column);
  const offsets = scale === 1 ? decodeDoubles(context, base) : decodeScaled(context, base, BigInt(scale));
  return { kind: "time", base, offsets, validity };
}

/** Times that span 2^53 units or more, which are always PLAIN. */
function decodeWideTimes(context: PageContext): BigInt64Array {
  const { page, valueCount, rowCount, validity, allocate, column } = context;
  plainStride(context);
  const scale = BigInt(storedScale(column));
  const values = new BigInt64Array(allocate(rowCount * 8), 0, rowCount);
  const at = page.values.take(valueCount * 8);
  for (let i = 0; i < valueCount; i++) values[i] = page.values.view.getBigInt64(at + i * 8, true) / scale;
  if (validity !== undefined) spread(values, valueCount, validity);
  return values;
}

/** Times stored in a finer unit. Every stored value is a multiple of `scale`. */
function decodeScaled(context: PageContext, base: bigint, scale: bigint): Float64Array {
  const { index, pageNumber, rowCount, valueCount, validity, page, allocate } = context;
  const min = index.wideMins?.[pageNumber] ?? 0n;
  const shift = Number(min - base);
  if (page.header.encoding === Encoding.DeltaBinaryPacked) {
    const offsets = decodeDense(context, min * scale);
    const divisor = Number(scale);
    for (let i = 0; i < valueCount; i++) {
      const offset = offsets[i]! / divisor;
      if (!Number.isInteger(offset)) page.values.fail(`a time that is no whole number of ${divisor} stored units`);
      offsets[i] = offset + shift;
    }
    if (validity !== undefined) spread(offsets, valueCount, validity);
    return offsets.subarray(0, rowCount);
  }
  plainStride(context);
  const offsets = new Float64Array(allocate(rowCount * 8), 0, rowCount);
  const at = page.values.take(valueCount * 8);
  for (let i = 0; i < valueCount; i++) offsets[i] = Number(page.values.view.getBigInt64(at + i * 8, true) / scale - base);
  if (validity !== undefined) spread(offsets, valueCount, validity);
  return offsets;
}
