/**
 * Loops that make binary cells of numbers and times for MySQL. Times carry their own length:
 *
 *   TIMESTAMP   length(1) year(2) month day [hour minute second [micros(4)]]     0, 4, 7 or 11
 */
import type { NumberVector, TimeVector, WideVector } from "../../../../column/vector.ts";
import { civilFromDays, secondsAndFraction } from "../../../../value/civil.ts";
import type { Cells } from "../../../wire/cells/cells.ts";
import { beginFixed, markNulls } from "../../../wire/cells/kernels/print-cells.ts";

const WORD = 0x1_0000_0000;
const DAY_SECONDS = 86_400;
const MICROS = 1_000_000;
const STAMP_BYTES = 12;

/** Whole numbers of 1, 2, 4 or 8 bytes. */
export function writeWholes(vector: NumberVector, from: number, rowCount: number, cells: Cells, size: number): void {
  beginFixed(cells, rowCount, size);
  const { view } = cells;
  const { values } = vector;
  switch (size) {
    case 1:
      for (let row = 0; row < rowCount; row++) view.setUint8(row, values[from + row]!);
      break;
    case 2:
      for (let row = 0; row < rowCount; row++) view.setInt16(row * 2, values[from + row]!, true);
      break;
    case 4:
      for (let row = 0; row < rowCount; row++) view.setInt32(row * 4, values[from + row]!, true);
      break;
    default:
      for (let row = 0; row < rowCount; row++) {
        const value = values[from + row]!;
        const high = Math.floor(value / WORD);
        view.setUint32(row * 8, value - high * WORD, true);
        view.setInt32(row * 8 + 4, high, true);
      }
  }
  markNulls(vector.validity, from, rowCount, cells);
}

/** 64-bit whole numbers beyond ±2^53. */
export function writeWide(vector: WideVector, from: number, rowCount: number, cells: Cells): void {
  beginFixed(cells, rowCount, 8);
  for (let row = 0; row < rowCount; row++) cells.view.setBigInt64(row * 8, BigInt.asIntN(64, vector.values[from + row]!), true);
  markNulls(vector.validity, from, rowCount, cells);
}

/** Floats of 4 or 8 bytes. */
export function writeFloats(vector: NumberVector, from: number, rowCount: number, cells: Cells, size: number): void {
  beginFixed(cells, rowCount, size);
  const { view } = cells;
  const { values } = vector;
  if (size === 4) for (let row = 0; row < rowCount; row++) view.setFloat32(row * 4, values[from + row]!, true);
  else for (let row = 0; row < rowCount; row++) view.setFloat64(row * 8, values[from + row]!, true);
  markNulls(vector.validity, from, rowCount, cells);
}

/** Timestamps, what is finer than a microsecond cut off. Their years were checked. @param aheadOf seconds ahead of UTC; undefined: none */
export function writeStamps(
  vector: TimeVector,
  from: number,
  rowCount: number,
  cells: Cells,
  perSecond: number,
  aheadOf: ((utcSeconds: number) => number) | undefined,
): void {
  cells.begin(rowCount * STAMP_BYTES);
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
    if (aheadOf !== undefined) seconds += aheadOf(seconds);
    const micros = perSecond > MICROS ? Math.floor(fraction / (perSecond / MICROS)) : fraction * (MICROS / perSecond);
    cells.starts[row] = cells.used;
    appendStamp(cells, seconds, micros);
    cells.ends[row] = cells.used;
  }
  markNulls(vector.validity, from, rowCount, cells);
}

let lastDay = Number.NaN;
let lastDate = civilFromDays(0);

/** Appends a timestamp with its length; there is room. @param seconds since 1970 of the clock shown */
export function appendStamp(cells: Cells, seconds: number, micros: number): void {
  const { own, view } = cells;
  const days = Math.floor(seconds / DAY_SECONDS);
  if (days !== lastDay) {
    lastDate = civilFromDays(days);
    lastDay = days;
  }
  const rest = seconds - days * DAY_SECONDS;
  const at = cells.used;
  const length = micros !== 0 ? 11 : rest !== 0 ? 7 : 4;
  own[at] = length;
  view.setUint16(at + 1, lastDate.year, true);
  own[at + 3] = lastDate.month;
  own[at + 4] = lastDate.day;
  if (length > 4) {
    own[at + 5] = Math.floor(rest / 3600);
    own[at + 6] = Math.floor(rest / 60) % 60;
    own[at + 7] = rest % 60;
  }
  if (length > 7) view.setUint32(at + 8, micros, true);
  cells.used = at + 1 + length;
}

/** The first row whose time lies outside `[least, most)` units; -1: none. NULLs do not count. */
export function stampOutside(vector: TimeVector | WideVector, from: number, rowCount: number, least: bigint, most: bigint): number {
  const { validity } = vector;
  if (vector.kind === "wide") {
    for (let row = from; row < from + rowCount; row++) {
      const value = vector.values[row]!;
      if ((value < least || value >= most) && (validity === undefined || validity[row] !== 0)) return row;
    }
    return -1;
  }
  const low = Number(least - vector.base);
  const high = Number(most - vector.base);
  for (let row = from; row < from + rowCount; row++) {
    const offset = vector.offsets[row]!;
    if ((offset < low || offset >= high) && (validity === undefined || validity[row] !== 0)) return row;
  }
  return -1;
}
