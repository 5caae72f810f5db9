/** Numbers as text and out of it, digit by digit. */
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, STRING } from "../../../column/data-type.ts";
import { utf8Text } from "../../../column/text-table.ts";
import type { Texts } from "../../../column/texts.ts";
import type { NumberArray, Validity } from "../../../column/vector.ts";
import { castResult } from "../../../value/cast.ts";
import { CastFailure } from "../../../value/cast-failure.ts";
import { boundsOf } from "../../../value/integer-range.ts";
import type { NumberOperand } from "../signature/column-function.ts";

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

/** What texts are cast to. */
export type NumberTarget = Extract<DataType, { kind: "int" | "float" }>;

/** So many digits are exact in a double, and so many powers of ten: their quotient is the nearest double. */
const EXACT_DIGITS = 15;
const POWERS: readonly number[] = Array.from({ length: EXACT_DIGITS + 1 }, (_, digits) => 10 ** digits);
const POINT = 0x2e;
const PLUS = 0x2b;
/** Most bytes of texts that are more than digits and a point: each becomes a string. More: the interpreter has to, in turns. */
const ODD_BYTES_MAX = 65_536;

/**
 * The numbers that texts are.
 *
 * @param safe whether a text that is none is NULL; otherwise it is an error, which the interpreter tells
 */
export function numbersOfTexts(texts: Texts, rowCount: number, to: NumberTarget, safe: boolean): NumberOperand | undefined {
  const { bytes, starts, ends } = texts;
  const values = new Float64Array(rowCount);
  const { validity } = texts;
  /** With those that are no number. */
  let own: Uint8Array | undefined;
  const [low, high] = to.kind === "int" ? [Number(boundsOf(to).min), Number(boundsOf(to).max)] : [-Infinity, Infinity];
  const isSingle = to.kind === "float" && to.bits === 32;
  let odd = 0;
  for (let row = 0; row < rowCount; row++) {
    if (validity !== undefined && validity[row] === 0) continue;
    const start = starts[row] as number;
    const end = ends[row] as number;
    const value = plainNumber(bytes, start, end, to.kind === "float");
    if (value >= low && value <= high) {
      values[row] = isSingle ? Math.fround(value) : value;
      continue;
    }
    odd += end - start;
    const result = odd > ODD_BYTES_MAX ? undefined : castResult(utf8Text(bytes, start, end), STRING, to, "UTC");
    if (typeof result === "number") values[row] = result;
    else if (safe && result instanceof CastFailure && result.code === StatusCode.EngineExecuteQuery) {
      own ??= texts.validity?.slice(0, rowCount) ?? new Uint8Array(rowCount).fill(1);
      own[row] = 0;
    } else return undefined;
  }
  return { kind: "numbers", values, validity: own ?? validity };
}

/** The number that a sign, digits, and for floats a point among them, stand for; NaN for anything else and for many digits. */
function plainNumber(bytes: Uint8Array, start: number, end: number, mayHavePoint: boolean): number {
  const sign = bytes[start];
  let at = start < end && (sign === MINUS || sign === PLUS) ? start + 1 : start;
  if (at === end || end - at > EXACT_DIGITS) return Number.NaN;
  let [value, point] = [0, -1];
  for (; at < end; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit >= 0 && digit <= 9) value = value * 10 + digit;
    else if (bytes[at] === POINT && mayHavePoint && point < 0) point = at;
    else return Number.NaN;
  }
  if (point >= 0) {
    if (point === end - 1) return Number.NaN;
    value /= POWERS[end - point - 1] as number;
  }
  return sign === MINUS && (mayHavePoint || value !== 0) ? -value : value;
}
