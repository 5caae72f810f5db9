/** The order of values as that of their keys: numbers by their halves, texts and binary byte by byte. */
import type { DataType } from "../../column/data-type.ts";
import type { Scalar } from "../../column/vector.ts";
import { HASHED } from "./key-hash.ts";
import { type KeyKind, keyOfScalar } from "./value-keys.ts";

/** How keys of a type become numbers whose unsigned order is that of the values. */
export type NumberOrder = "signed" | "unsigned" | "float";

/** The order of a type whose values are numbers. */
export function numberOrderOf(type: DataType): NumberOrder {
  if (type.kind === "float") return "float";
  return type.kind === "int" && !type.signed ? "unsigned" : "signed";
}

/** Turns keys into numbers in the order of their values; NaN comes last. In place. */
export function toOrdered(highs: Uint32Array, lows: Uint32Array, count: number, order: NumberOrder): void {
  if (order === "unsigned") return;
  for (let i = 0; i < count; i++) {
    const high = highs[i]!;
    if (order === "float" && high >= 0x8000_0000) {
      highs[i] = ~high;
      lows[i] = ~lows[i]!;
    } else highs[i] = high ^ 0x8000_0000;
  }
}

/** Where a value lies among the numbers of a type: at two halves, or below or above all of them. */
export type Place = { readonly high: number; readonly low: number } | "below" | "above";

/** The place of a value; undefined when it is no number of the kind. */
export function placeOf(value: Scalar, kind: KeyKind, order: NumberOrder): Place | undefined {
  if (kind === "int" && (typeof value === "number" || typeof value === "bigint")) {
    const min = order === "unsigned" ? 0 : -(2 ** 63);
    if (value < min) return "below";
    if (value >= min + 2 ** 64) return "above";
  }
  if (!keyOfScalar(value, kind)) return undefined;
  toOrdered(HASHED.subarray(0, 1), HASHED.subarray(1, 2), 1, order);
  return { high: HASHED[0]!, low: HASHED[1]! };
}
