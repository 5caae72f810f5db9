/**
 * The values of one column of a batch, as typed arrays.
 *
 * | kind       | holds                                                   | row i                         |
 * |------------|---------------------------------------------------------|-------------------------------|
 * | number     | floats, booleans (0/1), dates, times of day, integers   | `values[i]`                   |
 * |            | and decimals (unscaled) within ±2^53                    |                               |
 * | wide       | 64-bit integers and decimals of up to 18 digits of      | `values[i]` (bigint)          |
 * |            | which some lie beyond ±2^53, and timestamps and         |                               |
 * |            | durations too far apart for "time"                      |                               |
 * | time       | timestamps and durations within 2^53 units of a base    | `base + BigInt(offsets[i])`   |
 * | dictionary | strings that repeat: tags, constants                    | `dictionary[codes[i]]`, 0=NULL|
 * | coded      | strings that repeat: fields, as their file has them     | text of `codes[i]` in         |
 * |            |                                                         | `entries`, 0 = NULL           |
 * | bytes      | strings and JSON (UTF-8), binary, vectors, decimals of  |                               |
 * |            | more than 18 digits (16 bytes, `decimal.ts`), lists,    |                               |
 * |            | structs and maps (`nested.ts`)                          | `bytes[offsets[i], offsets[i+1])` |
 *
 * `validity[i] === 0` marks SQL NULL; an absent `validity` means no NULL. Values under NULL are arbitrary but in range.
 * Arrays may be longer than the batch; only rows `[0, rowCount)` count. Any of them may lie on a SharedArrayBuffer.
 * Vectors are never changed once handed over.
 */

import type { TextTable } from "./text-table.ts";

/** A numeric array whose elements are plain numbers. */
export type NumberArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/** One byte a row: 1 = value, 0 = NULL. */
export type Validity = Uint8Array | undefined;

/** Plain numbers. */
export interface NumberVector {
  readonly kind: "number";
  readonly values: NumberArray;
  readonly validity: Validity;
}

/** 64-bit integers, or timestamps and durations as they are, in the unit of the column's type (then always a BigInt64Array). */
export interface WideVector {
  readonly kind: "wide";
  readonly values: BigInt64Array | BigUint64Array;
  readonly validity: Validity;
}

/** Timestamps or durations. A time index is always one of these. */
export interface TimeVector {
  readonly kind: "time";
  /** What the offsets count from, in the unit of the column's type. */
  readonly base: bigint;
  /** Exact whole numbers, |offset| < 2^53. */
  readonly offsets: Float64Array;
  readonly validity: Validity;
}

/** Strings by code. */
export interface DictionaryVector {
  readonly kind: "dictionary";
  /** Index into `dictionary`; 0 is NULL. */
  readonly codes: Uint32Array;
  /** `dictionary[0]` is undefined and stands for NULL. Shared between batches; may grow at its end. */
  readonly dictionary: readonly (string | undefined)[];
}

/** Text by code, as UTF-8. */
export interface CodedVector {
  readonly kind: "coded";
  /** Index into `entries`; 0 is NULL. */
  readonly codes: Uint32Array;
  /** Shared between batches and never changed: what is found out of an entry may be kept by it. Two codes may stand for equal texts. */
  readonly entries: TextTable;
}

/** Text or binary. */
export interface BytesVector {
  readonly kind: "bytes";
  /** `rowCount + 1` ascending positions in `bytes`. */
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  readonly validity: Validity;
}

/** Values of one column. */
export type Vector = NumberVector | WideVector | TimeVector | DictionaryVector | CodedVector | BytesVector;

/**
 * One value. NULL is `undefined`. Integers are `number` within ±2^53 and `bigint` beyond; timestamps and durations are `bigint`
 * in the unit of their type; dates are days, times of day units since midnight, both as `number`. Decimals are their unscaled whole number:
 * 1.50 is 150 under DECIMAL(4, 2), as `number` or `bigint` like integers. Lists, structs and maps are their bytes (`nested.ts`).
 */
export type Scalar = undefined | boolean | number | bigint | string | Uint8Array;
