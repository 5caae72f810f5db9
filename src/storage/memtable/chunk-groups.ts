import { floorTo } from "../../value/civil.ts";
import { type Chunk, chunkMaxTime, chunkMinTime } from "./chunk.ts";

/** A chunk that spans more groups than this is looked at row by row: its times may be far apart with nothing between them. */
const DENSE_GROUPS_MAX = 64n;

/**
 * Adds the starts of all groups that hold rows of a chunk to `starts`. A chunk of few groups may add one without rows.
 *
 * @param length of a group, in the unit of the time index; groups start at its multiples
 */
export function addGroupStarts(chunk: Chunk, length: number, starts: Set<bigint>): void {
  const step = BigInt(length);
  const first = floorTo(chunkMinTime(chunk), step);
  const last = floorTo(chunkMaxTime(chunk), step);
  if (last - first < DENSE_GROUPS_MAX * step) {
    for (let start = first; start <= last; start += step) starts.add(start);
    return;
  }
  const { times, timeScale, rowCount } = chunk;
  const base = Number(chunkMinTime(chunk) - first);
  const indexes = new Set<number>();
  for (let i = 0; i < rowCount; i++) {
    const time = times[i]! * timeScale;
    const whole = Math.floor(time / length);
    indexes.add(whole + Math.floor((base + (time - whole * length)) / length)); // Each part is exact; base + time need not be.
  }
  for (const index of indexes) starts.add(first + BigInt(index) * step);
}
