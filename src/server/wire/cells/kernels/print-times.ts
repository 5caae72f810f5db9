/**
 * Timestamps as text: `2024-01-31 23:59:59.123456`. The date is printed once for neighbours of one day. Seconds are told apart from units
 * in doubles, exactly: a base and an offset of less than 2^53 units.
 */
import type { TimeVector, WideVector } from "../../../../column/vector.ts";
import { secondsAndFraction } from "../../../../value/civil.ts";
import type { Cells } from "../cells.ts";
import { markNulls } from "./print-cells.ts";
import { FOUR_DIGIT_DAY_MAX, FOUR_DIGIT_DAY_MIN, writeClock, writeDate, writeFraction } from "./write-time.ts";

const DAY_SECONDS = 86_400;
const SPACE = 0x20;
const DATE_BYTES = 10;
const STAMP_BYTES = 32;

/** How a fraction is shown. */
export interface StampForm {
  /** Digits of a unit: 0, 3, 6 or 9. */
  readonly unitDigits: number;
  /** Digits shown; fewer than the unit's cut off. */
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
  cells.begin(rowCount * STAMP_BYTES);
  if (vector.kind === "wide") {
    for (let row = 0; row < rowCount; row++) {
      const { seconds, fraction } = secondsAndFraction(vector.values[from + row]!, perSecond);
      printStamp(cells, row, seconds, fraction, form);
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
      printStamp(cells, row, seconds, fraction, form);
    }
  }
  markNulls(vector.validity, from, rowCount, cells);
}

let lastDay = Number.NaN;
const lastDate = new Uint8Array(DATE_BYTES);

function printStamp(cells: Cells, row: number, utcSeconds: number, fraction: number, form: StampForm): void {
  const { aheadOf, unitDigits, isTrimmed } = form;
  const seconds = aheadOf === undefined ? utcSeconds : utcSeconds + aheadOf(utcSeconds);
  const days = Math.floor(seconds / DAY_SECONDS);
  if (!(days >= FOUR_DIGIT_DAY_MIN && days <= FOUR_DIGIT_DAY_MAX)) {
    cells.setText(row, form.farText(seconds, fraction));
    return;
  }
  cells.reserve(STAMP_BYTES);
  const { own } = cells;
  let at = cells.used;
  cells.starts[row] = at;
  if (days !== lastDay) {
    writeDate(lastDate, 0, days);
    lastDay = days;
  }
  for (let i = 0; i < DATE_BYTES; i++) own[at + i] = lastDate[i]!;
  at += DATE_BYTES;
  own[at++] = SPACE;
  at = writeClock(own, at, seconds - days * DAY_SECONDS);
  let shown = fraction;
  let { digits } = form;
  if (digits < unitDigits) shown = Math.floor(shown / 10 ** (unitDigits - digits));
  else shown *= 10 ** (digits - unitDigits);
  if (isTrimmed)
    while (digits > 0 && shown % 1000 === 0) {
      shown /= 1000;
      digits -= 3;
    }
  if (digits > 0) at = writeFraction(own, at, shown, digits);
  cells.used = at;
  cells.ends[row] = at;
}
