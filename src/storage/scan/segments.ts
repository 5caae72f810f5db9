/**
 * From runs to what is emitted: clip runs to the time range, keep only the newest rows if asked to, find runs of one series that
 * overlap in time and so may hold the same row, and order the rest.
 */
import type { RunList } from "./run-list.ts";
import type { ScanSource } from "./scan-source.ts";

/** Runs of one series whose times overlap: their rows must be merged. Indexes into the run list, oldest source first. */
export type Cluster = readonly number[];

/** What a group of a scan emits. */
export interface Emission {
  /** Runs that stand alone, as indexes into the run list. */
  readonly single: Uint32Array;
  readonly clusters: readonly Cluster[];
}

/** Cuts runs that reach out of `[minOffset, maxOffset]`; a run without a row inside ends up empty. */
export async function clipRuns(runs: RunList, sources: readonly ScanSource[], minOffset: number, maxOffset: number): Promise<void> {
  for (let i = 0; i < runs.count; i++) {
    const reachesOut = (runs.firsts[i] as number) < minOffset || (runs.lasts[i] as number) > maxOffset;
    if (!reachesOut) continue;
    const source = sources[runs.sources[i] as number] as ScanSource;
    const start = runs.starts[i] as number;
    const end = runs.ends[i] as number;
    const pieces = await source.times([{ start, end }]);
    let kept = 0;
    let before = 0;
    let first = 0;
    let last = 0;
    for (const { vector, from, to } of pieces) {
      if (vector?.kind !== "time") continue;
      const low = lowerBound(vector.offsets, from, to, minOffset);
      const high = lowerBound(vector.offsets, low, to, maxOffset + 1);
      if (high > low) {
        if (kept === 0) first = vector.offsets[low] as number;
        last = vector.offsets[high - 1] as number;
      }
      if (kept === 0) before += low - from;
      kept += high - low;
    }
    runs.starts[i] = start + before;
    runs.ends[i] = start + before + kept;
    runs.firsts[i] = first;
    runs.lasts[i] = last;
  }
}

/** The first position in `[from, to)` whose value is not below `value`; `to` if there is none. `values` ascends. */
function lowerBound(values: Float64Array, from: number, to: number, value: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Shrinks the runs to the newest row of each series; `seen` marks series that a newer group has answered already and is updated.
 *
 * @param mayRepeat true: rows of one series and time in several sources are all kept, to be merged; false: only the newest source's
 */
export function keepNewest(runs: RunList, seen: Uint8Array, mayRepeat: boolean): void {
  const newest = new Map<number, number>();
  for (let i = 0; i < runs.count; i++) {
    if ((runs.ends[i] as number) <= (runs.starts[i] as number)) continue;
    const series = runs.series[i] as number;
    const known = newest.get(series);
    if (known === undefined || (runs.lasts[i] as number) >= (runs.lasts[known] as number)) newest.set(series, i);
  }
  for (let i = 0; i < runs.count; i++) {
    const series = runs.series[i] as number;
    const end = runs.ends[i] as number;
    if (end <= (runs.starts[i] as number)) continue;
    const best = newest.get(series) as number;
    if (seen[series] === 1 || (i !== best && !(mayRepeat && runs.lasts[i] === runs.lasts[best]))) {
      runs.ends[i] = runs.starts[i] as number;
      continue;
    }
    runs.starts[i] = end - 1;
    runs.firsts[i] = runs.lasts[i] as number;
  }
  for (const series of newest.keys()) seen[series] = 1;
}

/**
 * Parts runs that stand alone from runs that overlap. Empty runs are left out. Single runs keep the order of the list (source by
 * source, so file by file); clusters come in the order of series numbers.
 *
 * @param mayOverlap false: rows of one series need neither be merged nor ordered across sources, so nothing overlaps
 */
export function findOverlaps(runs: RunList, seriesCount: number, mayOverlap: boolean): Emission {
  const heads = new Int32Array(mayOverlap ? seriesCount : 0).fill(-1);
  const next = new Int32Array(runs.count).fill(-1);
  const isClustered = new Uint8Array(runs.count);
  const shared: number[] = [];
  let kept = 0;
  for (let i = 0; i < runs.count; i++) {
    if ((runs.ends[i] as number) <= (runs.starts[i] as number)) continue;
    kept++;
    if (!mayOverlap) continue;
    const series = runs.series[i] as number;
    const head = heads[series] as number;
    if (head >= 0 && (next[head] as number) < 0) shared.push(series);
    next[i] = head;
    heads[series] = i;
  }
  const clusters: Cluster[] = [];
  for (const series of shared) clusterSeries(runs, heads[series] as number, next, clusters, isClustered);
  const single: number[] = [];
  for (let i = 0; i < runs.count; i++) {
    if ((runs.ends[i] as number) > (runs.starts[i] as number) && isClustered[i] === 0) single.push(i);
  }
  return { single: kept === runs.count && clusters.length === 0 ? identity(runs.count) : Uint32Array.from(single), clusters };
}

function identity(count: number): Uint32Array {
  const array = new Uint32Array(count);
  for (let i = 0; i < count; i++) array[i] = i;
  return array;
}

/** Sorts the runs of one series by time and groups those that overlap. */
function clusterSeries(runs: RunList, head: number, next: Int32Array, clusters: Cluster[], isClustered: Uint8Array): void {
  const list: number[] = [];
  for (let i = head; i >= 0; i = next[i] as number) list.push(i);
  list.sort((a, b) => (runs.firsts[a] as number) - (runs.firsts[b] as number));
  let cluster: number[] = [];
  let last = Number.NEGATIVE_INFINITY;
  const close = (): void => {
    if (cluster.length > 1) {
      for (const i of cluster) isClustered[i] = 1;
      clusters.push(cluster.sort((a, b) => (runs.sources[a] as number) - (runs.sources[b] as number)));
    }
    cluster = [];
  };
  for (const i of list) {
    if ((runs.firsts[i] as number) > last) close();
    cluster.push(i);
    last = Math.max(last, runs.lasts[i] as number);
  }
  close();
}
