/** Cells of a column in text, by loops where there are many values of a kind (contract query.md 4.2). */
import { type DataType, type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Present } from "../../../value/any-value.ts";
import { shortestFloat32 } from "../../../value/float32.ts";
import { writeAsciiAt, writeFloat } from "../../common/kernels/write-number.ts";
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
import { printDates } from "../../wire/cells/kernels/print-dates.ts";
import { FOUR_DIGIT_DAY_MIN } from "../../wire/cells/kernels/write-time.ts";
import { printValues } from "../../wire/cells/print-values.ts";
import { printHex } from "./kernels/print-hex.ts";
import { dateText, stampText } from "./time-styles.ts";
import { floatWord, type TextStyle, valueText } from "./value-text.ts";

/** 0001-01-01: the year before is 1 BC. */
const FIRST_DAY: number = FOUR_DIGIT_DAY_MIN + 366;

const UNIT_DIGITS: Readonly<Record<TimeUnit, number>> = { second: 0, millisecond: 3, microsecond: 6, nanosecond: 9 };

/** What prints a column of a type in text. @param style of the session; it is read again for each piece */
export function textPrinter(type: DataType, style: TextStyle): CellPrinter {
  const text = (value: Present): string => valueText(value, type, style);
  const plain: CellPrinter = (vector, from, rowCount, cells) => printValues(vector, from, rowCount, cells, type, text);
  return (vector, from, rowCount, cells) => {
    if (vector.kind === "dictionary") cells.entries(vector, from, rowCount);
    else if (vector.kind === "coded") borrowEntries(vector, from, rowCount, cells);
    else printVector(vector, from, rowCount, cells, type, style, plain);
  };
}

function printVector(
  vector: Exclude<Vector, { kind: "dictionary" | "coded" }>,
  from: number,
  rowCount: number,
  cells: Cells,
  type: DataType,
  style: TextStyle,
  plain: CellPrinter,
): void {
  switch (type.kind) {
    case "boolean":
      if (vector.kind === "number") return printFlags(vector, from, rowCount, cells, "t", "f");
      break;
    case "int":
      if (vector.kind === "number") return printWholes(vector, from, rowCount, cells);
      if (vector.kind === "wide") return printWide(vector, from, rowCount, cells);
      break;
    case "float":
      if (vector.kind === "number") return printFloats(vector, from, rowCount, cells, type.bits === 32 ? writeFloat32 : writeFloat64);
      break;
    case "string":
    case "json":
      if (vector.kind === "bytes") return borrowBytes(vector, from, rowCount, cells);
      break;
    case "binary":
    case "vector":
      if (vector.kind === "bytes" && style.byteaOutput === "hex") return printHex(vector, from, rowCount, cells);
      break;
    case "decimal":
      if (vector.kind === "number") return printDecimals(vector, from, rowCount, cells, type.scale);
      break;
    case "date":
      if (vector.kind === "number" && style.dateStyle === "ISO")
        return printDates(vector, from, rowCount, cells, FIRST_DAY, (days) => dateText(days, style));
      break;
    case "timestamp":
      if ((vector.kind === "time" || vector.kind === "wide") && style.dateStyle === "ISO")
        return printStamps(vector, from, rowCount, cells, stampForm(type.unit, style));
      break;
    default:
  }
  plain(vector, from, rowCount, cells);
}

const writeFloat64: FloatWriter = (view, at, value) =>
  value - value === 0 ? writeFloat(view, at, value) : writeAsciiAt(view, at, floatWord(value));

const writeFloat32: FloatWriter = (view, at, value) => writeFloat64(view, at, shortestFloat32(value));

function stampForm(unit: TimeUnit, style: TextStyle): StampForm {
  const microsOf = (fraction: number): number => Math.floor((fraction * 1_000_000) / UNITS_PER_SECOND[unit]);
  return {
    unitDigits: UNIT_DIGITS[unit],
    digits: 6,
    isTrimmed: false,
    aheadOf: undefined,
    farText: (seconds, fraction) => stampText(seconds, microsOf(fraction), style),
  };
}
