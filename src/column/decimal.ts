/**
 * Exact decimals: a value is its unscaled whole number, the scale is the type's. 1.50 as DECIMAL(4, 2) is 150.
 *
 * | digits | vector                 | row                                                                 |
 * |--------|------------------------|---------------------------------------------------------------------|
 * | 1..18  | number, or wide where a value lies beyond ±2^53: what INT64 has, so that its loops and codecs serve decimals too |
 * | 19..38 | bytes: 16 a value, two's complement, the highest byte first: what Parquet stores as FIXED_LEN_BYTE_ARRAY(16) |
 *
 * Money and measurements have up to 18 digits, and run in the loops of integers. Sums of wider ones need bigints anyway, so a sixth kind of
 * vector for them would save nothing but the offsets.
 *
 * A value as a `Scalar` is a `number` within ±2^53 and a `bigint` beyond, as integers are. Rounding is half away from zero.
 * Limits: 38 digits (contract query.md 1.3).
 */
import { type DataType, formOf } from "./data-type.ts";
import { exactInteger } from "./exact-integer.ts";

/** A decimal type. */
export type DecimalType = Extract<DataType, { kind: "decimal" }>;

/** Most digits of a decimal. */
export const DECIMAL_DIGITS_MAX = 38;

/** Bytes of a value with more than 18 digits. */
export const WIDE_DECIMAL_BYTES = 16;

/** What a text or number is as a decimal: its unscaled whole number, or why it is none. */
export type DecimalResult = { readonly ok: true; readonly value: number | bigint } | { readonly ok: false; readonly why: DecimalProblem };

/** "syntax": the text is no number. "range": more digits before the point than the type has. */
export type DecimalProblem = "syntax" | "range";

const POWERS: readonly bigint[] = Array.from({ length: 2 * DECIMAL_DIGITS_MAX + 2 }, (_, i) => 10n ** BigInt(i));
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,9}))?$/;
const SYNTAX: DecimalResult = { ok: false, why: "syntax" };
const RANGE: DecimalResult = { ok: false, why: "range" };

/** 10 to a power, 0..77. */
export function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

/** The largest unscaled value of a number of digits. */
export function decimalMax(digits: number): bigint {
  return powerOfTen(digits) - 1n;
}

function checked(unscaled: bigint, precision: number): DecimalResult {
  const limit = powerOfTen(precision);
  return unscaled < limit && unscaled > -limit ? { ok: true, value: exactInteger(unscaled) } : RANGE;
}

/** An unscaled value under another scale, rounded half away from zero when digits are dropped. */
export function rescaledDecimal(value: number | bigint, from: number, to: number): bigint {
  const whole = BigInt(value);
  return to >= from ? whole * powerOfTen(to - from) : dividedRounding(whole, powerOfTen(from - to));
}

/** `a / b` rounded half away from zero; b > 0. */
export function dividedRounding(a: bigint, b: bigint): bigint {
  const half = b / 2n;
  return (a < 0n ? a - half : a + half) / b;
}

/** A decimal of one scale as a value of a type. */
export function decimalOfDecimal(value: number | bigint, scale: number, type: DecimalType): DecimalResult {
  return checked(rescaledDecimal(value, scale, type.scale), type.precision);
}

/** A whole number as a decimal. */
export function decimalOfInteger(value: number | bigint, type: DecimalType): DecimalResult {
  return decimalOfDecimal(value, 0, type);
}

/** A float as a decimal: itself where it is whole, else its shortest digits that read back. NaN and infinities are out of range. */
export function decimalOfFloat(value: number, type: DecimalType): DecimalResult {
  if (!Number.isFinite(value)) return RANGE;
  return Number.isInteger(value) ? decimalOfInteger(BigInt(value), type) : decimalOfText(String(value), type);
}

/** A text such as `-12.50` or `1.5e3` as a decimal. Work is bounded by the length of the text, whatever its exponent says. */
export function decimalOfText(text: string, type: DecimalType): DecimalResult {
  const match = NUMBER.exec(text.trim());
  if (match === null) return SYNTAX;
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  if (whole === "" && fraction === "") return SYNTAX;
  const digits = (whole + fraction).replace(/^0+/, "");
  // How many of the digits stand before the point once the value is multiplied by 10^scale.
  const kept = digits.length - fraction.length + Number(exponent) + type.scale;
  if (digits === "" || kept < 0) return { ok: true, value: 0 };
  if (kept > DECIMAL_DIGITS_MAX) return RANGE;
  const unscaled = BigInt(digits.slice(0, kept).padEnd(kept, "0") || "0") + ((digits[kept] ?? "0") >= "5" ? 1n : 0n);
  return checked(sign === "-" ? -unscaled : unscaled, type.precision);
}

/** The narrowest type that holds a number as it is written, or undefined when that takes more than 38 digits. */
export function decimalTypeOfText(text: string): DecimalType | undefined {
  const match = NUMBER.exec(text.trim());
  const all = (match?.[2] ?? "") + (match?.[3] ?? "");
  if (match === null || all === "") return undefined;
  const trimmed = all.replace(/0+$/, "");
  const digits = trimmed.replace(/^0+/, "");
  if (digits === "") return { kind: "decimal", precision: 1, scale: 0 };
  // The number is `digits` times ten to this power.
  const power = Number(match[4] ?? 0) - (match[3] ?? "").length + (all.length - trimmed.length);
  const scale = Math.max(0, -power);
  const precision = Math.max(digits.length + Math.max(0, power), scale);
  return precision > DECIMAL_DIGITS_MAX ? undefined : { kind: "decimal", precision, scale };
}

/** `-12.50`: as many digits after the point as the scale says. */
export function decimalText(value: number | bigint, scale: number): string {
  const negative = value < 0;
  const digits = String(negative ? -value : value).padStart(scale + 1, "0");
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return negative ? `-${text}` : text;
}

/** The nearest float. */
export function floatOfDecimal(value: number | bigint, scale: number): number {
  // Text is read with one correct rounding; dividing two rounded doubles would round three times.
  return scale === 0 ? Number(value) : Number(decimalText(value, scale));
}

/** The whole number of a decimal, its fraction cut off. */
export function wholeOfDecimal(value: number | bigint, scale: number): bigint {
  return BigInt(value) / powerOfTen(scale);
}

/** The value of the 16 bytes at `at`. */
export function readWideDecimal(bytes: Uint8Array, at: number): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, WIDE_DECIMAL_BYTES);
  return (view.getBigInt64(0) << 64n) | view.getBigUint64(8);
}

/** Writes a value as 16 bytes at `at`. */
export function writeWideDecimal(value: bigint, bytes: Uint8Array, at: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, WIDE_DECIMAL_BYTES);
  view.setBigInt64(0, BigInt.asIntN(64, value >> 64n));
  view.setBigUint64(8, BigInt.asUintN(64, value));
}

/** Whether a decimal's values take 16 bytes each. */
export function isWideDecimal(type: DataType): boolean {
  return type.kind === "decimal" && formOf(type) === "bytes";
}
