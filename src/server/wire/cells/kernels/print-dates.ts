/** Dates as text, for both wire protocols. */
import type { NumberVector } from "../../../../column/vector.ts";
import type { Cells } from "../cells.ts";
import { markNulls } from "./print-cells.ts";
import { FOUR_DIGIT_DAY_MAX, writeDate } from "./write-time.ts";

const DATE_BYTES = 10;

/** Dates as `2024-01-31` from day `least` on, whose year has four digits; others as `farText` has them. */
export function printDates(
  vector: NumberVector,
  from: number,
  rowCount: number,
  cells: Cells,
  least: number,
  farText: (days: number) => string,
): void {
  cells.begin(rowCount * DATE_BYTES);
  const { starts, ends } = cells;
  for (let row = 0; row < rowCount; row++) {
    const days = vector.values[from + row]!;
    if (!(days >= least && days <= FOUR_DIGIT_DAY_MAX)) {
      cells.setText(row, farText(days));
      continue;
    }
    cells.reserve(DATE_BYTES);
    starts[row] = cells.used;
    cells.used = writeDate(cells.view, cells.used, days);
    ends[row] = cells.used;
  }
  markNulls(vector.validity, from, rowCount, cells);
}
