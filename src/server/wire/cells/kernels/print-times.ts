/**
 * Timestamps as text: `2024-01-31 23:59:59.123456`. The date is printed once for neighbours of one day. Seconds are told apart from units
 * in doubles, exactly: a base and an offset of less than 2^53 units.
 * Digits go two and three at a time: milliseconds take 28 ns (MySQL) and 34 (PostgreSQL) instead of 36 and 68 digit by digit, nanoseconds
 * 34 and 33 instead of 101 and 73 (4,096 rows, least of 10 rounds in turns in one process).
 */
import type { TimeVector, WideVector } from "../../../../column/vector.ts";
import { secondsAndFraction } from "../../../../value/civil.ts";
import { writeThree } from "../../../common/kernels/write-number.ts";
import type { Cells } from "../cells.ts";
import { markNulls } from "./print-cells.ts";
import { FOUR_DIGIT_DAY_MAX, FOUR_DIGIT_DAY_MIN, writeClock, writeDate } from "./write-time.ts";

const DAY_SECONDS = 86_400;
const SPACE = 0x20;
const POINT = 0x2e;
const DATE_BYTES = 10;
const STAMP_BYTES = 32;

/** How a fraction is shown. */
export interface StampForm {
  /** Digits of a unit: 0, 3, 6 or 9. */
  readonly unitDigits: number;
  /** Digits shown: 0, 3, 6 or 9; fewer than the unit's cut off. */
  readonly digits: number;
  /** Whether a fraction of zero is left out, and whole thousands are shown as three digits fewer. */
  readonly isTrimmed: boolean;
  /** Seconds that the clock shown is ahead of UTC at a moment; undefined: UTC. */
  readonly aheadOf: ((utcSeconds: number) => number) | undefined;
  /** The text of a moment whose year has not four digits. */
  readonly farText: (seconds: number, fraction: number) => string;
}

/** Timestamps; those that are `wide` beyond all doubles too. */
export function printStamps(vector: TimeVector | WideVector, from: number, rowCount: number, cells: Cells, form: StampForm): void {
  const perSecond = 10 ** form.unitDigits;
  const unit = 10 ** (9 - form.unitDigits);
  cells.begin(rowCount * STAMP_BYTES);
  if (vector.kind === "wide") {
    for (let row = 0; row < rowCount; row++) {
      const { seconds, fraction } = secondsAndFraction(vector.values[from + row]!, perSecond);
      printStamp(cells, row, seconds, fraction, unit, form);
    }
  } else {
    const { base, offsets } = vector;
    const { seconds: baseSeconds, fraction: baseFraction } = secondsAndFraction(base, perSecond);
    for (let row = 0; row < rowCount; row++) {
      const offset = offsets[from + row]!;
      const offsetSeconds = Math.floor(offset / perSecond);
      let seconds = baseSeconds + offsetSeconds;
      let fraction = baseFraction + (offset - offsetSeconds * perSecond);
      if (fraction >= perSecond) {
        fraction -= perSecond;
        seconds += 1;
      }
      printStamp(cells, row, seconds, fraction, unit, form);
    }
  }
  markNulls(vector.validity, from, rowCount, cells);
}

let lastDay = Number.NaN;
/** Its text. */
const lastDate = new DataView(new ArrayBuffer(DATE_BYTES));

/** @param unit nanoseconds of one of the fraction */
function printStamp(cells: Cells, row: number, utcSeconds: number, fraction: number, unit: number, form: StampForm): void {
  const { aheadOf } = form;
  const seconds = aheadOf === undefined ? utcSeconds : utcSeconds + aheadOf(utcSeconds);
  const days = Math.floor(seconds / DAY_SECONDS);
  if (!(days >= FOUR_DIGIT_DAY_MIN && days <= FOUR_DIGIT_DAY_MAX)) {
    cells.setText(row, form.farText(seconds, fraction));
    return;
  }
  cells.reserve(STAMP_BYTES);
  const { view } = cells;
  const at = cells.used;
  if (days !== lastDay) {
    writeDate(lastDate, 0, days);
    lastDay = days;
  }
  view.setUint32(at, lastDate.getUint32(0, true), true);
  view.setUint32(at + 4, lastDate.getUint32(4, true), true);
  view.setUint16(at + 8, lastDate.getUint16(8, true), true);
  view.setUint8(at + DATE_BYTES, SPACE);
  const end = writeClock(view, at + DATE_BYTES + 1, seconds - days * DAY_SECONDS);
  cells.starts[row] = at;
  cells.used = form.digits === 0 ? end : writeFraction(view, end, (fraction * unit) | 0, form);
  cells.ends[row] = cells.used;
}

/** `.` and digits of nanoseconds, three at a time; may write a byte behind them. */
function writeFraction(view: DataView, at: number, nanos: number, { digits, isTrimmed }: StampForm): number {
  const micros = (nanos / 1000) | 0;
  const millis = (micros / 1000) | 0;
  const second = micros - millis * 1000;
  const third = nanos - micros * 1000;
  let shown = digits;
  if (isTrimmed) {
    if (shown === 9 && third === 0) shown = 6;
    if (shown === 6 && second === 0) shown = 3;
    if (shown === 3 && millis === 0) return at;
  }
  view.setUint8(at, POINT);
  writeThree(view, at + 1, millis);
  if (shown > 3) writeThree(view, at + 4, second);
  if (shown > 6) writeThree(view, at + 7, third);
  return at + 1 + shown;
}
