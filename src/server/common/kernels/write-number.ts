/**
 * Numbers as decimal text, written straight into bytes. The caller has reserved `NUMBER_BYTES_MAX` bytes at `at`, of which those behind the
 * text may be written as well: digits go three at a time, as words of four bytes out of a table.
 *
 * Whole numbers are cut into groups of nine digits, which int32 arithmetic divides fast; no bigint and no string a value. Words instead of
 * bytes: integers below 10,000 take 10 ns instead of 15, below 10^9 11 instead of 17, floats with two places 15 instead of 21 (4,096 values
 * by chance, both in turns in one process, medians of 11 rounds).
 */
import { floatText } from "../../../value/number-text.ts";

/** Longest text that any function here writes, and what it writes behind it: sign, 17 digits, point, exponent, or a 20-digit integer. */
export const NUMBER_BYTES_MAX = 40;

const MINUS = 0x2d; // '-'
const ZERO = 0x30; // '0'
const POINT = 0x2e; // '.'
const BILLION = 1_000_000_000;
const THOUSAND = 1000;
/** Digits of a group. */
const NINE = 9;
/** Bytes of a word. */
const WORD = 4;

/** Writes a whole number within ±2^53 and returns the position after it. */
export function writeInteger(view: DataView, at: number, value: number): number {
  let next = at;
  let rest = value;
  if (rest < 0) {
    view.setUint8(next++, MINUS);
    rest = -rest;
  }
  if (rest < BILLION) return writeSmall(view, next, rest | 0);
  const high = Math.floor(rest / BILLION); // Below 2^24, so that the quotient is never rounded up to the next.
  return writeNine(view, writeSmall(view, next, high | 0), (rest - high * BILLION) | 0);
}

/**
 * Writes the decimal of an unscaled whole number within ±2^53, `scale` digits after the point, and returns the position after it. Takes
 * at most 26 bytes more than `scale`. All digits are written first, of which the last then make room for the point.
 */
export function writeDecimal(view: DataView, at: number, value: number, scale: number): number {
  if (scale === 0) return writeInteger(view, at, value);
  let start = at;
  if (value < 0) view.setUint8(start++, MINUS);
  const end = writeInteger(view, start, Math.abs(value));
  if (end - start <= scale) return writeFewDigits(view, start, end, scale);
  const point = end - scale;
  if (scale > 2 * WORD) for (let i = end; i > point; i--) view.setUint8(i, view.getUint8(i - 1));
  else {
    const word0 = view.getInt32(point, true);
    if (scale > WORD) view.setInt32(point + 1 + WORD, view.getInt32(point + WORD, true), true);
    view.setInt32(point + 1, word0, true);
  }
  view.setUint8(point, POINT);
  return end + 1;
}

/** A decimal below 1 whose digits are `[start, end)`: behind `0.` and zeros. */
function writeFewDigits(view: DataView, start: number, end: number, scale: number): number {
  const ahead = 2 + scale - (end - start);
  for (let i = end - 1; i >= start; i--) view.setUint8(i + ahead, view.getUint8(i));
  for (let i = start; i < start + ahead; i++) view.setUint8(i, ZERO);
  view.setUint8(start + 1, POINT);
  return start + 2 + scale;
}

/** Writes `high * 10^9 + low` with 0 <= low < 10^9 and |high| < 2^53, e.g. a time in nanoseconds; returns the position after it. */
export function writeSplit(view: DataView, at: number, high: number, low: number): number {
  let next = at;
  let whole = high;
  let part = low;
  if (whole < 0) {
    view.setUint8(next++, MINUS);
    whole = -whole;
    if (part > 0) {
      whole -= 1;
      part = BILLION - part;
    }
  }
  if (whole === 0) return writeSmall(view, next, part | 0);
  return writeNine(view, writeInteger(view, next, whole), part | 0);
}

/** Digits of 0..999 with zeros before them, a byte each, the first the lowest. */
const THREE: Int32Array = Int32Array.from({ length: THOUSAND }, (_, n) => packed(String(n).padStart(3, "0")));
/** The same without zeros, and how many they are in the highest byte. */
const SHORT: Int32Array = Int32Array.from({ length: THOUSAND }, (_, n) => packed(String(n)) | (String(n).length << 24));
/** How many of three digits are left without the zeros at their end. */
const KEPT: Uint8Array = Uint8Array.from({ length: THOUSAND }, (_, n) => String(n).padStart(3, "0").replace(/0+$/, "").length);

function packed(digits: string): number {
  let word = 0;
  for (let i = 0; i < digits.length; i++) word |= digits.charCodeAt(i) << (8 * i);
  return word;
}

/** An integer of `[0, 10^9)`. May write three bytes behind the last digit. */
function writeSmall(view: DataView, at: number, value: number): number {
  if (value < THOUSAND) return writeShort(view, at, value);
  const thousands = (value / THOUSAND) | 0;
  let next: number;
  if (thousands < THOUSAND) next = writeShort(view, at, thousands);
  else {
    const millions = (thousands / THOUSAND) | 0;
    next = writeShort(view, at, millions);
    view.setInt32(next, THREE[thousands - millions * THOUSAND]!, true);
    next += 3;
  }
  view.setInt32(next, THREE[value - thousands * THOUSAND]!, true);
  return next + 3;
}

function writeShort(view: DataView, at: number, value: number): number {
  const digits = SHORT[value]!;
  view.setInt32(at, digits, true);
  return at + (digits >>> 24);
}

/** An integer of `[0, 1000)` with zeros before it; writes one byte behind the last digit. */
export function writeThree(view: DataView, at: number, value: number): number {
  view.setInt32(at, THREE[value]!, true);
  return at + 3;
}

/** An integer of `[0, 10^9)` with zeros before it; writes one byte behind the last digit. */
export function writeNine(view: DataView, at: number, value: number): number {
  const thousands = (value / THOUSAND) | 0;
  const millions = (thousands / THOUSAND) | 0;
  view.setInt32(at, THREE[millions]!, true);
  view.setInt32(at + 3, THREE[thousands - millions * THOUSAND]!, true);
  view.setInt32(at + 6, THREE[value - thousands * THOUSAND]!, true);
  return at + NINE;
}

/** Powers of ten that are exact doubles. */
const TENS: Float64Array = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));
/** Decimals of so many digits are doubles of their own: none reads back as another. */
const DIGITS = 15;
const DIGITS_LIMIT = 1e15;
/** From here on down floats are written with an exponent. */
const SMALL = 1e-5;
/** Places that are tried first: fewer digits are written, of which fewer are zeros. */
const FEW_SCALE = 1e6;

/**
 * Writes a finite double as `floatText` prints it and returns the position after it.
 *
 * A double near a decimal of at most 15 digits, which most that people store are, is that decimal: `digits / 10^places` is exact integers
 * divided and rounded once, so that it equals the double exactly when the decimal reads back as it, and of 15 digits only one does. Its
 * shortest form is without the zeros at its end. 15 ns with two places, 31 with nine, 42 with 15 digits, where the runtime's text takes 80;
 * 17 digits, which are tried in vain, 90 (4,096 values by chance).
 */
export function writeFloat(view: DataView, at: number, value: number): number {
  if (value < 1e15 && value > -1e15 && Math.floor(value) === value && (value !== 0 || Object.is(value, 0))) {
    const next = writeInteger(view, at, value);
    view.setUint8(next, POINT);
    view.setUint8(next + 1, ZERO);
    return next + 2;
  }
  const size = Math.abs(value);
  if (size < BILLION && size >= SMALL) {
    const digits = Math.round(size * FEW_SCALE);
    if (digits / FEW_SCALE === size) {
      const whole = Math.floor(size);
      let next = at;
      if (value < 0) view.setUint8(next++, MINUS);
      next = writeSmall(view, next, whole | 0);
      view.setUint8(next++, POINT);
      return writeSix(view, next, (digits - whole * FEW_SCALE) | 0);
    }
  }
  if (size >= SMALL && size < DIGITS_LIMIT) {
    const places = placesOf(size);
    const scale = TENS[places]!;
    const digits = Math.round(size * scale);
    if (digits / scale === size && digits < DIGITS_LIMIT) {
      let next = at;
      if (value < 0) view.setUint8(next++, MINUS);
      return writePlaces(view, next, digits, places);
    }
  }
  return writeAsciiAt(view, at, floatText(value));
}

/** Six places, not all zero, without the zeros at their end. */
function writeSix(view: DataView, at: number, value: number): number {
  const high = (value / THOUSAND) | 0;
  const low = value - high * THOUSAND;
  view.setInt32(at, THREE[high]!, true);
  if (low === 0) return at + KEPT[high]!;
  view.setInt32(at + 3, THREE[low]!, true);
  return at + 3 + KEPT[low]!;
}

/** Places behind the point of a size that make 15 digits of it, or fewer. */
function placesOf(size: number): number {
  if (size >= 1) {
    let whole = 1;
    while (size >= TENS[whole]!) whole++;
    return DIGITS - whole;
  }
  return size >= 0.1 ? 15 : size >= 0.01 ? 16 : size >= 0.001 ? 17 : size >= 0.0001 ? 18 : 19;
}

/** Writes `digits / 10^places`, which is no whole number, without zeros at its end. */
function writePlaces(view: DataView, at: number, digits: number, places: number): number {
  const scale = TENS[places]!;
  const whole = Math.floor(digits / scale);
  let next = writeInteger(view, at, whole);
  view.setUint8(next++, POINT);
  // Nine places at a time, each few enough for integers of 32 bits; those of which no digit is left are zeros.
  const rest = digits - whole * scale;
  if (places <= NINE) next = writeNine(view, next, (rest * TENS[NINE - places]!) | 0);
  else {
    const more = places - NINE;
    const high = Math.floor(rest / TENS[more]!);
    const low = rest - high * TENS[more]!;
    next = writeNine(view, next, high | 0);
    if (low > 0) next = writeMore(view, next, low, more);
  }
  while (view.getUint8(next - 1) === ZERO) next--;
  return next;
}

/** Ten places at most, with zeros behind them. */
function writeMore(view: DataView, at: number, value: number, places: number): number {
  if (places <= NINE) return writeNine(view, at, (value * TENS[NINE - places]!) | 0);
  const high = Math.floor(value / 10);
  writeNine(view, at, high | 0);
  view.setUint8(at + NINE, ZERO + value - high * 10);
  return at + NINE + 1;
}

/** Copies ASCII text and returns the position after it. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  const length = text.length;
  for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + length;
}

/** The same by a view. */
export function writeAsciiAt(view: DataView, at: number, text: string): number {
  const length = text.length;
  for (let i = 0; i < length; i++) view.setUint8(at + i, text.charCodeAt(i));
  return at + length;
}
