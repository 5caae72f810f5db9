/** Loops that make cells of text for PostgreSQL. */
import type { BytesVector, NumberVector } from "../../../../column/vector.ts";
import type { Cells } from "../../../wire/cells/cells.ts";
import { markNulls } from "../../../wire/cells/kernels/print-cells.ts";
import { FOUR_DIGIT_DAY_MAX, FOUR_DIGIT_DAY_MIN, writeDate } from "../../../wire/cells/kernels/write-time.ts";
import { dateText } from "../time-styles.ts";
import type { TextStyle } from "../value-text.ts";

const DATE_BYTES = 10;
const HEX: Uint8Array = new TextEncoder().encode("0123456789abcdef");

/** Dates as `2024-01-31`. */
export function printDates(vector: NumberVector, from: number, rowCount: number, cells: Cells, style: TextStyle): void {
  cells.begin(rowCount * DATE_BYTES);
  const { starts, ends } = cells;
  for (let row = 0; row < rowCount; row++) {
    const days = vector.values[from + row]!;
    if (!(days >= FOUR_DIGIT_DAY_MIN + 366 && days <= FOUR_DIGIT_DAY_MAX)) {
      cells.setText(row, dateText(days, style));
      continue;
    }
    cells.reserve(DATE_BYTES);
    starts[row] = cells.used;
    cells.used = writeDate(cells.own, cells.used, days);
    ends[row] = cells.used;
  }
  markNulls(vector.validity, from, rowCount, cells);
}

/** Bytes as `\x` and hex digits. */
export function printHex({ bytes, offsets, validity }: BytesVector, from: number, rowCount: number, cells: Cells): void {
  cells.begin(2 * (offsets[from + rowCount]! - offsets[from]! + rowCount));
  const { starts, ends, own } = cells;
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    starts[row] = at;
    own[at++] = 0x5c; // '\'
    own[at++] = 0x78; // 'x'
    const end = offsets[from + row + 1]!;
    for (let i = offsets[from + row]!; i < end; i++) {
      const byte = bytes[i]!;
      own[at++] = HEX[byte >> 4]!;
      own[at++] = HEX[byte & 15]!;
    }
    ends[row] = at;
  }
  cells.used = at;
  markNulls(validity, from, rowCount, cells);
}
