/**
 * Loops that print rows `[0, rowCount)` of a number column behind position `used` of the texts. There must be room for NUMBER_BYTES_MAX
 * bytes a row, DECIMAL_BYTES_MAX for decimals.
 */
import type { NumberVector, TimeVector, WideVector } from "../../../column/vector.ts";
import { writeAscii, writeDecimal, writeFloat, writeInteger, writeNine, writeSplit } from "./write-number.ts";
import { secondsAndFraction } from "../../../value/civil.ts";

/** Sign, 38 digits, point and quotes, a zero before the point, and room for the integer that is written first. */
export const DECIMAL_BYTES_MAX = 64;

/** Texts of cells: that of row r is `bytes[starts[r], ends[r])`, that of NULL is `bytes[0, nullLength)`. */
export interface CellTexts {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  readonly nullLength: number;
}

const QUOTE = 0x22; // '"'
const BILLION = 1_000_000_000;
/** Digits of a group. */
const NINE = 9;
/** Offsets up to here are exact, and so are the ends of what shares digits with them. */
const EXACT: number = 2 ** 53 - 2 * BILLION;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whole numbers; equal neighbours share one text. Returns where the text ends. */
export function printIntegers(vector: NumberVector, rowCount: number, to: CellTexts, used: number): number {
  const { starts, ends, nullLength } = to;
  const view = viewOf(to.bytes);
  const { values, validity } = vector;
  let at = used;
  let previous = Number.NaN;
  let start = 0;
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) {
      starts[row] = 0;
      ends[row] = nullLength;
      continue;
    }
    const value = values[row]!;
    if (value !== previous) {
      start = at;
      at = writeInteger(view, at, value);
      previous = value;
    }
    starts[row] = start;
    ends[row] = at;
  }
  return at;
}

/** Decimals of `scale` digits behind the point whose unscaled values are numbers. Returns where the text ends. */
export function printDecimals(vector: NumberVector, rowCount: number, to: CellTexts, used: number, scale: number, quoted: boolean): number {
  const { starts, ends, nullLength } = to;
  const view = viewOf(to.bytes);
  const { values, validity } = vector;
  let at = used;
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) {
      starts[row] = 0;
      ends[row] = nullLength;
      continue;
    }
    starts[row] = at;
    if (quoted) view.setUint8(at++, QUOTE);
    at = writeDecimal(view, at, values[row]!, scale);
    if (quoted) view.setUint8(at++, QUOTE);
    ends[row] = at;
  }
  return at;
}

/** 64-bit whole numbers. Returns where the text ends. */
export function printWide(vector: WideVector, rowCount: number, to: CellTexts, used: number): number {
  const { bytes, starts, ends, nullLength } = to;
  const { values, validity } = vector;
  let at = used;
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) {
      starts[row] = 0;
      ends[row] = nullLength;
      continue;
    }
    starts[row] = at;
    at = writeAscii(bytes, at, String(values[row]!));
    ends[row] = at;
  }
  return at;
}

/** `true` and `false`, each printed once. Returns where the text ends. */
export function printBooleans(vector: NumberVector, rowCount: number, to: CellTexts, used: number): number {
  const { bytes, starts, ends, nullLength } = to;
  const { values, validity } = vector;
  const yes = used;
  const no = writeAscii(bytes, yes, "true");
  const end = writeAscii(bytes, no, "false");
  for (let row = 0; row < rowCount; row++) {
    const valid = validity === undefined || validity[row] !== 0;
    const value = values[row]! !== 0;
    starts[row] = valid ? (value ? yes : no) : 0;
    ends[row] = valid ? (value ? no : end) : nullLength;
  }
  return end;
}

/** Floats; equal neighbours share one text, but 0 and -0 do not. Returns where the text ends. */
export function printFloats(vector: NumberVector, rowCount: number, to: CellTexts, used: number): number {
  const { starts, ends, nullLength } = to;
  const view = viewOf(to.bytes);
  const { values, validity } = vector;
  // NaN and the infinities have no JSON form and are printed like NULL, in CSV as well (contract http.md 2.4).
  let at = used;
  let previous = Number.NaN;
  let start = 0;
  for (let row = 0; row < rowCount; row++) {
    const value = values[row]!;
    if ((validity !== undefined && validity[row] === 0) || value - value !== 0) {
      starts[row] = 0;
      ends[row] = nullLength;
      continue;
    }
    if (value !== previous || value === 0) {
      start = at;
      at = writeFloat(view, at, value);
      previous = value;
    }
    starts[row] = start;
    ends[row] = at;
  }
  return at;
}

/**
 * Times as integers of their unit; equal neighbours share one text. Returns where the text ends.
 *
 * Of times whose digits before the last nine are the same those are printed once, and copied as three words: 6 ns a time instead of 21
 * (milliseconds in steps of 20 s).
 */
export function printTimes(vector: TimeVector, rowCount: number, to: CellTexts, used: number): number {
  const { starts, ends, nullLength } = to;
  const view = viewOf(to.bytes);
  const { base, offsets, validity } = vector;
  const { seconds: baseHigh, fraction: baseLow } = secondsAndFraction(base, BILLION); // of whatever unit: two halves of the digits
  let at = used;
  let previous = Number.NaN;
  let start = 0;
  // Offsets of `[from, end)` have the same first digits, at most eleven with their sign.
  let from = 0;
  let end = 0;
  let [word0, word1, word2, headBytes] = [0, 0, 0, 0];
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) {
      starts[row] = 0;
      ends[row] = nullLength;
      continue;
    }
    const offset = offsets[row]!;
    if (offset !== previous) {
      previous = offset;
      start = at;
      if (offset >= from && offset < end) {
        view.setInt32(at, word0, true);
        view.setInt32(at + 4, word1, true);
        view.setInt32(at + 8, word2, true);
        at = writeNine(view, at + headBytes, (offset - from) | 0);
      } else {
        const offsetHigh = Math.floor(offset / BILLION);
        let high = baseHigh + offsetHigh;
        let low = baseLow + (offset - offsetHigh * BILLION);
        if (low >= BILLION) {
          low -= BILLION;
          high += 1;
        }
        at = writeSplit(view, at, high, low);
        // Before 1970 digits count down, and below 10^9 there are fewer of them.
        from = offset - low;
        end = high > 0 && from > -EXACT && from < EXACT ? from + BILLION : from;
        word0 = view.getInt32(start, true);
        word1 = view.getInt32(start + 4, true);
        word2 = view.getInt32(start + 8, true);
        headBytes = at - start - NINE;
      }
    }
    starts[row] = start;
    ends[row] = at;
  }
  return at;
}
