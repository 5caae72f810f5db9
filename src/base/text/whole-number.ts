/**
 * The whole number that a text from outside stands for: decimal digits and nothing else. `Number` takes "", "0x10", "1e3" and " 5 " for
 * numbers too, and what it does not take becomes NaN, which no comparison stops; `BigInt` of a million digits takes seconds.
 */

/** Longest text that is looked at. No number up to 2^53 has more digits, but for zeros in front. */
const DIGITS_MAX = 32;
const DIGITS = /^[0-9]+$/;

/** The number from 0 to `max`, which is at most 2^53 - 1; undefined for any other text. */
export function wholeNumberOf(text: string, max: number = Number.MAX_SAFE_INTEGER): number | undefined {
  if (text.length > DIGITS_MAX || !DIGITS.test(text)) return undefined;
  const value = Number(text);
  return value <= max && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}
