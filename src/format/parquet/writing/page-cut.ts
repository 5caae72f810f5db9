/**
 * Where the pages of a row group end: the same rows in every column, so that a page number means the same rows everywhere.
 */
import { PAGE_VALUE_BYTES_TARGET } from "../limits.ts";
import type { CodedBytes, ColumnInput } from "../types.ts";

/**
 * Ends of the pages of rows `[start, end)`, ascending, the last is `end`.
 *
 * A page has at most `rowsPerPage` rows and, in each column of bytes, about `PAGE_VALUE_BYTES_TARGET` bytes; a single longer value still
 * fits. It ends at the last series border in its second half, if there is one.
 *
 * @param seriesEnds row end of each series, ascending, or undefined
 */
export function cutPages(
  inputs: readonly ColumnInput[],
  start: number,
  end: number,
  rowsPerPage: number,
  seriesEnds: Uint32Array | undefined,
): Uint32Array {
  const ends: number[] = [];
  for (let from = start; from < end; ) {
    let to = Math.min(end, from + rowsPerPage);
    for (const input of inputs) {
      if (input.kind === "bytes") to = cutAtBytes(input.offsets, from, to);
      else if (input.kind === "coded") to = cutAtCodes(input, from, to);
    }
    if (to < end && seriesEnds !== undefined) to = cutAtSeries(seriesEnds, from, to);
    ends.push(to);
    from = to;
  }
  return Uint32Array.from(ends);
}

function cutAtBytes(offsets: Uint32Array, from: number, to: number): number {
  const limit = offsets[from]! + PAGE_VALUE_BYTES_TARGET;
  if (offsets[to]! <= limit) return to;
  const last = lastAtMost(offsets, limit, from, to);
  return Math.max(last, from + 1);
}

/** As `cutAtBytes`. */
function cutAtCodes({ codes, texts }: CodedBytes, from: number, to: number): number {
  const lengths = Uint32Array.from(texts, ({ length }) => length);
  let bytes = 0;
  for (let row = from; row < to; row++) {
    bytes += lengths[codes[row]!]!;
    if (bytes > PAGE_VALUE_BYTES_TARGET) return Math.max(row, from + 1);
  }
  return to;
}

function cutAtSeries(seriesEnds: Uint32Array, from: number, to: number): number {
  const position = lastAtMost(seriesEnds, to, 0, seriesEnds.length - 1);
  const border = seriesEnds[position];
  return border !== undefined && border <= to && border > from + (to - from) / 2 ? border : to;
}

/** The last index of `[low, high]` whose element is at most `limit`; `low` when none is. */
function lastAtMost(ascending: Uint32Array, limit: number, low: number, high: number): number {
  let below = low;
  let above = high + 1;
  while (above - below > 1) {
    const middle = (below + above) >>> 1;
    if (ascending[middle]! <= limit) below = middle;
    else above = middle;
  }
  return below;
}
