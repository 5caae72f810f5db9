import type { TombstoneSet } from "../tombstone/tombstone-set.ts";
import type { Chunk } from "./chunk.ts";

/**
 * The rows of a chunk that no later chunk deletes.
 *
 * @param age place of the chunk among those that the tombstones were made of
 * @param rows that take part, ascending; undefined: all of them, and so is the answer when none is deleted
 */
export function rowsLeft(chunk: Chunk, age: number, rows: Uint32Array | undefined, tombstones: TombstoneSet): Uint32Array | undefined {
  const total = rows === undefined ? chunk.rowCount : rows.length;
  const left = new Uint32Array(total);
  const { series, times, timeScale } = chunk;
  const offset = Number(chunk.timeBase - tombstones.base);
  let count = 0;
  let lastSeries = -1;
  let position = -1;
  for (let i = 0; i < total; i++) {
    const row = rows === undefined ? i : rows[i]!;
    if (series[row] !== lastSeries) {
      lastSeries = series[row]!;
      position = tombstones.positionOf(lastSeries);
    }
    if (position < 0 || !isHidden(tombstones, position, offset + times[row]! * timeScale, age)) left[count++] = row;
  }
  if (count === total) return rows;
  return left.slice(0, count);
}

function isHidden(tombstones: TombstoneSet, position: number, time: number, age: number): boolean {
  const i = tombstones.firstFrom(position, time);
  return i < tombstones.ends[position]! && tombstones.firsts[i]! <= time && tombstones.ages![i]! > age;
}
