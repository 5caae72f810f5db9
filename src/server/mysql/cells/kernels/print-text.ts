/** Loops that make cells of text for MySQL. */
import type { NumberVector } from "../../../../column/vector.ts";
import { formatDate } from "../../../../value/format-time.ts";
import type { Cells } from "../../../wire/cells/cells.ts";
import { markNulls } from "../../../wire/cells/kernels/print-cells.ts";
import { FOUR_DIGIT_DAY_MAX, FOUR_DIGIT_DAY_MIN, writeDate } from "../../../wire/cells/kernels/write-time.ts";

const DATE_BYTES = 10;

/** Dates as `2024-01-31`. */
export function printDates(vector: NumberVector, from: number, rowCount: number, cells: Cells): void {
  cells.begin(rowCount * DATE_BYTES);
  const { starts, ends } = cells;
  for (let row = 0; row < rowCount; row++) {
    const days = vector.values[from + row]!;
    if (!(days >= FOUR_DIGIT_DAY_MIN && days <= FOUR_DIGIT_DAY_MAX)) {
      cells.setText(row, formatDate(days));
      continue;
    }
    cells.reserve(DATE_BYTES);
    starts[row] = cells.used;
    cells.used = writeDate(cells.own, cells.used, days);
    ends[row] = cells.used;
  }
  markNulls(vector.validity, from, rowCount, cells);
}
