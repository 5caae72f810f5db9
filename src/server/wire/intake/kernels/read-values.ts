/**
 * Values of one column of scanned rows as vectors, where their text is plain: whole numbers of up to 15 digits, floats of up to 15 digits,
 * timestamps in ISO form without a zone. Each gives undefined at the first text that is not: then the column is cast text by text.
 */
import { utf8Text } from "../../../../column/text-table.ts";
import type { Vector } from "../../../../column/vector.ts";
import { daysFromCivil } from "../../../../value/civil.ts";
import type { ScannedRows } from "../scanned-rows.ts";

const MINUS = 0x2d;
const ZERO = 0x30;
const DOT = 0x2e;
const DIGITS_MAX = 15;
/** Longest text of a float that is read here. */
const NUMBER_BYTES_MAX = 400;
const DAY_SECONDS = 86_400;

/** Powers of ten that doubles hold exactly. */
const POWERS: Float64Array = Float64Array.from({ length: 23 }, (_, i) => 10 ** i);

/** Where a column's values are. */
export interface ScannedColumn {
  readonly bytes: Uint8Array;
  readonly rows: ScannedRows;
  readonly width: number;
  readonly column: number;
}

/** 1 for a value, 0 for NULL; undefined where there is no NULL. */
function validityOf({ rows: { starts, ends, rows }, width, column }: ScannedColumn): Uint8Array | undefined {
  let validity: Uint8Array | undefined;
  for (let row = 0, i = column; row < rows; row++, i += width) {
    if (ends[i]! >= starts[i]!) continue;
    validity ??= new Uint8Array(rows).fill(1);
    validity[row] = 0;
  }
  return validity;
}

/** Texts and binary values as they are. */
export function textVector(scanned: ScannedColumn): Vector {
  const { bytes, rows, width, column } = scanned;
  const { starts, ends } = rows;
  const offsets = new Uint32Array(rows.rows + 1);
  let length = 0;
  for (let row = 0, i = column; row < rows.rows; row++, i += width) {
    const size = ends[i]! - starts[i]!;
    if (size > 0) length += size;
    offsets[row + 1] = length;
  }
  const own = new Uint8Array(length);
  for (let row = 0, i = column; row < rows.rows; row++, i += width) {
    let at = offsets[row]!;
    const end = ends[i]!;
    if (end - starts[i]! > 64) own.set(bytes.subarray(starts[i]!, end), at);
    else for (let from = starts[i]!; from < end; from++) own[at++] = bytes[from]!;
  }
  return { kind: "bytes", offsets, bytes: own, validity: validityOf(scanned) };
}

/** Whole numbers within `[least, most]`. */
export function wholeVector(scanned: ScannedColumn, least: number, most: number): Vector | undefined {
  const { bytes, rows, width, column } = scanned;
  const { starts, ends } = rows;
  const values = new Float64Array(rows.rows);
  for (let row = 0, i = column; row < rows.rows; row++, i += width) {
    const end = ends[i]!;
    let at = starts[i]!;
    if (end < at) continue;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    if (end === at || end - at > DIGITS_MAX) return undefined;
    let value = 0;
    for (; at < end; at++) {
      const digit = bytes[at]! - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      value = value * 10 + digit;
    }
    if (isNegative) value = -value + 0;
    if (value < least || value > most) return undefined;
    values[row] = value;
  }
  return { kind: "number", values, validity: validityOf(scanned) };
}

/** Floats: digits with a point, no exponent. A whole number of 15 digits and a power of ten are exact, and so is their quotient rounded. */
export function floatVector(scanned: ScannedColumn, bits: 32 | 64): Vector | undefined {
  const { bytes, rows, width, column } = scanned;
  const { starts, ends } = rows;
  const values = bits === 32 ? new Float32Array(rows.rows) : new Float64Array(rows.rows);
  for (let row = 0, i = column; row < rows.rows; row++, i += width) {
    const end = ends[i]!;
    let at = starts[i]!;
    if (end < at) continue;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    const first = at;
    let point = -1;
    let value = 0;
    let digits = 0;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === DOT && point < 0) {
        point = at;
        continue;
      }
      const digit = byte - ZERO;
      if (digit < 0 || digit > 9) return undefined;
      if (digits > 0 || digit > 0) digits++;
      value = value * 10 + digit;
    }
    if (digits > DIGITS_MAX) {
      if (end - first > NUMBER_BYTES_MAX) return undefined;
      value = Number(utf8Text(bytes, first, end));
    } else if (point >= 0) {
      if (end - first < 2 || end - point - 1 > 22) return undefined;
      value /= POWERS[end - point - 1]!;
    } else if (end === first) return undefined;
    values[row] = isNegative ? -value : value;
  }
  return { kind: "number", values, validity: validityOf(scanned) };
}

function twoAt(bytes: Uint8Array, at: number): number {
  const tens = bytes[at]! - ZERO;
  const ones = bytes[at + 1]! - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

const MONTH_DAYS: Uint8Array = Uint8Array.of(0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31);

/** Timestamps `2024-01-31 23:59:59[.123]` of UTC, exact in the unit. @param perSecond units of a second */
export function stampVector(scanned: ScannedColumn, perSecond: number): Vector | undefined {
  const { bytes, rows, width, column } = scanned;
  const { starts, ends } = rows;
  const offsets = new Float64Array(rows.rows);
  let baseSeconds = Number.NaN;
  let lastDate = -1;
  let lastDays = 0;
  for (let row = 0, i = column; row < rows.rows; row++, i += width) {
    const start = starts[i]!;
    const end = ends[i]!;
    if (end < start) continue;
    if (end - start < 19 || bytes[start + 4] !== MINUS || bytes[start + 7] !== MINUS) return undefined;
    if ((bytes[start + 10] !== 0x20 && bytes[start + 10] !== 0x54) || bytes[start + 13] !== 0x3a || bytes[start + 16] !== 0x3a)
      return undefined;
    const year = twoAt(bytes, start) * 100 + twoAt(bytes, start + 2);
    const month = twoAt(bytes, start + 5);
    const day = twoAt(bytes, start + 8);
    const date = (year * 100 + month) * 100 + day;
    if (date !== lastDate) {
      const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
      if (!(month >= 1 && month <= 12 && day >= 1 && day <= MONTH_DAYS[month]! && (month !== 2 || day < 29 || isLeap))) return undefined;
      lastDays = daysFromCivil(year, month, day);
      lastDate = date;
    }
    const [hours, minutes, clock] = [twoAt(bytes, start + 11), twoAt(bytes, start + 14), twoAt(bytes, start + 17)];
    if (!(hours < 24 && minutes < 60 && clock < 60)) return undefined;
    const seconds = lastDays * DAY_SECONDS + hours * 3600 + minutes * 60 + clock;
    const fraction = end === start + 19 ? 0 : fractionAt(bytes, start + 19, end, perSecond);
    if (fraction < 0) return undefined;
    if (Number.isNaN(baseSeconds)) baseSeconds = seconds;
    const offset = (seconds - baseSeconds) * perSecond + fraction;
    if (!Number.isSafeInteger(offset)) return undefined;
    offsets[row] = offset;
  }
  const base = BigInt(Number.isNaN(baseSeconds) ? 0 : baseSeconds) * BigInt(perSecond);
  return { kind: "time", base, offsets, validity: validityOf(scanned) };
}

/** A fraction in units; negative for what is none, or is finer than the unit. */
function fractionAt(bytes: Uint8Array, from: number, end: number, perSecond: number): number {
  if (bytes[from] !== DOT || end === from + 1) return -1;
  let scale = perSecond;
  let value = 0;
  for (let at = from + 1; at < end; at++) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    if (scale === 1) {
      if (digit !== 0) return -1;
      continue;
    }
    scale /= 10;
    value += digit * scale;
  }
  return value;
}
