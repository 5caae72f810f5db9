/** Where times lie in a run. */
import type { RowRange, ScanSource } from "./scan-source.ts";

/** The first row of the range whose time is not before `time`; its end if there is none. */
export async function firstRowFrom(source: ScanSource, { start, end }: RowRange, time: number): Promise<number> {
  let low = start;
  let high = end;
  while (low < high) {
    const row = (low + high) >> 1;
    if ((await timeAt(source, row)) < time) low = row + 1;
    else high = row;
  }
  return low;
}

/** Offset of a row's time from the base of the group. */
export async function timeAt(source: ScanSource, row: number): Promise<number> {
  const [piece] = await source.times([{ start: row, end: row + 1 }]);
  if (piece?.vector?.kind !== "time") throw new Error(`times come as a time vector; got ${piece?.vector?.kind}`);
  return piece.vector.offsets[piece.from] as number;
}
