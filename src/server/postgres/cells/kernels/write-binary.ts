/** Loops that make binary cells of fixed width for PostgreSQL. */
import type { NumberVector, TimeVector } from "../../../../column/vector.ts";
import { secondsAndFraction } from "../../../../value/civil.ts";
import type { Cells } from "../../../wire/cells/cells.ts";
import { beginFixed, markNulls } from "../../../wire/cells/kernels/print-cells.ts";

const WORD = 0x1_0000_0000;
/** Seconds from 1970-01-01 to 2000-01-01. */
const EPOCH_SECONDS = 946_684_800;
const MICROS = 1_000_000;

/** Whole numbers of 1, 2, 4 or 8 bytes, less `epoch`. */
export function writeWholes(vector: NumberVector, from: number, rowCount: number, cells: Cells, size: number, epoch: number): void {
  beginFixed(cells, rowCount, size);
  const { view } = cells;
  const { values } = vector;
  switch (size) {
    case 1:
      for (let row = 0; row < rowCount; row++) view.setUint8(row, values[from + row]!);
      break;
    case 2:
      for (let row = 0; row < rowCount; row++) view.setInt16(row * 2, values[from + row]!);
      break;
    case 4:
      for (let row = 0; row < rowCount; row++) view.setInt32(row * 4, values[from + row]! - epoch);
      break;
    default:
      for (let row = 0; row < rowCount; row++) {
        const value = values[from + row]!;
        const high = Math.floor(value / WORD);
        view.setInt32(row * 8, high);
        view.setUint32(row * 8 + 4, value - high * WORD);
      }
  }
  markNulls(vector.validity, from, rowCount, cells);
}

/** Floats of 4 or 8 bytes. */
export function writeFloats(vector: NumberVector, from: number, rowCount: number, cells: Cells, size: number): void {
  beginFixed(cells, rowCount, size);
  const { view } = cells;
  const { values } = vector;
  if (size === 4) for (let row = 0; row < rowCount; row++) view.setFloat32(row * 4, values[from + row]!);
  else for (let row = 0; row < rowCount; row++) view.setFloat64(row * 8, values[from + row]!);
  markNulls(vector.validity, from, rowCount, cells);
}

/** Timestamps as microseconds since 2000-01-01, what is finer cut off. Beyond 2^53 of them two words are reckoned apart. */
export function writeMicros(vector: TimeVector, from: number, rowCount: number, cells: Cells, perSecond: number): void {
  beginFixed(cells, rowCount, 8);
  const { view } = cells;
  const { base, offsets } = vector;
  const { seconds: unixSeconds, fraction: baseFraction } = secondsAndFraction(base, perSecond);
  const baseSeconds = unixSeconds - EPOCH_SECONDS;
  for (let row = 0; row < rowCount; row++) {
    const offset = offsets[from + row]!;
    const offsetSeconds = Math.floor(offset / perSecond);
    const fraction = baseFraction + (offset - offsetSeconds * perSecond);
    const seconds = baseSeconds + offsetSeconds;
    const micros = perSecond > MICROS ? Math.floor(fraction / (perSecond / MICROS)) : fraction * (MICROS / perSecond);
    const value = seconds * MICROS + micros;
    if (Number.isSafeInteger(value)) {
      const high = Math.floor(value / WORD);
      view.setInt32(row * 8, high);
      view.setUint32(row * 8 + 4, value - high * WORD);
    } else view.setBigInt64(row * 8, BigInt(seconds) * 1_000_000n + BigInt(micros));
  }
  markNulls(vector.validity, from, rowCount, cells);
}
