/**
 * When a merge of fresh files may wait: while rows come in and a table's flushes follow each other closely, writers need the processor
 * more than scans need fewer files, provided that the files lie one after another in time, so that a scan of some minutes opens few.
 *
 *   flushes every second:   [ f ][ f ][ f ][ f ] … 16 of them, or a quarter of a second without a row ─► merge
 *
 * A row is then rewritten once less on its way to a large file. Measured: 2M log records, 16 flushes in 6 s on two cores, took 5.6 to
 * 5.9 us of processor time each, of which merging four files at a time was 1.1 to 1.3.
 */
import type { Clock } from "../../base/clock.ts";
import type { DataFile } from "../../storage/sst/data-file.ts";

/** A table is busy only while its flushes are this close to each other. */
const BUSY_MILLIS = 3000;
/** How often a busy table is looked at for new rows. */
const LOOK_MILLIS = 250;
/** Fresh files wait until they are this many times as many as merge otherwise. Reason: each is opened by scans of all times. */
const PATIENCE = 4;

/** What is seen of a table that takes rows. */
export interface FilledTable {
  /** Bytes of rows in the memtable being written. */
  readonly activeBytes: number;
}

/** Times are monotonic milliseconds. */
interface Seen {
  lastFlush: number;
  flushBefore: number;
  lastLook: number;
  /** What `activeBytes` was at the last look; -1 after a flush. */
  bytes: number;
}

/** See the file header. `T` is a table. */
export class MergePatience<T extends FilledTable> {
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private readonly seen: WeakMap<T, Seen> = new WeakMap();

  constructor(clock: Pick<Clock, "monotonicMillis">) {
    this.clock = clock;
  }

  /** Notes a flush of the table. */
  flushed(table: T): void {
    const now = this.clock.monotonicMillis();
    const flushBefore = this.seen.get(table)?.lastFlush ?? Number.NEGATIVE_INFINITY;
    this.seen.set(table, { lastFlush: now, flushBefore, lastLook: now, bytes: -1 });
  }

  /** Until when a busy table's fresh files may wait before it is looked at again, in monotonic milliseconds; undefined: it is calm. */
  busyUntil(table: T): number | undefined {
    const seen = this.seen.get(table);
    const now = this.clock.monotonicMillis();
    if (seen === undefined || seen.lastFlush - seen.flushBefore >= BUSY_MILLIS || now - seen.lastFlush >= BUSY_MILLIS) return undefined;
    if (now - seen.lastLook < LOOK_MILLIS) return seen.lastLook + LOOK_MILLIS;
    const { activeBytes } = table;
    if (activeBytes === seen.bytes) return undefined;
    seen.lastLook = now;
    seen.bytes = activeBytes;
    return now + LOOK_MILLIS;
  }
}

/**
 * Whether files picked for a merge can stay as they are for a while: fresh ones, not too many, none of which deletes rows, and nowhere as
 * many over each other as merge at least.
 *
 * @param newest sequence of the table's newest file
 */
export function mayWait(files: readonly DataFile[], newest: number, triggerFiles: number): boolean {
  const isFresh = files.some(({ sequence }) => sequence === newest);
  if (!isFresh || files.length >= triggerFiles * PATIENCE || files.some(({ tombstones }) => tombstones !== undefined)) return false;
  return depthOf(files) < triggerFiles;
}

/** Most files that have rows around one and the same time. */
function depthOf(files: readonly DataFile[]): number {
  let depth = 0;
  for (const { minTime: time } of files) {
    let over = 0;
    for (const { minTime, maxTime } of files) if (minTime <= time && maxTime >= time) over++;
    depth = Math.max(depth, over);
  }
  return depth;
}
