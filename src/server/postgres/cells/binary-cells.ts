/** Cells of a column in binary, by loops where there are many values of a kind. */
import { type DataType, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { CellPrinter, Cells } from "../../wire/cells/cells.ts";
import { borrowBytes, borrowEntries } from "../../wire/cells/kernels/print-cells.ts";
import { valueAt } from "../../wire/cells/print-values.ts";
import { oidOf, sizeOf } from "../types.ts";
import { writeFloats, writeMicros, writeWholes } from "./kernels/write-binary.ts";
import { appendBinary, EPOCH_DAYS } from "./value-binary.ts";
import type { TextStyle } from "./value-text.ts";

/** What prints a column of a type in binary. */
export function binaryPrinter(type: DataType, style: TextStyle): CellPrinter {
  const size = sizeOf(oidOf(type));
  return (vector, from, rowCount, cells) => {
    if (vector.kind === "dictionary") cells.entries(vector, from, rowCount);
    else if (vector.kind === "coded") borrowEntries(vector, from, rowCount, cells);
    else if (!printVector(vector, from, rowCount, cells, type, size)) printValues(vector, from, rowCount, cells, type, style);
  };
}

/** Prints by a loop; false where there is none for it. */
function printVector(
  vector: Exclude<Vector, { kind: "dictionary" | "coded" }>,
  from: number,
  rowCount: number,
  cells: Cells,
  type: DataType,
  size: number,
): boolean {
  const isNumber = vector.kind === "number";
  if (isNumber && (type.kind === "boolean" || (type.kind === "int" && size > 0))) writeWholes(vector, from, rowCount, cells, size, 0);
  else if (isNumber && type.kind === "date") writeWholes(vector, from, rowCount, cells, size, EPOCH_DAYS);
  else if (isNumber && type.kind === "float") writeFloats(vector, from, rowCount, cells, size);
  else if (vector.kind === "time" && type.kind === "timestamp") writeMicros(vector, from, rowCount, cells, UNITS_PER_SECOND[type.unit]);
  else if (vector.kind === "bytes" && ["string", "json", "binary", "vector"].includes(type.kind))
    borrowBytes(vector, from, rowCount, cells);
  else return false;
  return true;
}

function printValues(vector: Vector, from: number, rowCount: number, cells: Cells, type: DataType, style: TextStyle): void {
  cells.begin(0);
  for (let row = 0; row < rowCount; row++) {
    const value = valueAt(vector, type, from + row);
    if (value === undefined || type.kind === "null") {
      cells.setNull(row);
      continue;
    }
    cells.starts[row] = cells.used;
    appendBinary(cells, value, type, style);
    cells.ends[row] = cells.used;
  }
}
