/** Cells of values one after the other, where there is no loop. */
import type { DataType } from "../../../column/data-type.ts";
import { intervalOfBytes } from "../../../column/interval-bytes.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Present, Value } from "../../../value/any-value.ts";
import type { Cells } from "./cells.ts";

/** Prints each value by `text`. */
export function printValues(
  vector: Vector,
  from: number,
  rowCount: number,
  cells: Cells,
  type: DataType,
  text: (value: Present) => string,
): void {
  cells.begin(0);
  for (let row = 0; row < rowCount; row++) {
    const value = valueAt(vector, type, from + row);
    if (value === undefined || type.kind === "null") cells.setNull(row);
    else cells.setText(row, text(value));
  }
}

/** A value of a vector; intervals by their parts. */
export function valueAt(vector: Vector, type: DataType, row: number): Value {
  if (type.kind !== "interval" || vector.kind !== "bytes") return scalarAt(vector, type, row);
  if (vector.validity !== undefined && vector.validity[row] === 0) return undefined;
  return intervalOfBytes(vector.bytes.subarray(vector.offsets[row], vector.offsets[row + 1]));
}
