/** Bytes as text. */
import type { BytesVector } from "../../../../column/vector.ts";
import type { Cells } from "../../../wire/cells/cells.ts";
import { markNulls } from "../../../wire/cells/kernels/print-cells.ts";
import { HEX } from "../../../common/kernels/write-text.ts";

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
