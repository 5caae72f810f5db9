/**
 * Keys of values, the same for a value however its vector holds it: 64-bit integers for whole numbers, times, dates and Booleans; the bits
 * of the double for floats; a hash for text and binary.
 */
import type { DataType } from "../../column/data-type.ts";
import type { NumberArray, Scalar, Vector } from "../../column/vector.ts";
import { HASHED, hashBytes } from "./key-hash.ts";

/** How values of a type become keys. Keys of "int" and "float" stand for one value each, those of "bytes" nearly always. */
export type KeyKind = "int" | "float" | "bytes";

/** How values of a type become keys; undefined for types that have no index. */
export function keyKindOf(type: DataType): KeyKind | undefined {
  switch (type.kind) {
    case "int":
    case "date":
    case "boolean":
    case "timestamp":
    case "duration":
      return "int";
    case "float":
      return "float";
    case "string":
    case "binary":
      return "bytes";
    default:
      return undefined;
  }
}

const NAN_HIGH = 0x7ff80000;
const doubles = new Float64Array(1);
const halves = new Uint32Array(doubles.buffer);
const encoder = new TextEncoder();

/** The key of a value that is not NULL, in `HASHED`. Returns false when the value is none of the kind. */
export function keyOfScalar(value: Scalar, kind: KeyKind): boolean {
  if (kind === "bytes") {
    const bytes = typeof value === "string" ? encoder.encode(value) : value;
    if (!(bytes instanceof Uint8Array)) return false;
    hashBytes(bytes, 0, bytes.length);
    return true;
  }
  if (kind === "float") {
    if (typeof value !== "number") return false;
    floatKey(value);
    return true;
  }
  if (typeof value === "number" && !Number.isInteger(value)) return false;
  if (typeof value !== "number" && typeof value !== "bigint" && typeof value !== "boolean") return false;
  const bits = BigInt.asUintN(64, BigInt(value));
  HASHED[0] = Number(bits >> 32n);
  HASHED[1] = Number(bits & 0xffff_ffffn);
  return true;
}

/** All NaN are one value, and -0 is 0. */
function floatKey(value: number): void {
  doubles[0] = value + 0;
  const isNaN = value !== value;
  HASHED[0] = isNaN ? NAN_HIGH : halves[1]!;
  HASHED[1] = isNaN ? 0 : halves[0]!;
}

/** Keys of rows: `highs[i]`, `lows[i]` are those of row `rows[i]`, for i below `count`. NULL has none. Memory is used again. */
export class RowKeys {
  count = 0;
  highs: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  lows: Uint32Array<ArrayBuffer> = new Uint32Array(0);
  rows: Uint32Array<ArrayBuffer> = new Uint32Array(0);

  /** Takes the keys of rows `[start, end)` in the place of those before. */
  take(vector: Vector, kind: KeyKind, start: number, end: number): void {
    if (this.rows.length < end - start) {
      this.highs = new Uint32Array(end - start);
      this.lows = new Uint32Array(end - start);
      this.rows = new Uint32Array(end - start);
    }
    switch (vector.kind) {
      case "number": {
        const values = asDoubles(vector.values, start, end);
        this.count = kind === "float" ? floatKeys(this, values, vector.validity, start) : wholeKeys(this, values, vector.validity, start);
        return;
      }
      case "wide":
        this.count = wideKeys(this, vector.values, vector.validity, start, end);
        return;
      case "time":
        this.count = timeKeys(this, vector, start, end);
        return;
      case "bytes":
        this.count = bytesKeys(this, vector, start, end);
        return;
      case "dictionary":
      case "coded":
        throw new Error("fields that are written are no vectors of codes");
    }
  }
}

/** As doubles, so that the loops over them meet one class of array. */
function asDoubles(values: NumberArray, start: number, end: number): Float64Array {
  const part = values.subarray(start, end);
  return part instanceof Float64Array ? part : new Float64Array(part);
}

function wholeKeys({ highs, lows, rows }: RowKeys, values: Float64Array, validity: Uint8Array | undefined, start: number): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (validity !== undefined && validity[start + i] === 0) continue;
    const value = values[i]!;
    const low = value >>> 0;
    highs[count] = (value - low) / 0x1_0000_0000; // A negative one wraps to its two's complement.
    lows[count] = low;
    rows[count++] = start + i;
  }
  return count;
}

function floatKeys({ highs, lows, rows }: RowKeys, values: Float64Array, validity: Uint8Array | undefined, start: number): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (validity !== undefined && validity[start + i] === 0) continue;
    floatKey(values[i]!);
    highs[count] = HASHED[0]!;
    lows[count] = HASHED[1]!;
    rows[count++] = start + i;
  }
  return count;
}

function wideKeys(
  { highs, lows, rows }: RowKeys,
  values: BigInt64Array | BigUint64Array,
  validity: Uint8Array | undefined,
  start: number,
  end: number,
): number {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  let count = 0;
  for (let row = start; row < end; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    highs[count] = words[row * 2 + 1]!;
    lows[count] = words[row * 2]!;
    rows[count++] = row;
  }
  return count;
}

function timeKeys({ highs, lows, rows }: RowKeys, vector: Extract<Vector, { kind: "time" }>, start: number, end: number): number {
  const { offsets, validity } = vector;
  const base = BigInt.asUintN(64, vector.base);
  const baseHigh = Number(base >> 32n);
  const baseLow = Number(base & 0xffff_ffffn);
  let count = 0;
  for (let row = start; row < end; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    const offset = offsets[row]!;
    const offsetLow = offset >>> 0;
    const low = baseLow + offsetLow;
    highs[count] = baseHigh + (offset - offsetLow) / 0x1_0000_0000 + (low >= 0x1_0000_0000 ? 1 : 0);
    lows[count] = low;
    rows[count++] = row;
  }
  return count;
}

function bytesKeys({ highs, lows, rows }: RowKeys, vector: Extract<Vector, { kind: "bytes" }>, start: number, end: number): number {
  const { offsets, bytes, validity } = vector;
  let count = 0;
  for (let row = start; row < end; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    hashBytes(bytes, offsets[row]!, offsets[row + 1]!);
    highs[count] = HASHED[0]!;
    lows[count] = HASHED[1]!;
    rows[count++] = row;
  }
  return count;
}
