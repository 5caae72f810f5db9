import { unreachable } from "../base/assert.ts";
import { type DataType, isNested } from "./data-type.ts";
import { readWideDecimal } from "./decimal.ts";
import { exactInteger } from "./exact-integer.ts";
import { textAt } from "./text-table.ts";
import type { Scalar, Vector } from "./vector.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The value of one row as a `Scalar`. For answers, tests and the interpreter; loops read the arrays themselves.
 *
 * @param type the logical type of the column, which tells text from binary and booleans from numbers
 * @param row 0 <= row < rowCount
 */
export function scalarAt(vector: Vector, type: DataType, row: number): Scalar {
  if (vector.kind === "dictionary") return vector.dictionary[vector.codes[row]!];
  if (vector.kind === "coded") return textAt(vector.entries, vector.codes[row]!);
  if (vector.validity !== undefined && vector.validity[row] === 0) return undefined;
  switch (vector.kind) {
    case "number": {
      const value = vector.values[row];
      return type.kind === "boolean" ? value !== 0 : value;
    }
    case "wide": {
      const value = vector.values[row];
      if (value === undefined || type.kind === "timestamp" || type.kind === "duration") return value;
      return exactInteger(value);
    }
    case "time": {
      const offset = vector.offsets[row];
      return offset === undefined ? undefined : vector.base + BigInt(offset);
    }
    case "bytes": {
      if (type.kind === "decimal") return exactInteger(readWideDecimal(vector.bytes, vector.offsets[row]!));
      const bytes = vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]);
      return type.kind === "binary" || type.kind === "vector" || isNested(type) ? bytes : decoder.decode(bytes);
    }
    default:
      return unreachable(vector);
  }
}
