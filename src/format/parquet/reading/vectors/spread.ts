import { halvesOf, moveHalves } from "../../../../column/double-bits.ts";
import type { NumberArray } from "../../../../column/vector.ts";

/**
 * Moves `values[0, valueCount)` to the rows that are not NULL, in place, from the end, so that nothing is overwritten before it moved.
 * A NULL row then holds 0 or the value of some other row, never what a decoder left behind the last value.
 *
 * @param values one element a row at least
 * @param validity exactly one byte a row; `valueCount` of them are 1
 */
export function spread(values: NumberArray | BigInt64Array, valueCount: number, validity: Uint8Array): void {
  if (values instanceof BigInt64Array) values.fill(0n, valueCount);
  else values.fill(0, valueCount);
  if (values instanceof Float64Array) return spreadDoubles(values, valueCount, validity);
  const cells = values as { [index: number]: number }; // Elements are only moved, never computed with.
  let from = valueCount - 1;
  for (let row = validity.length - 1; row > from && from >= 0; row--) {
    if (validity[row] !== 0) cells[row] = cells[from--]!;
  }
}

function spreadDoubles(values: Float64Array, valueCount: number, validity: Uint8Array): void {
  const halves = halvesOf(values);
  let from = valueCount - 1;
  for (let row = validity.length - 1; row > from && from >= 0; row--) {
    if (validity[row] === 0) continue;
    const value = values[from]!;
    if (Number.isNaN(value)) moveHalves(halves, from, halves, row);
    else values[row] = value;
    from--;
  }
}
