/**
 * Numbers as decimal text, written straight into bytes. The caller has reserved `NUMBER_BYTES_MAX` bytes at `at`.
 *
 * Whole numbers are cut into groups of nine digits, which int32 arithmetic divides fast; no bigint and no string a value.
 */
import { floatText } from "../../../value/number-text.ts";

/** Longest text that any function here writes: sign, 17 digits, point, exponent, or a 20-digit integer. */
export const NUMBER_BYTES_MAX = 40;

const MINUS = 0x2d; // '-'
const ZERO = 0x30; // '0'
const POINT = 0x2e; // '.'
const BILLION = 1_000_000_000;
const THOUSAND = 1000;

/** Writes a whole number within ±2^53 and returns the position after it. */
export function writeInteger(bytes: Uint8Array, at: number, value: number): number {
  let next = at;
  let rest = value;
  if (rest < 0) {
    bytes[next++] = MINUS;
    rest = -rest;
  }
  if (rest < BILLION) return writeSmall(bytes, next, rest);
  const high = Math.floor(rest / BILLION);
  next = writeInteger(bytes, next, high);
  return writeNine(bytes, next, rest - high * BILLION);
}

/**
 * Writes the decimal of an unscaled whole number within ±2^53, `scale` digits after the point, and returns the position after it. Takes
 * at most 22 bytes more than `scale`.
 */
export function writeDecimal(bytes: Uint8Array, at: number, value: number, scale: number): number {
  let start = at;
  if (value < 0) bytes[start++] = MINUS;
  let end = writeInteger(bytes, start, Math.abs(value));
  const missing = scale + 1 - (end - start);
  if (missing > 0) {
    bytes.copyWithin(start + missing, start, end);
    bytes.fill(ZERO, start, start + missing);
    end += missing;
  }
  if (scale === 0) return end;
  for (let i = end; i > end - scale; i--) bytes[i] = bytes[i - 1]!;
  bytes[end - scale] = POINT;
  return end + 1;
}

/** Writes `high * 10^9 + low` with 0 <= low < 10^9 and |high| < 2^53, e.g. a time in nanoseconds; returns the position after it. */
export function writeSplit(bytes: Uint8Array, at: number, high: number, low: number): number {
  let next = at;
  let whole = high;
  let part = low;
  if (whole < 0) {
    bytes[next++] = MINUS;
    whole = -whole;
    if (part > 0) {
      whole -= 1;
      part = BILLION - part;
    }
  }
  if (whole === 0) return writeSmall(bytes, next, part);
  return writeNine(bytes, writeInteger(bytes, next, whole), part);
}

/** Digits of 0..999 with zeros before them, a byte each, the first the lowest. */
const THREE: Int32Array = Int32Array.from({ length: THOUSAND }, (_, n) => packed(String(n).padStart(3, "0")));
/** The same without zeros, and how many they are in the highest byte. */
const SHORT: Int32Array = Int32Array.from({ length: THOUSAND }, (_, n) => packed(String(n)) | (String(n).length << 24));

function packed(digits: string): number {
  let word = 0;
  for (let i = 0; i < digits.length; i++) word |= digits.charCodeAt(i) << (8 * i);
  return word;
}

/** Below 10^9. Three digits a step: 9 digits take 6 ns, one by one 15. May write two bytes behind the last digit. */
function writeSmall(bytes: Uint8Array, at: number, value: number): number {
  const rest = value | 0;
  if (rest < THOUSAND) return writeShort(bytes, at, rest);
  const thousands = (rest / THOUSAND) | 0;
  let next: number;
  if (thousands < THOUSAND) next = writeShort(bytes, at, thousands);
  else {
    const millions = (thousands / THOUSAND) | 0;
    next = writeShort(bytes, at, millions);
    writeThree(bytes, next, thousands - millions * THOUSAND);
    next += 3;
  }
  writeThree(bytes, next, rest - thousands * THOUSAND);
  return next + 3;
}

function writeShort(bytes: Uint8Array, at: number, value: number): number {
  const digits = SHORT[value]!;
  bytes[at] = digits;
  bytes[at + 1] = digits >>> 8;
  bytes[at + 2] = digits >>> 16;
  return at + (digits >>> 24);
}

function writeThree(bytes: Uint8Array, at: number, value: number): void {
  const digits = THREE[value]!;
  bytes[at] = digits;
  bytes[at + 1] = digits >>> 8;
  bytes[at + 2] = digits >>> 16;
}

function writeNine(bytes: Uint8Array, at: number, value: number): number {
  const rest = value | 0;
  const thousands = (rest / THOUSAND) | 0;
  const millions = (thousands / THOUSAND) | 0;
  writeThree(bytes, at, millions);
  writeThree(bytes, at + 3, thousands - millions * THOUSAND);
  writeThree(bytes, at + 6, rest - thousands * THOUSAND);
  return at + 9;
}

/** Powers of ten that are exact doubles. */
const TENS: Float64Array = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));
/** Decimals of so many digits are doubles of their own: none reads back as another. */
const DIGITS = 15;
const DIGITS_LIMIT = 1e15;
/** From here on down floats are written with an exponent. */
const SMALL = 1e-5;
/** Places that are tried first: fewer digits are written, of which fewer are zeros. */
const FEW_PLACES = 6;
const FEW_SCALE = 1e6;

/**
 * Writes a finite double as `floatText` prints it and returns the position after it.
 *
 * A double near a decimal of at most 15 digits, which most that people store are, is that decimal: `digits / 10^places` is exact integers
 * divided and rounded once, so that it equals the double exactly when the decimal reads back as it, and of 15 digits only one does. Its
 * shortest form is without the zeros at its end. 30 ns instead of 100 (doubles of up to six places; of 17 digits,
 * which are tried in vain, 150 instead of 140).
 */
export function writeFloat(bytes: Uint8Array, at: number, value: number): number {
  if (value < 1e15 && value > -1e15 && Math.floor(value) === value && (value !== 0 || Object.is(value, 0))) {
    const next = writeInteger(bytes, at, value);
    bytes[next] = POINT;
    bytes[next + 1] = ZERO;
    return next + 2;
  }
  const size = Math.abs(value);
  if (size < BILLION && size >= SMALL) {
    const digits = Math.round(size * FEW_SCALE);
    if (digits / FEW_SCALE === size) {
      const whole = Math.floor(size);
      let next = at;
      if (value < 0) bytes[next++] = MINUS;
      next = writeSmall(bytes, next, whole);
      bytes[next++] = POINT;
      const rest = digits - whole * FEW_SCALE;
      const high = (rest / THOUSAND) | 0;
      writeThree(bytes, next, high);
      writeThree(bytes, next + 3, rest - high * THOUSAND);
      next += FEW_PLACES;
      while (bytes[next - 1] === ZERO) next--;
      return next;
    }
  }
  if (size >= SMALL && size < DIGITS_LIMIT) {
    const places = placesOf(size);
    const scale = TENS[places]!;
    const digits = Math.round(size * scale);
    if (digits / scale === size && digits < DIGITS_LIMIT) {
      let next = at;
      if (value < 0) bytes[next++] = MINUS;
      return writePlaces(bytes, next, digits, places);
    }
  }
  return writeAscii(bytes, at, floatText(value));
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
function writePlaces(bytes: Uint8Array, at: number, digits: number, places: number): number {
  const scale = TENS[places]!;
  const whole = Math.floor(digits / scale);
  let next = writeInteger(bytes, at, whole);
  bytes[next++] = POINT;
  // Two groups of digits, each small enough for integers of 32 bits: the first nine places and the rest.
  const rest = digits - whole * scale;
  const more = places > 9 ? places - 9 : 0;
  const high = more === 0 ? rest : Math.floor(rest / TENS[more]!);
  const low = more === 0 ? 0 : rest - high * TENS[more]!;
  next = writePadded(bytes, next, high, places - more);
  if (low > 0) next = more > 9 ? writeLong(bytes, next, low, more) : writePadded(bytes, next, low, more);
  while (bytes[next - 1] === ZERO) next--;
  return next;
}

/** Writes a whole number below 10^9 with zeros before it, `width` digits. */
function writePadded(bytes: Uint8Array, at: number, value: number, width: number): number {
  let rest = value | 0;
  for (let i = at + width - 1; i >= at; i--) {
    const tens = (rest / 10) | 0;
    bytes[i] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return at + width;
}

/** As `writePadded`, of ten digits. */
function writeLong(bytes: Uint8Array, at: number, value: number, width: number): number {
  const high = Math.floor(value / BILLION);
  return writeNine(bytes, writePadded(bytes, at, high, width - 9), value - high * BILLION);
}

/** Copies ASCII text and returns the position after it. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  const length = text.length;
  for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + length;
}
