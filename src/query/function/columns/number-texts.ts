/** Whole numbers as text, digit by digit. */
import type { Texts } from "../../../column/texts.ts";
import type { NumberArray, Validity } from "../../../column/vector.ts";

/** The longest: a sign and 16 digits of 2^53. */
const DIGITS_MAX = 17;
const ZERO = 0x30;
const MINUS = 0x2d;
/** Below it digits come from whole numbers of 32 bits, whose division is quicker. */
const SMALL_MAX = 0x7fff_ffff;

/** The texts of whole numbers within ±2^53. */
export function wholeNumberTexts(values: NumberArray, validity: Validity, rowCount: number): Texts {
  const bytes = new Uint8Array(rowCount * DIGITS_MAX);
  const [starts, ends] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  for (let row = 0; row < rowCount; row++) {
    const end = (row + 1) * DIGITS_MAX;
    starts[row] = writeBefore(bytes, end, values[row] as number);
    ends[row] = end;
  }
  return { bytes, starts, ends, validity, ascending: true, ascii: true };
}

/** Writes the digits of a number so that they end at `end`; gives where they begin. */
function writeBefore(bytes: Uint8Array, end: number, value: number): number {
  let at = end;
  let rest = value < 0 ? -value : value;
  while (rest > SMALL_MAX) {
    const tenth = Math.floor(rest / 10);
    bytes[--at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  let small = rest | 0;
  do {
    const tenth = (small / 10) | 0;
    bytes[--at] = ZERO + small - tenth * 10;
    small = tenth;
  } while (small > 0);
  if (value < 0) bytes[--at] = MINUS;
  return at;
}
