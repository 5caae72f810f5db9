/** Cells of a column in text, by loops where there are many values of a kind (contract query.md 4.1). */
import { offsetSecondsAt } from "../../../base/text/time-zone.ts";
import { type DataType, type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import { shortestFloat32 } from "../../../value/float32.ts";
import { writeAsciiAt, writeFloat, writeInteger } from "../../common/kernels/write-number.ts";
import type { CellPrinter, Cells } from "../../wire/cells/cells.ts";
import {
  borrowBytes,
  borrowEntries,
  printDecimals,
  printFlags,
  printFloats,
  printWholes,
  printWide,
  type FloatWriter,
} from "../../wire/cells/kernels/print-cells.ts";
import { printStamps, type StampForm } from "../../wire/cells/kernels/print-times.ts";
import { printValues } from "../../wire/cells/print-values.ts";
import { printDates } from "../../wire/cells/kernels/print-dates.ts";
import { FOUR_DIGIT_DAY_MIN } from "../../wire/cells/kernels/write-time.ts";
import { formatDate } from "../../../value/format-time.ts";
import { yearCheck } from "./stamp-years.ts";
import { floatWord, valueText } from "./value-text.ts";

/** What prints a column of a type in text. @param zone of the session */
export function textPrinter(type: DataType, zone: string): CellPrinter {
  if (type.kind === "timestamp") return stampPrinter(type.unit, zone);
  return (vector, from, rowCount, cells) => {
    if (vector.kind === "dictionary") cells.entries(vector, from, rowCount);
    else if (vector.kind === "coded") borrowEntries(vector, from, rowCount, cells);
    else if (!printVector(vector, from, rowCount, cells, type))
      printValues(vector, from, rowCount, cells, type, (value) => valueText(value, type));
  };
}

/** Prints by a loop; false where there is none for it. */
function printVector(
  vector: Exclude<Vector, { kind: "dictionary" | "coded" }>,
  from: number,
  rowCount: number,
  cells: Cells,
  type: DataType,
): boolean {
  const isNumber = vector.kind === "number";
  if (isNumber && type.kind === "boolean") printFlags(vector, from, rowCount, cells, "1", "0");
  else if (isNumber && type.kind === "int") printWholes(vector, from, rowCount, cells);
  else if (vector.kind === "wide" && type.kind === "int") printWide(vector, from, rowCount, cells);
  else if (isNumber && type.kind === "float") printFloats(vector, from, rowCount, cells, type.bits === 32 ? writeFloat32 : writeFloat64);
  else if (isNumber && type.kind === "decimal") printDecimals(vector, from, rowCount, cells, type.scale);
  else if (isNumber && type.kind === "date") printDates(vector, from, rowCount, cells, FOUR_DIGIT_DAY_MIN, formatDate);
  else if (vector.kind === "bytes" && ["string", "json", "binary", "vector"].includes(type.kind))
    borrowBytes(vector, from, rowCount, cells);
  else return false;
  return true;
}

/** As `floatWord` has them: whole numbers without a point. */
const writeFloat64: FloatWriter = (view, at, value) => {
  if (Math.floor(value) !== value) return value - value === 0 ? writeFloat(view, at, value) : writeAsciiAt(view, at, floatWord(value));
  const isShort = value < 1e15 && value > -1e15 && !Object.is(value, -0);
  return isShort ? writeInteger(view, at, value) : writeAsciiAt(view, at, floatWord(value));
};

const writeFloat32: FloatWriter = (view, at, value) => writeFloat64(view, at, shortestFloat32(value));

/** Seconds that the clock of a zone is ahead of UTC at a moment; undefined for UTC. */
export function clockOfZone(zone: string): ((utcSeconds: number) => number) | undefined {
  return zone === "UTC" ? undefined : (utcSeconds) => offsetSecondsAt(zone, utcSeconds);
}

function stampPrinter(unit: TimeUnit, zone: string): CellPrinter {
  const check = yearCheck(unit, zone);
  const digits = Math.round(Math.log10(UNITS_PER_SECOND[unit]));
  const farText = (): string => "0000-00-00 00:00:00"; // Only of what is NULL: other years were refused.
  const form: StampForm = { unitDigits: digits, digits, isTrimmed: true, aheadOf: clockOfZone(zone), farText };
  return (vector, from, rowCount, cells) => {
    if (vector.kind !== "time" && vector.kind !== "wide") return printNulls(rowCount, cells);
    check(vector, from, rowCount);
    printStamps(vector, from, rowCount, cells, form);
  };
}

function printNulls(rowCount: number, cells: Cells): void {
  cells.begin(0);
  for (let row = 0; row < rowCount; row++) cells.setNull(row);
}
