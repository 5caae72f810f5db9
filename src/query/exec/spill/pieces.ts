/** A batch in pieces, for operators that may hold few rows. */
import type { SeriesRuns } from "../../../column/batch.ts";
import type { ExecBatch } from "../exec-context.ts";
import { sliceBatch } from "../kernels/slice.ts";

/** The rows of a batch, at most `rowsMax` (at least 1) at a time, without copying; figures stay whole. */
export function* pieces(batch: ExecBatch, rowsMax: number): Iterable<ExecBatch> {
  const { rowCount } = batch;
  const step = Math.max(1, Math.floor(rowsMax));
  if (rowCount <= step || batch.summary !== undefined) {
    if (rowCount > 0) yield batch;
    return;
  }
  for (let from = 0; from < rowCount; from += step) {
    const to = Math.min(rowCount, from + step);
    const runs = batch.runs === undefined ? undefined : slicedRuns(batch.runs, from, to);
    yield { ...sliceBatch({ rowCount, vectors: batch.vectors }, from, to), runs };
  }
}

/** The runs of rows `[from, to)`, counted from there. */
function slicedRuns({ starts, series }: SeriesRuns, from: number, to: number): SeriesRuns {
  const kept: number[] = [];
  const own: number[] = [];
  for (let run = 0; run < starts.length - 1; run++) {
    const start = Math.max(starts[run] ?? 0, from);
    if (start >= Math.min(starts[run + 1] ?? 0, to)) continue;
    kept.push(start - from);
    own.push(series[run] ?? 0);
  }
  kept.push(to - from);
  return { starts: Uint32Array.from(kept), series: Uint32Array.from(own) };
}
