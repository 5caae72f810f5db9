/**
 * Numbers and truths as text and back: the one reader and the one writer of each.
 *
 * | what    | is read from                                                                                 | is written as            |
 * |---------|----------------------------------------------------------------------------------------------|--------------------------|
 * | integer | digits behind an optional sign; zeros in front do not count                                  | `String`                 |
 * | float   | digits with an optional point, sign and exponent; `inf`, `infinity`, `nan` in letters of any | the shortest digits that |
 * |         | size, with an optional sign                                                                  | read back, see below     |
 * | boolean | true t yes y on 1, false f no n off 0, in letters of any size                                 | `true`, `false`          |
 *
 * Readers take no blanks around a text: who allows them trims. They answer undefined, they do not throw, and take time linear in the text.
 */
import { exactInteger } from "../column/exact-integer.ts";

/** Most digits of an integer, zeros in front apart: more than any type holds. Reason: making a bigint of n digits takes n² steps. */
const INTEGER_DIGITS_MAX = 40;
/** So many digits are exact in a double. */
const EXACT_DIGITS = 15;
const PLUS = 0x2b;
const MINUS = 0x2d;
const ZERO = 0x30;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL = /^([+-]?)(inf(?:inity)?|nan)$/i;
const TRUE: ReadonlySet<string> = new Set(["true", "t", "yes", "y", "on", "1"]);
const FALSE: ReadonlySet<string> = new Set(["false", "f", "no", "n", "off", "0"]);

/** The whole number that a text is: a number within ±2^53, a bigint beyond. Undefined for any other text, and beyond 40 digits. */
export function integerOfText(text: string): number | bigint | undefined {
  const { length } = text;
  const sign = text.charCodeAt(0);
  const first = sign === PLUS || sign === MINUS ? 1 : 0;
  if (first === length) return undefined;
  let at = first;
  while (text.charCodeAt(at) === ZERO) at++;
  const digits = length - at;
  if (digits > INTEGER_DIGITS_MAX) return undefined;
  let value = 0;
  for (let i = at; i < length; i++) {
    const digit = text.charCodeAt(i) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    value = value * 10 + digit;
  }
  if (digits <= EXACT_DIGITS) return sign === MINUS && value !== 0 ? -value : value;
  const whole = BigInt(text.slice(at));
  return exactInteger(sign === MINUS ? -whole : whole);
}

/** The number that digits stand for; undefined for any other text, names of infinities and NaN too. */
export function numberOfText(text: string): number | undefined {
  return DECIMAL.test(text) ? Number(text) : undefined;
}

/** The float that a text is, by digits or by name; undefined for any other. */
export function floatOfText(text: string): number | undefined {
  const number = numberOfText(text);
  if (number !== undefined) return number;
  const [, sign, name = ""] = SPECIAL.exec(text) ?? [];
  if (name === "") return undefined;
  if (name.length === 3 && name.toLowerCase() === "nan") return Number.NaN;
  return sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** The truth that a word stands for, or undefined. */
export function booleanOfText(text: string): boolean | undefined {
  const word = text.toLowerCase();
  if (TRUE.has(word)) return true;
  return FALSE.has(word) ? false : undefined;
}

/**
 * `1.0`, `0.1`, `1e17`, `-0.0`, `NaN`, `inf`, `-inf`: the shortest digits that read back, always with a point or an exponent, which stands
 * from 1e16 on and below 1e-5 (contract query.md 2.3, http.md 2.4).
 */
export function floatText(value: number): string {
  if (value - value !== 0) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-5)) return value.toExponential().replace("e+", "e");
  if (Number.isInteger(value)) return Object.is(value, -0) ? "-0.0" : `${value}.0`;
  return String(value);
}
