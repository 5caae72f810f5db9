/**
 * From runs to what is emitted: clip runs to the time range, keep only the newest rows if asked to, find runs of one series that
 * overlap in time and so may hold the same row, and order the rest.
 */
import { firstNumberFrom } from "../../../base/bytes/binary-search.ts";
import type { RunList } from "./run-list.ts";
import type { Piece, ScanSource } from "./scan-source.ts";

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
  for (let i = 0; i < runs.count; ) {
    // Times of many runs at once: a query of the last hour cuts the run of every series.
    const source = runs.sources[i] as number;
    const cut: number[] = [];
    for (; i < runs.count && runs.sources[i] === source && cut.length < CLIPPED_AT_ONCE; i++) {
      if ((runs.firsts[i] as number) < minOffset || (runs.lasts[i] as number) > maxOffset) cut.push(i);
    }
    if (cut.length === 0) continue;
    const ranges = cut.map((run) => ({ start: runs.starts[run] as number, end: runs.ends[run] as number }));
    const pieces = await (sources[source] as ScanSource).times(ranges);
    let next = 0;
    for (const run of cut) next = clipRun(runs, run, pieces, next, minOffset, maxOffset);
  }
}

/** Runs whose times are asked for together. */
const CLIPPED_AT_ONCE = 4096;

/** Cuts one run, whose times begin with piece `next`. Returns the piece behind them. */
export function clipRun(runs: RunList, run: number, pieces: readonly Piece[], next: number, minOffset: number, maxOffset: number): number {
  const start = runs.starts[run] as number;
  let left = (runs.ends[run] as number) - start;
  let at = next;
  let kept = 0;
  let before = 0;
  let first = 0;
  let last = 0;
  while (left > 0) {
    const { vector, from, to } = pieces[at++] as Piece;
    left -= to - from;
    if (vector?.kind !== "time") continue;
    const low = firstNumberFrom(vector.offsets, minOffset, from, to);
    const high = firstNumberFrom(vector.offsets, maxOffset + 1, low, to);
    if (high > low) {
      if (kept === 0) first = vector.offsets[low] as number;
      last = vector.offsets[high - 1] as number;
    }
    if (kept === 0) before += low - from;
    kept += high - low;
  }
  runs.starts[run] = start + before;
  runs.ends[run] = start + before + kept;
  runs.firsts[run] = first;
  runs.lasts[run] = last;
  return at;
}

/**
 * Shrinks the runs to the newest row of each series; `seen` marks slots that a newer group has answered already and is updated.
 *
 * @param slotStart no slot of a run is below it; none is at or above `slotStart + slotCount`
 * @param mayRepeat true: rows of one series and time in several sources are all kept, to be merged; false: only the newest source's
 */
export function keepNewest(runs: RunList, slotStart: number, slotCount: number, seen: Uint8Array, mayRepeat: boolean): void {
  const newest = new Int32Array(slotCount).fill(-1);
  for (let i = 0; i < runs.count; i++) {
    if ((runs.ends[i] as number) <= (runs.starts[i] as number)) continue;
    const slot = (runs.slots[i] as number) - slotStart;
    const known = newest[slot] as number;
    if (known < 0 || (runs.lasts[i] as number) >= (runs.lasts[known] as number)) newest[slot] = i;
  }
  for (let i = 0; i < runs.count; i++) {
    const slot = runs.slots[i] as number;
    const end = runs.ends[i] as number;
    if (end <= (runs.starts[i] as number)) continue;
    const best = newest[slot - slotStart] as number;
    if (seen[slot] === 1 || (i !== best && !(mayRepeat && runs.lasts[i] === runs.lasts[best]))) {
      runs.ends[i] = runs.starts[i] as number;
      continue;
    }
    runs.starts[i] = end - 1;
    runs.firsts[i] = runs.lasts[i] as number;
  }
  for (let slot = 0; slot < slotCount; slot++) if ((newest[slot] as number) >= 0) seen[slotStart + slot] = 1;
}

/**
 * Parts runs that stand alone from runs that overlap. Empty runs are left out. Single runs keep the order of the list (source by
 * source, so file by file); clusters come in the order in which their series turned out to have several runs.
 *
 * @param slotStart no slot of a run is below it; none is at or above `slotStart + slotCount`
 * @param mayOverlap false: rows of one series need neither be merged nor ordered across sources, so nothing overlaps
 */
export function findOverlaps(runs: RunList, slotStart: number, slotCount: number, mayOverlap: boolean): Emission {
  const heads = new Int32Array(mayOverlap ? slotCount : 0).fill(-1);
  const next = new Int32Array(mayOverlap ? runs.count : 0).fill(-1);
  const isClustered = new Uint8Array(runs.count);
  const shared: number[] = [];
  let kept = 0;
  for (let i = 0; i < runs.count; i++) {
    if ((runs.ends[i] as number) <= (runs.starts[i] as number)) continue;
    kept++;
    if (!mayOverlap) continue;
    const slot = (runs.slots[i] as number) - slotStart;
    const head = heads[slot] as number;
    if (head >= 0 && (next[head] as number) < 0) shared.push(slot);
    next[i] = head;
    heads[slot] = i;
  }
  const clusters: Cluster[] = [];
  for (const slot of shared) {
    const head = heads[slot] as number;
    if (!areApart(runs, head, next)) clusterSeries(runs, head, next, clusters, isClustered);
  }
  const single = new Uint32Array(kept);
  let count = 0;
  for (let i = 0; i < runs.count; i++) {
    if ((runs.ends[i] as number) > (runs.starts[i] as number) && isClustered[i] === 0) single[count++] = i;
  }
  return { single: single.subarray(0, count), clusters };
}

/** Whether each run of a series lies wholly behind that of the source before it: mostly so, and told without a list. */
function areApart(runs: RunList, head: number, next: Int32Array): boolean {
  for (let i = head, before = next[i] as number; before >= 0; i = before, before = next[i] as number) {
    if ((runs.firsts[i] as number) <= (runs.lasts[before] as number)) return false;
  }
  return true;
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
