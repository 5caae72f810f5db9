/**
 * Long runs of one series that overlap at their ends, as files of one table do that were written one after another, are cut there: what
 * lies between stands alone.
 *
 *   file 1   |---------------|                     alone: 1       1+2    2       2+3    3
 *   file 2               |---------------|         ─►    |-----------|---|-------|---|-----------|
 *   file 3                           |-------|
 *
 * Only what overlaps is merged then, pages of the rest are skipped by statistics, pass as they are, or stand for their rows. 5M rows in 90
 * files, ten of a filter: 370 ms merged, 70 so.
 */
import { firstRowFrom } from "./row-at-time.ts";
import type { RunList } from "./run-list.ts";
import type { ScanSource } from "./scan-source.ts";
import type { Cluster, Emission } from "./segments.ts";

/** Rows from which a stretch of one run stands alone, about. Reason: each costs two searches and a piece of a batch. */
const ALONE_ROWS_MIN = 4096;

/** Times `[from, to)`. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** Whether one run is alone in it. */
  readonly isAlone: boolean;
}

/** What is emitted once long runs are cut. Adds their parts to the list of runs. @throws DbError StorageUnavailable */
export async function cutChains(
  runs: RunList,
  { single, clusters }: Emission,
  sources: readonly ScanSource[],
  rowsMin: number = ALONE_ROWS_MIN,
): Promise<Emission> {
  const left: Cluster[] = [];
  const alone: number[] = [];
  for (const cluster of clusters) {
    const stretches = stretchesOf(runs, cluster, rowsMin);
    if (stretches.some(({ isAlone }) => isAlone)) await cut(runs, cluster, stretches, sources, alone, left);
    else left.push(cluster);
  }
  if (alone.length === 0) return { single, clusters: left };
  const all = Uint32Array.from([...single, ...alone]);
  const order = (run: number): number => (runs.sources[run] as number) * 2 ** 32 + (runs.starts[run] as number);
  return { single: all.sort((a, b) => order(a) - order(b)), clusters: left };
}

/** The times of a cluster, cut where a run is alone for long. */
function stretchesOf(runs: RunList, cluster: Cluster, rowsMin: number): readonly Stretch[] {
  const rowsOf = (run: number): number => (runs.ends[run] as number) - (runs.starts[run] as number);
  if (!cluster.some((run) => rowsOf(run) >= rowsMin)) return [];
  const begins = [...cluster].sort((a, b) => (runs.firsts[a] as number) - (runs.firsts[b] as number));
  const ends = [...cluster].sort((a, b) => (runs.lasts[a] as number) - (runs.lasts[b] as number));
  const stretches: Stretch[] = [];
  let from = runs.firsts[begins[0] as number] as number;
  let active = 0;
  let sum = 0; // of the runs that are active: of one it is that run
  for (let b = 0, e = 0; e < ends.length; ) {
    const begin = b < begins.length ? (runs.firsts[begins[b] as number] as number) : Number.POSITIVE_INFINITY;
    const end = (runs.lasts[ends[e] as number] as number) + 1;
    const at = Math.min(begin, end);
    if (at > from) {
      const rows = active === 1 ? (rowsOf(sum) * (at - from)) / ((runs.lasts[sum] as number) - (runs.firsts[sum] as number) + 1) : 0;
      addStretch(stretches, { from, to: at, isAlone: rows >= rowsMin });
      from = at;
    }
    if (begin <= end) {
      active++;
      sum += begins[b++] as number;
    } else {
      active--;
      sum -= ends[e++] as number;
    }
  }
  return stretches;
}

function addStretch(stretches: Stretch[], next: Stretch): void {
  const last = stretches.at(-1);
  if (last === undefined || last.isAlone || next.isAlone) stretches.push(next);
  else stretches[stretches.length - 1] = { ...last, to: next.to };
}

/** Adds the parts of a cluster's runs, and says which stand alone and which do not. */
async function cut(
  runs: RunList,
  cluster: Cluster,
  stretches: readonly Stretch[],
  sources: readonly ScanSource[],
  alone: number[],
  left: Cluster[],
): Promise<void> {
  const next = cluster.map((run) => runs.starts[run] as number);
  for (const { from, to } of stretches) {
    const parts: number[] = [];
    for (const [i, run] of cluster.entries()) {
      const [start, runEnd] = [next[i] as number, runs.ends[run] as number];
      const [first, last, source] = [runs.firsts[run] as number, runs.lasts[run] as number, runs.sources[run] as number];
      if (start >= runEnd || first >= to) continue;
      const end = last < to ? runEnd : await firstRowFrom(sources[source] as ScanSource, { start, end: runEnd }, to);
      next[i] = end;
      if (end === start) continue;
      parts.push(runs.count);
      runs.push(runs.slots[run] as number, source, start, end, Math.max(first, from), Math.min(last, to - 1));
    }
    if (parts.length === 1) alone.push(parts[0] as number);
    else if (parts.length > 1) left.push(parts);
  }
}
