/**
 * Times of a write in the unit of the table's time index.
 *
 * | from → to     | what                                                                                                        |
 * |---------------|-------------------------------------------------------------------------------------------------------------|
 * | same unit     | as they are                                                                                                 |
 * | finer unit in | rounded down, also before 1970                                                                              |
 * | coarser in    | exact; rows that get further apart than 2^53 units become writes of their own (`splitForUnit`)              |
 */
import { assert } from "../../base/assert.ts";
import { invalidArguments } from "../../base/error.ts";
import { type TimeUnit, UNITS_PER_SECOND } from "../../column/data-type.ts";
import type { TimeVector } from "../../column/vector.ts";
import { takeRows } from "../../column/take-rows.ts";
import type { TableWrite } from "../../table/write-batch.ts";
import { coarserTimes } from "../../value/coarser-times.ts";

/**
 * The write in pieces whose times, in the table's unit, lie within 2^53 of each other: one piece, itself, unless a table counts in a much
 * finer unit than the write. Rows keep their order, and rows of one time stay in one piece.
 */
export function splitForUnit(write: TableWrite, to: TimeUnit): readonly TableWrite[] {
  const factor = UNITS_PER_SECOND[to] / UNITS_PER_SECOND[write.timeUnit];
  if (factor <= 1) return [write];
  const { min, max } = rangeOf(write.times.offsets, write.rowCount);
  const spanMax = Math.floor(Number.MAX_SAFE_INTEGER / factor);
  if (max - min <= spanMax) return [write];
  const rowsOf = new Map<number, number[]>();
  for (let row = 0; row < write.rowCount; row++) {
    const part = Math.floor(((write.times.offsets[row] as number) - min) / spanMax);
    const rows = rowsOf.get(part);
    if (rows === undefined) rowsOf.set(part, [row]);
    else rows.push(row);
  }
  return [...rowsOf.values()].map((rows) => takeWriteRows(write, Uint32Array.from(rows)));
}

/** Some rows of a write, in the order of `rows`. */
export function takeWriteRows(write: TableWrite, rows: Uint32Array): TableWrite {
  const times = takeRows(write.times, rows);
  assert(times.kind === "time", "rows of a time vector make a time vector");
  return {
    ...write,
    rowCount: rows.length,
    keys: Uint32Array.from(rows, (row) => write.keys[row] as number),
    times,
    fields: write.fields.map((field) => ({ ...field, vector: takeRows(field.vector, rows) })),
  };
}

/**
 * Times in another unit.
 *
 * @param times of a piece that `splitForUnit` made
 * @throws DbError InvalidArguments when one lies beyond 64 bits in the new unit
 */
export function convertTimes(times: TimeVector, rowCount: number, from: TimeUnit, to: TimeUnit): TimeVector {
  if (from === to) return times;
  const step = UNITS_PER_SECOND[from] / UNITS_PER_SECOND[to];
  return step > 1 ? { ...coarserTimes(times, rowCount, step), validity: undefined } : finer(times, rowCount, from, to);
}

function finer(times: TimeVector, rowCount: number, from: TimeUnit, to: TimeUnit): TimeVector {
  const factor = UNITS_PER_SECOND[to] / UNITS_PER_SECOND[from];
  const { min, max } = rangeOf(times.offsets, rowCount);
  for (const offset of [min, max]) {
    const time = times.base + BigInt(offset);
    const scaled = time * BigInt(factor);
    if (scaled === BigInt.asIntN(64, scaled)) continue;
    throw invalidArguments(
      `cannot write time ${time} (${from}s): it is out of the range of a time index in ${to}s; send times nearer to 1970`,
    );
  }
  assert((max - min) * factor <= Number.MAX_SAFE_INTEGER, `times within 2^53 ${to}s of each other; got ${min} to ${max} ${from}s`);
  const offsets = new Float64Array(rowCount);
  for (let i = 0; i < rowCount; i++) offsets[i] = ((times.offsets[i] as number) - min) * factor;
  return { kind: "time", base: (times.base + BigInt(min)) * BigInt(factor), offsets, validity: undefined };
}

function rangeOf(offsets: Float64Array, rowCount: number): { readonly min: number; readonly max: number } {
  let min = offsets[0] as number;
  let max = min;
  for (let i = 1; i < rowCount; i++) {
    const offset = offsets[i] as number;
    if (offset < min) min = offset;
    if (offset > max) max = offset;
  }
  return { min, max };
}
