/** Cells of a column in binary, by loops where there are many values of a kind. */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, type TimeUnit, UNITS_PER_SECOND } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import type { CellPrinter, Cells } from "../../wire/cells/cells.ts";
import { secondsAndFraction } from "../../../value/civil.ts";
import { formatDate } from "../../../value/format-time.ts";
import { FOUR_DIGIT_DAY_MAX, FOUR_DIGIT_DAY_MIN } from "../../wire/cells/kernels/write-time.ts";
import { appendStamp, writeFloats, writeStamps, writeWholes, writeWide } from "./kernels/write-binary.ts";
import { yearCheck } from "./stamp-years.ts";
import { clockOfZone, textPrinter } from "./text-cells.ts";
import { clockParts } from "./value-text.ts";

const DAY_SECONDS = 86_400;
/** Bytes of a TIME or a TIMESTAMP with its length, at most. */
const TIME_BYTES = 13;

/** Whether binary cells of a type have a lenenc length before them. */
export function hasLength(type: DataType): boolean {
  return !["null", "boolean", "int", "float", "date", "timestamp", "time", "duration"].includes(type.kind);
}

/** What prints a column of a type in binary. @param zone of the session */
export function binaryPrinter(type: DataType, zone: string): CellPrinter {
  switch (type.kind) {
    case "boolean":
      return wholePrinter(type, 1);
    case "int":
      return wholePrinter(type, type.bits / 8);
    case "float":
      return (vector, from, rowCount, cells) => {
        if (vector.kind === "number") writeFloats(vector, from, rowCount, cells, type.bits / 8);
        else appendEach(vector, type, from, rowCount, cells, () => undefined);
      };
    case "timestamp":
      return stampPrinter(type, zone);
    case "date":
      return (vector, from, rowCount, cells) =>
        appendEach(vector, type, from, rowCount, cells, (value) => appendDate(cells, Number(value)));
    case "time":
    case "duration":
      return (vector, from, rowCount, cells) =>
        appendEach(vector, type, from, rowCount, cells, (value) => appendTime(cells, BigInt(value), type.unit));
    default:
      return textPrinter(type, zone);
  }
}

function wholePrinter(type: DataType, size: number): CellPrinter {
  return (vector, from, rowCount, cells) => {
    if (vector.kind === "number") writeWholes(vector, from, rowCount, cells, size);
    else if (vector.kind === "wide" && size === 8) writeWide(vector, from, rowCount, cells);
    else appendEach(vector, type, from, rowCount, cells, () => undefined);
  };
}

function stampPrinter(type: Extract<DataType, { kind: "timestamp" }>, zone: string): CellPrinter {
  const check = yearCheck(type.unit, zone);
  const perSecond = UNITS_PER_SECOND[type.unit];
  const aheadOf = clockOfZone(zone);
  return (vector, from, rowCount, cells) => {
    if (vector.kind === "time" || vector.kind === "wide") check(vector, from, rowCount);
    if (vector.kind === "time") return writeStamps(vector, from, rowCount, cells, perSecond, aheadOf);
    appendEach(vector, type, from, rowCount, cells, (value) => {
      const { seconds, fraction } = secondsAndFraction(BigInt(value), perSecond);
      appendStamp(cells, seconds + (aheadOf?.(seconds) ?? 0), Math.floor((fraction * 1_000_000) / perSecond));
    });
  };
}

/** One value after the other; what `append` does not write is NULL. */
function appendEach(
  vector: Vector,
  type: DataType,
  from: number,
  rowCount: number,
  cells: Cells,
  append: (value: number | bigint) => void,
): void {
  cells.begin(rowCount * TIME_BYTES);
  for (let row = 0; row < rowCount; row++) {
    const value = scalarAt(vector, type, from + row);
    cells.starts[row] = cells.used;
    if (typeof value === "number" || typeof value === "bigint") append(value);
    cells.ends[row] = cells.used;
    if (cells.used === cells.starts[row]) cells.setNull(row);
  }
}

/** A date, as a timestamp without a time. @throws DbError InvalidArguments for a year that has not four digits */
function appendDate(cells: Cells, days: number): void {
  if (!(days >= FOUR_DIGIT_DAY_MIN && days <= FOUR_DIGIT_DAY_MAX)) {
    const why = `cannot show ${formatDate(days)}: the MySQL protocol has years of four digits; cast it to STRING`;
    throw new DbError(StatusCode.InvalidArguments, why);
  }
  appendStamp(cells, days * DAY_SECONDS, 0);
}

/** `length(1) negative(1) days(4) hour minute second [micros(4)]`, the length being 0, 8 or 12. */
function appendTime(cells: Cells, value: bigint, unit: TimeUnit): void {
  const { own, view } = cells;
  const { isNegative, seconds, micros } = clockParts(value, UNITS_PER_SECOND[unit]);
  const at = cells.used;
  const length = micros !== 0 ? 12 : seconds !== 0 ? 8 : 0;
  own[at] = length;
  cells.used = at + 1 + length;
  if (length === 0) return;
  own[at + 1] = isNegative ? 1 : 0;
  view.setUint32(at + 2, Math.floor(seconds / DAY_SECONDS), true);
  own[at + 6] = Math.floor(seconds / 3600) % 24;
  own[at + 7] = Math.floor(seconds / 60) % 60;
  own[at + 8] = seconds % 60;
  if (length === 12) view.setUint32(at + 9, micros, true);
}
