/**
 * Takes deleted rows out of runs before anything is merged: a run of an older source is cut where a newer one deletes.
 *
 *   run of file 1          [ 0 1 2 3 4 5 6 7 8 ]           becomes   [ 0 1 ] [ 5 6 7 8 ]
 *   tombstones of file 2         |---|                     so no row of it has to be merged
 *
 * What is left are rows that nothing newer deletes, in every merge mode. Runs that no range touches are not looked at, and a run that one
 * range covers goes without being read.
 */
import { firstNumberFrom } from "../../../base/bytes/binary-search.ts";
import { assert } from "../../../base/assert.ts";
import type { TombstoneSet } from "../../tombstone/tombstone-set.ts";
import { RunList } from "./run-list.ts";
import type { ScanSource } from "./scan-source.ts";

/** What the source numbered `source` deletes of those before it. */
export interface SourceTombstones {
  readonly source: number;
  readonly set: TombstoneSet;
}

/**
 * The runs without deleted rows, in their order. Times of runs and of all sets count from one base.
 *
 * @param seriesOf the series of a slot, as the sets know it
 */
export async function carveRuns(
  runs: RunList,
  sources: readonly ScanSource[],
  tombstones: readonly SourceTombstones[],
  seriesOf: (slot: number) => number,
): Promise<RunList> {
  if (tombstones.length === 0) return runs;
  const carved = new RunList();
  for (let i = 0; i < runs.count; i++) {
    const start = runs.starts[i] as number;
    const end = runs.ends[i] as number;
    if (end <= start) continue;
    const source = runs.sources[i] as number;
    const slot = runs.slots[i] as number;
    const run = { start, end, first: runs.firsts[i] as number, last: runs.lasts[i] as number };
    const hidden = rangesOver(tombstones, source, seriesOf(slot), run.first, run.last);
    if (hidden.length === 0) carved.push(slot, source, start, end, run.first, run.last);
    else await carveRun(run, slot, source, hidden, sources[source] as ScanSource, carved);
  }
  return carved;
}

interface Run {
  readonly start: number;
  readonly end: number;
  readonly first: number;
  readonly last: number;
}

/** A range of deleted time, inclusive. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** Ranges of newer sources that touch `[first, last]`, ascending and apart. */
function rangesOver(tombstones: readonly SourceTombstones[], source: number, series: number, first: number, last: number): Range[] {
  const found: Range[] = [];
  let setCount = 0;
  for (const { source: newer, set } of tombstones) {
    if (newer <= source) continue;
    const position = set.positionOf(series);
    if (position < 0) continue;
    const before = found.length;
    const end = set.ends[position] as number;
    for (let i = set.firstFrom(position, first); i < end && (set.firsts[i] as number) <= last; i++) {
      found.push({ first: set.firsts[i] as number, last: set.lasts[i] as number });
    }
    if (found.length > before) setCount++;
  }
  return setCount > 1 ? joined(found) : found;
}

function joined(ranges: Range[]): Range[] {
  ranges.sort((a, b) => a.first - b.first);
  const apart: { first: number; last: number }[] = [];
  for (const { first, last } of ranges) {
    const before = apart.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else apart.push({ first, last });
  }
  return apart;
}

async function carveRun(
  run: Run,
  slot: number,
  source: number,
  hidden: readonly Range[],
  rows: ScanSource,
  carved: RunList,
): Promise<void> {
  const [only] = hidden;
  if (hidden.length === 1 && only !== undefined && only.first <= run.first && only.last >= run.last) return;
  const times = await timesOf(rows, run);
  let from = 0;
  const keep = (to: number): void => {
    if (to > from) carved.push(slot, source, run.start + from, run.start + to, times[from] as number, times[to - 1] as number);
  };
  for (const { first, last } of hidden) {
    const start = firstNumberFrom(times, first, from);
    const end = firstNumberFrom(times, last + 1, start);
    if (start === end) continue; // Nothing there: two pieces would be read as one anyway.
    keep(start);
    from = end;
  }
  keep(times.length);
}

/** Times of all rows of a run. */
async function timesOf(rows: ScanSource, { start, end }: Run): Promise<Float64Array> {
  const times = new Float64Array(end - start);
  let at = 0;
  for (const { vector, from, to } of await rows.times([{ start, end }])) {
    assert(vector?.kind === "time", `times come as a time vector; got ${vector?.kind}`);
    times.set(vector.offsets.subarray(from, to), at);
    at += to - from;
  }
  assert(at === times.length, `times of ${times.length} rows; got ${at}`);
  return times;
}
