/**
 * The rows of some series out of memtables, in the order of (slot, time), by the chains of `row-postings.ts`: for scans that want little of
 * what is in memory. `sortRows` is the other way to the same result, by a pass over all rows.
 */
import { pieceOf } from "../../base/bytes/binary-search.ts";
import { longer } from "../../base/bytes/longer-array.ts";
import type { MergeMode } from "../../table/schema.ts";
import type { TombstoneSet } from "../tombstone/tombstone-set.ts";
import type { Chunk } from "./chunk.ts";
import { isHidden } from "./hidden-rows.ts";
import { NO_ROW, type RowPostings } from "./row-postings.ts";
import { type ChunkRows, orderPlaced, type SortedRows } from "./sort-rows.ts";

/** A memtable as a scan sees it: the chunks of one moment, and the chains of its rows, which may know later ones. */
export interface MemtableView {
  readonly chunks: readonly Chunk[];
  /** Row number at which each chunk starts, and the row count. */
  readonly starts: Uint32Array;
  readonly postings: RowPostings;
  /** Of its rows; undefined when there are none. */
  readonly times: TimeSpan | undefined;
}

/** Oldest and newest time, both inclusive, in the unit of the time index. */
export interface TimeSpan {
  readonly min: bigint;
  readonly max: bigint;
}

/** Which rows are wanted. */
export interface RowPick {
  /** Times count from here; `[minOffset, maxOffset]` are wanted. */
  readonly base: bigint;
  readonly minOffset: number;
  readonly maxOffset: number;
  readonly slotCount: number;
  seriesOf(slot: number): number;
  /** Only rows with the newest time of their series within the range. */
  readonly newestOnly: boolean;
  /**
   * What the chunks delete of the wanted series; the age of a range is the place of its chunk through all memtables. Undefined:
   * nothing.
   */
  readonly tombstones: TombstoneSet | undefined;
  /** Rows to look at before giving up. */
  readonly visitsMax: number;
}

/** Rows that a list has room for at first, at least. */
const FOUND_MIN = 256;

/** A list that grows; `source` is the chunk through all memtables. */
class Found {
  count = 0;
  source: Uint32Array;
  row: Uint32Array;
  times: Float64Array;

  constructor(capacity: number) {
    this.source = new Uint32Array(capacity);
    this.row = new Uint32Array(capacity);
    this.times = new Float64Array(capacity);
  }

  grow(): void {
    this.source = longer(this.source);
    this.row = longer(this.row);
    this.times = longer(this.times);
  }

  /** Turns the order of entries `[from, count)` round. By hand: of 5,000 series with ten rows each, views took as long as all the rest. */
  reverse(from: number): void {
    const { source, row, times } = this;
    for (let low = from, high = this.count - 1; low < high; low++, high--) {
      const s = source[low]!;
      const r = row[low]!;
      const t = times[low]!;
      source[low] = source[high]!;
      row[low] = row[high]!;
      times[low] = times[high]!;
      source[high] = s;
      row[high] = r;
      times[high] = t;
    }
  }

  /** Keeps the entries from `from` on that have the newest time. */
  keepNewest(from: number): void {
    let newest = Number.NEGATIVE_INFINITY;
    for (let i = from; i < this.count; i++) if (this.times[i]! > newest) newest = this.times[i]!;
    let to = from;
    for (let i = from; i < this.count; i++) {
      if (this.times[i] !== newest) continue;
      this.source[to] = this.source[i]!;
      this.row[to] = this.row[i]!;
      this.times[to++] = newest;
    }
    this.count = to;
  }
}

/** The wanted rows; undefined when more than `visitsMax` rows would have to be looked at. Chains must be up to date. */
export function pickRows(memtables: readonly MemtableView[], pick: RowPick, mergeMode: MergeMode): SortedRows | undefined {
  const chunks = memtables.flatMap((memtable) => memtable.chunks);
  const offsets = Float64Array.from(chunks, ({ timeBase }) => Number(timeBase - pick.base));
  const found = new Found(Math.max(FOUND_MIN, pick.slotCount * 2));
  const starts = new Uint32Array(pick.slotCount + 1);
  let visits = 0;
  for (let slot = 0; slot < pick.slotCount; slot++) {
    const series = pick.seriesOf(slot);
    const from = found.count;
    // From the newest memtable and arrival back; turned round below.
    let firstChunk = chunks.length;
    for (let m = memtables.length - 1; m >= 0; m--) {
      const memtable = memtables[m] as MemtableView;
      firstChunk -= memtable.chunks.length;
      visits += walk(memtable, series, firstChunk, offsets, pick, found);
      if (visits > pick.visitsMax) return undefined;
    }
    if (pick.newestOnly) found.keepNewest(from);
    found.reverse(from);
    starts[slot + 1] = found.count;
  }
  const ordered = orderPlaced(placedOf(chunks, found), starts, found.times.subarray(0, found.count), mergeMode);
  return { ...ordered, tombstones: pick.tombstones };
}

/** Adds the wanted rows of one series of one memtable, newest arrival first. Returns the number of rows looked at. */
function walk(
  { chunks, starts, postings }: MemtableView,
  series: number,
  firstChunk: number,
  offsets: Float64Array,
  pick: RowPick,
  found: Found,
): number {
  const { minOffset, maxOffset, newestOnly, tombstones } = pick;
  const deleted = tombstones?.positionOf(series) ?? -1;
  const end = starts[chunks.length]!; // Rows from here on came after the snapshot.
  const lateness = postings.latenessOf(series);
  let oldest = minOffset; // Rows before it are of no interest.
  let visits = 0;
  let { count, source, row: rows, times } = found;
  for (let row = postings.headOf(series); row !== NO_ROW; row = postings.before(row)) {
    visits++;
    if (row >= end) continue;
    const c = pieceOf(starts, row);
    const chunk = chunks[c]!;
    const inChunk = row - starts[c]!;
    const time = offsets[firstChunk + c]! + chunk.times[inChunk]! * chunk.timeScale;
    if (time <= maxOffset && time >= oldest) {
      const isLeft = deleted < 0 || tombstones === undefined || !isHidden(tombstones, deleted, time, firstChunk + c);
      if (isLeft) {
        if (count === rows.length) {
          found.grow();
          ({ source, row: rows, times } = found);
        }
        source[count] = firstChunk + c;
        rows[count] = inChunk;
        times[count++] = time;
      }
      if (isLeft && newestOnly) oldest = time;
    }
    if (time + lateness < oldest) break; // So is every row that came before this one.
  }
  found.count = count;
  return visits;
}

/** The found rows by chunk; a row's position is its place in `found`. Rows of a chunk keep their order, so later ones still win. */
function placedOf(chunks: readonly Chunk[], found: Found): ChunkRows[] {
  const { count, source, row } = found;
  const cursors = new Uint32Array(chunks.length + 1);
  for (let i = 0; i < count; i++) cursors[source[i]! + 1] = cursors[source[i]! + 1]! + 1;
  for (let c = 1; c <= chunks.length; c++) cursors[c] = cursors[c]! + cursors[c - 1]!;
  const ends = cursors.slice(1);
  const rows = new Uint32Array(count);
  const positions = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const at = cursors[source[i]!]!;
    cursors[source[i]!] = at + 1;
    rows[at] = row[i]!;
    positions[at] = i;
  }
  const placed: ChunkRows[] = [];
  for (let c = 0, from = 0; c < chunks.length; c++) {
    const to = ends[c]!;
    if (to > from) placed.push({ chunk: chunks[c] as Chunk, rows: rows.subarray(from, to), positions: positions.subarray(from, to) });
    from = to;
  }
  return placed;
}
