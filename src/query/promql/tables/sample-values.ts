/** Values of a field as doubles. */
import { presenceOf } from "../../../column/coded-text.ts";
import { decimalText, floatOfDecimal, isWideDecimal, readWideDecimal, WIDE_DECIMAL_BYTES } from "../../../column/decimal.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";

/** Whether a row has a value. */
export function hasValue(validity: Validity, row: number): boolean {
  return validity === undefined || validity[row] === 1;
}

/** The NULLs of a field's vector. */
export function validityOf(vector: Vector, rowCount: number): Validity {
  return vector.kind === "dictionary" ? undefined : presenceOf(vector, rowCount);
}

/**
 * Writes rows `[start, end)` to `out` from `at` on. Bits of doubles stay as they are, those of stale markers too, which reading and writing
 * a number would lose. Rows that are NULL get anything.
 */
export function copyValues(vector: Vector, type: DataType, start: number, end: number, out: Float64Array, at: number): void {
  const scale = type.kind === "decimal" ? type.scale : 0;
  if (vector.kind === "number" && vector.values instanceof Float64Array) {
    if (scale === 0) out.set(vector.values.subarray(start, end), at);
    else for (let row = start; row < end; row++) out[at++] = floatOfDecimal(vector.values[row] as number, scale);
    return;
  }
  if (vector.kind === "number" || vector.kind === "wide") {
    const { values } = vector;
    if (scale === 0) for (let row = start; row < end; row++) out[at++] = Number(values[row]);
    else for (let row = start; row < end; row++) out[at++] = floatOfDecimal(values[row] as number | bigint, scale);
    return;
  }
  if (vector.kind === "bytes" && isWideDecimal(type)) {
    const { bytes, offsets } = vector;
    for (let row = start; row < end; row++) {
      const from = offsets[row] as number;
      const isThere = (offsets[row + 1] as number) - from === WIDE_DECIMAL_BYTES;
      out[at++] = isThere ? Number(decimalText(readWideDecimal(bytes, from), scale)) : Number.NaN;
    }
  }
}
