/** Small batches made one, so that loops over them run long. */
import type { ColumnHeader, SeriesRuns } from "../../../column/batch.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import { concat } from "../kernels/concat.ts";

/** The same rows in one batch. */
export function oneBatch(headers: readonly ColumnHeader[], batches: readonly ExecBatch[]): ExecBatch {
  const [first] = batches;
  if (batches.length === 1 && first !== undefined) return first;
  const vectors = headers.map(({ type }, c) =>
    concat(
      type,
      batches.flatMap(({ vectors: own, rowCount }) => (own[c] === undefined ? [] : [{ vector: own[c], rowCount }])),
    ),
  );
  return { rowCount: batches.reduce((sum, batch) => sum + batch.rowCount, 0), vectors };
}

/** The same rows in as few batches as keep what rows are: statistics stay apart, and times stay offsets from a base. */
export function concatBatches(headers: readonly ColumnHeader[], batches: readonly ExecBatch[]): readonly ExecBatch[] {
  const made: ExecBatch[] = [];
  let group: ExecBatch[] = [];
  const flush = (): void => {
    made.push(...joined(headers, group));
    group = [];
  };
  for (const batch of batches) {
    if (batch.summary !== undefined) {
      flush();
      made.push(batch);
    } else group.push(batch);
  }
  flush();
  return made;
}

function joined(headers: readonly ColumnHeader[], batches: readonly ExecBatch[]): readonly ExecBatch[] {
  if (batches.length <= 1) return batches;
  const { rowCount, vectors } = oneBatch(headers, batches);
  // Times too far apart for one base: whoever needs them as "time" gets them so, batch by batch.
  if (vectors.some((vector, c) => vector.kind === "wide" && batches.some((batch) => batch.vectors[c]?.kind === "time"))) return batches;
  return [{ rowCount, vectors, runs: joinedRuns(batches, rowCount) }];
}

/** Runs of all batches. Those of one series that meet stay two, since times need not ascend from one to the next. */
function joinedRuns(batches: readonly ExecBatch[], rowCount: number): SeriesRuns | undefined {
  const starts: number[] = [];
  const series: number[] = [];
  let base = 0;
  for (const { runs, rowCount: own } of batches) {
    if (runs === undefined) return undefined;
    for (let run = 0; run < runs.starts.length - 1; run++) {
      starts.push(base + (runs.starts[run] as number));
      series.push(runs.series[run] as number);
    }
    base += own;
  }
  starts.push(rowCount);
  return { starts: Uint32Array.from(starts), series: Uint32Array.from(series) };
}
