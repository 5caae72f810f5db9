/** Where times lie in a run. */
import type { Piece, RowRange, ScanSource } from "./scan-source.ts";

/** The first row of the range whose time is not before `time`; its end if there is none. */
export async function firstRowFrom(source: ScanSource, { start, end }: RowRange, time: number): Promise<number> {
  let low = start;
  let high = end;
  while (low < high) {
    const row = (low + high) >> 1;
    if ((timeAtHand(source, row) ?? (await timeAt(source, row))) < time) low = row + 1;
    else high = row;
  }
  return low;
}

/** Offset of a row's time from the base of the group. */
export async function timeAt(source: ScanSource, row: number): Promise<number> {
  const [piece] = await source.times([{ start: row, end: row + 1 }]);
  return timeOf(piece);
}

/** The same where it is in memory: most searches lie within one page. */
function timeAtHand(source: ScanSource, row: number): number | undefined {
  const pieces = source.timesAtHand({ start: row, end: row + 1 });
  return pieces === undefined ? undefined : timeOf(pieces[0]);
}

function timeOf(piece: Piece | undefined): number {
  if (piece?.vector?.kind !== "time") throw new Error(`times come as a time vector; got ${piece?.vector?.kind}`);
  return piece.vector.offsets[piece.from] as number;
}
