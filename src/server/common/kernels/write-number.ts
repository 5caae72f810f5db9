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

function writeSmall(bytes: Uint8Array, at: number, value: number): number {
  let rest = value | 0;
  const length =
    rest < 10
      ? 1
      : rest < 100
        ? 2
        : rest < 1000
          ? 3
          : rest < 10_000
            ? 4
            : rest < 100_000
              ? 5
              : rest < 1_000_000
                ? 6
                : rest < 10_000_000
                  ? 7
                  : rest < 100_000_000
                    ? 8
                    : 9;
  const end = at + length;
  for (let i = end - 1; i >= at; i--) {
    const tens = (rest / 10) | 0;
    bytes[i] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return end;
}

function writeNine(bytes: Uint8Array, at: number, value: number): number {
  let rest = value | 0;
  for (let i = at + 8; i >= at; i--) {
    const tens = (rest / 10) | 0;
    bytes[i] = ZERO + rest - tens * 10;
    rest = tens;
  }
  return at + 9;
}

/** Writes a finite double as `floatText` prints it and returns the position after it. */
export function writeFloat(bytes: Uint8Array, at: number, value: number): number {
  if (value < 1e15 && value > -1e15 && Math.floor(value) === value && (value !== 0 || Object.is(value, 0))) {
    const next = writeInteger(bytes, at, value);
    bytes[next] = POINT;
    bytes[next + 1] = ZERO;
    return next + 2;
  }
  return writeAscii(bytes, at, floatText(value));
}

/** Copies ASCII text and returns the position after it. */
export function writeAscii(bytes: Uint8Array, at: number, text: string): number {
  const length = text.length;
  for (let i = 0; i < length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + length;
}
