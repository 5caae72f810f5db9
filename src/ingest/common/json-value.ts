/**
 * JSON text to pipeline values: ints keep 64 bits, floats that are whole stay floats. Text without such numbers, which is nearly all, is
 * parsed by `JSON.parse` alone.
 */
import { type PipelineValue, WholeFloat } from "./value.ts";
import { INT64_MIN, UINT64_MAX } from "../../column/exact-integer.ts";

/**
 * A number that `JSON.parse` would not keep: -0, 16 digits and more, and floats that are whole or may be rounded so, where the fraction
 * begins with 000 or 999 unless there are 12 digits before it. Text that looks like one is only read the long way.
 */
const SPECIAL_NUMBER =
  /(?:^|[:,[\s])-?(?:0(?=[\s,\]}]|$)(?<=-0)|\d+\.(?:000|999)|\d+\.0{1,2}(?=[\s,\]}]|$)|\d{12}\d*\.|\d+(?:\.\d+)?[eE]|\d{16})/;
const INTEGER = /^-?\d+$/;
/** Of the longest numbers of 64 bits: JSON has no zeros in front. */
const WIDE_CHARACTERS_MAX = 20;

/** The value of one JSON text. @throws SyntaxError, also where it is nested too deeply to be parsed */
export function jsonValue(text: string): PipelineValue {
  try {
    if (!SPECIAL_NUMBER.test(text)) return JSON.parse(text) as PipelineValue; // JSON has no other kinds than those of the type
    return JSON.parse(text, exact) as PipelineValue; // as above, with numbers made by `exact`
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError("the value is nested too deeply", { cause: error });
    throw error;
  }
}

function exact(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number") return value;
  const source = context?.source ?? String(value);
  if (!INTEGER.test(source)) return Number.isSafeInteger(value) ? new WholeFloat(value) : value;
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (source.length > WIDE_CHARACTERS_MAX) return value; // Beyond 64 bits; of a million digits it takes seconds.
  const wide = BigInt(source);
  return wide >= INT64_MIN && wide <= UINT64_MAX ? wide : value;
}
