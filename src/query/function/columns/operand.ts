/** Operands of functions on columns, as these look at them. */
import { isAscii } from "node:buffer";
import type { Texts } from "../../../column/texts.ts";
import type { NumberArray, Validity } from "../../../column/vector.ts";
import type { NumberOperand, Operand, TextOperand } from "../signature/column-function.ts";

const encoder = new TextEncoder();

/** The texts of an operand; undefined where it has none. A constant is one range in all rows, NULL an empty one. */
export function textsOfOperand(operand: Operand | undefined, rowCount: number): Texts | undefined {
  if (operand?.kind === "texts") return operand.texts;
  if (operand?.kind !== "constant") return undefined;
  const { value } = operand;
  if (value !== undefined && typeof value !== "string") return undefined;
  const bytes = encoder.encode(value ?? "");
  const ends = new Uint32Array(rowCount).fill(bytes.length);
  const validity = value === undefined ? new Uint8Array(rowCount) : undefined;
  return { bytes, starts: new Uint32Array(rowCount), ends, validity, ascending: false, ascii: isAscii(bytes) };
}

/** The bytes of a constant text; undefined for anything else. */
export function constantBytes(operand: Operand | undefined): Uint8Array | undefined {
  return operand?.kind === "constant" && typeof operand.value === "string" ? encoder.encode(operand.value) : undefined;
}

/** A constant text; undefined for anything else. */
export function constantText(operand: Operand | undefined): string | undefined {
  return operand?.kind === "constant" && typeof operand.value === "string" ? operand.value : undefined;
}

/** Numbers of rows, one in all of them where it is constant; undefined where they are no numbers within ±2^53. */
export function numbersOfOperand(operand: Operand | undefined, rowCount: number): NumberArray | undefined {
  if (operand?.kind === "numbers") return operand.values;
  const value = operand?.kind === "constant" ? operand.value : undefined;
  return typeof value === "number" ? new Float64Array(rowCount).fill(value) : undefined;
}

/** Validity of an operand. */
export function validityOf(operand: Operand): Validity {
  switch (operand.kind) {
    case "texts":
      return operand.texts.validity;
    case "numbers":
      return operand.validity;
    case "constant":
      return undefined;
  }
}

/** Which rows have a value in both. */
export function bothPresent(a: Validity, b: Validity, rowCount: number): Validity {
  if (a === undefined || b === undefined) return a ?? b;
  const both = new Uint8Array(rowCount);
  for (let row = 0; row < rowCount; row++) both[row] = (a[row] as number) & (b[row] as number);
  return both;
}

/** Booleans as 0 and 1, or numbers. */
export const numbers = (values: NumberArray, validity: Validity): NumberOperand => ({ kind: "numbers", values, validity });

/** Texts as a result. */
export const texts = (made: Texts): TextOperand => ({ kind: "texts", texts: made });
