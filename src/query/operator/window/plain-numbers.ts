/** Vectors as plain numbers, and which of their rows count. */
import { presenceOf } from "../../../column/coded-text.ts";
import type { Validity, Vector } from "../../../column/vector.ts";

/** The numbers of the first `count` rows, times as they lie from `base`; undefined when it holds others, or they lie too far from it. */
export function offsetsFrom(base: bigint, vector: Vector, count: number): Float64Array | undefined {
  if (vector.kind === "number") {
    const { values } = vector;
    return values instanceof Float64Array ? values : new Float64Array(values.subarray(0, count));
  }
  if (vector.kind !== "time") return undefined;
  const shift = Number(vector.base - base);
  if (shift === 0) return vector.offsets;
  const offsets = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const moved = (vector.offsets[i] as number) + shift;
    if (!Number.isSafeInteger(moved)) return undefined;
    offsets[i] = moved;
  }
  return offsets;
}

/** One byte a row, 1 where there is a value; undefined when no row is NULL. */
export function presence(vector: Vector, rowCount: number): Validity {
  if (vector.kind !== "dictionary") return presenceOf(vector, rowCount);
  const { codes, dictionary } = vector;
  const present = new Uint8Array(rowCount);
  for (let i = 0; i < rowCount; i++) present[i] = dictionary[codes[i] as number] === undefined ? 0 : 1;
  return present;
}

/** One byte a row, 1 where FILTER (WHERE …) is true and there is a value; undefined when all rows count. */
export function keptOf(vector: Vector | undefined, condition: Vector | undefined, rowCount: number): Validity {
  const present = vector === undefined ? undefined : presence(vector, rowCount);
  if (condition === undefined) return present;
  const kept = new Uint8Array(rowCount);
  if (condition.kind !== "number") return kept; // NULL
  const { values, validity } = condition;
  for (let i = 0; i < rowCount; i++) kept[i] = values[i] !== 0 && validity?.[i] !== 0 && present?.[i] !== 0 ? 1 : 0;
  return kept;
}
