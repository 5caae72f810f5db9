/** A batch in pieces, for operators that may hold few rows. */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import { sliceBatch } from "../../../column/slice.ts";

/** The rows of a batch, at most `rowsMax` (at least 1) at a time, without copying; statistics stay whole. */
export function* pieces(batch: ExecBatch, rowsMax: number): Iterable<ExecBatch> {
  const { rowCount } = batch;
  const step = Math.max(1, Math.floor(rowsMax));
  if (rowCount <= step || batch.summary !== undefined) {
    if (rowCount > 0) yield batch;
    return;
  }
  for (let from = 0; from < rowCount; from += step) yield rowsBetween(batch, from, Math.min(rowCount, from + step));
}

/** Rows `[from, to)` of a batch of rows, without copying. */
export function rowsBetween(batch: ExecBatch, from: number, to: number): ExecBatch {
  if (from === 0 && to === batch.rowCount) return batch;
  const runs = batch.runs === undefined ? undefined : slicedRuns(batch.runs, from, to);
  return { ...sliceBatch({ rowCount: batch.rowCount, vectors: batch.vectors }, from, to), runs };
}

/** The runs of rows `[from, to)`, counted from there. */
function slicedRuns({ starts, series }: SeriesRuns, from: number, to: number): SeriesRuns {
  const kept: number[] = [];
  const own: number[] = [];
  for (let run = runAt(starts, from); run < starts.length - 1 && (starts[run] as number) < to; run++) {
    const start = Math.max(starts[run] as number, from);
    if (start >= (starts[run + 1] as number)) continue;
    kept.push(start - from);
    own.push(series[run] as number);
  }
  kept.push(to - from);
  return { starts: Uint32Array.from(kept), series: Uint32Array.from(own) };
}

/** The last run that begins at a row or before it: batches may have a run a row, and many pieces. */
function runAt(starts: Uint32Array, row: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] as number) <= row) low = middle;
    else high = middle;
  }
  return low;
}
