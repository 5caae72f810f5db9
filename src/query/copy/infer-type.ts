/** Types of columns from the texts in them: the first of integer, float, boolean, date, timestamp that holds them all, else text. */
import { BOOLEAN, DATE, type DataType, FLOAT64, INT64, STRING, TIMESTAMP_NANOSECOND } from "../../column/data-type.ts";
import { fitsInt64 } from "../../value/integer-range.ts";
import { floatOfText, integerOfText } from "../../value/number-text.ts";
import { parseDate, parseTimestamp } from "../../value/parse-time.ts";

/** What the texts so far are; undefined: there were none. */
export type TypeGuess = "int" | "float" | "boolean" | "date" | "timestamp" | "string" | undefined;

/** The guess with one more text. */
export function wider(guess: TypeGuess, text: string): TypeGuess {
  if (guess === "string") return guess;
  return together(guess, guessOf(text));
}

/** The guess that holds what two hold. */
export function together(a: TypeGuess, b: TypeGuess): TypeGuess {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  const both = [a, b];
  if (both.every((guess) => guess === "int" || guess === "float")) return "float";
  if (both.every((guess) => guess === "date" || guess === "timestamp")) return "timestamp";
  return "string";
}

function guessOf(text: string): TypeGuess {
  const whole = integerOfText(text);
  if (whole !== undefined && fitsInt64(whole)) return "int";
  if (floatOfText(text) !== undefined) return "float";
  if (/^(true|false)$/i.test(text)) return "boolean";
  if (parseDate(text) !== undefined) return "date";
  return parseTimestamp(text, "UTC") === undefined ? "string" : "timestamp";
}

/** The type of a guess. */
export function typeOfGuess(guess: TypeGuess): DataType {
  switch (guess) {
    case "int":
      return INT64;
    case "float":
      return FLOAT64;
    case "boolean":
      return BOOLEAN;
    case "date":
      return DATE;
    case "timestamp":
      return TIMESTAMP_NANOSECOND;
    default:
      return STRING;
  }
}
