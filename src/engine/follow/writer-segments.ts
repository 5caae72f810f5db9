/**
 * Segments of the writers of a followed log: what each has said of series, and from which message on the log has to be kept for it.
 *
 *   message  … │ 40: W begins its segment 7 │ 41 … 90 rows of it │ 91: W begins its segment 8 │ …
 *                 ▲ needed while rows of 40 … 90 are in memory only, and while records of segment 7 may still come
 *
 * A reader that begins behind message 40 cannot know what series the rows of segment 7 are of. So the log is kept from there on
 *
 *   - while any row of the segment is in memory only, and
 *   - while the segment is its writer's newest, until it is closed.
 *
 * It is closed once no record of it that comes later can have been acknowledged (`followed-stream.ts` knows when): such records are skipped
 * from then on, by this reader and by all that begin behind it.
 */
import type { TableId, WriterId } from "../../base/units.ts";
import type { FlushedSequences } from "../log/log-ledger.ts";
import { SeriesTranslator } from "../series/series-translator.ts";

/** A segment that the log is kept for. */
export interface WriterSegment {
  readonly writer: WriterId;
  readonly segment: number;
  /** The message that its first record begins in. */
  readonly first: number;
  /** Since when it has been in the log at least, monotonic milliseconds of this process: it was seen then, or by owners before. */
  readonly seenMillis: number;
  /** When a record of it came last. */
  heardMillis: number;
  readonly translator: SeriesTranslator;
  /** By region: the largest sequence of its rows, as far as they are not known to be flushed. */
  readonly rows: Map<TableId, number>;
}

/** See the file header. */
export class WriterSegments {
  /** The newest of each writer that is known, those apart that were closed. */
  private readonly newest: Map<WriterId, WriterSegment> = new Map();
  /** Earlier ones with rows that are in memory only. */
  private readonly former: Set<WriterSegment> = new Set();

  /** The newest segment of a writer. */
  of(writer: WriterId): WriterSegment | undefined {
    return this.newest.get(writer);
  }

  /** Begins a segment of a writer: its former ones say nothing any more. */
  begin(segment: Omit<WriterSegment, "translator" | "rows">): WriterSegment {
    this.end(segment.writer);
    const begun = { ...segment, translator: new SeriesTranslator(), rows: new Map<TableId, number>() };
    this.newest.set(segment.writer, begun);
    return begun;
  }

  /** Ends the newest segment of a writer: nothing of it counts from now on. */
  end(writer: WriterId): void {
    const ended = this.newest.get(writer);
    if (ended === undefined) return;
    this.newest.delete(writer);
    // What it has said of series is of no use here any more.
    if (ended.rows.size > 0) this.former.add({ ...ended, translator: new SeriesTranslator() });
  }

  /** The newest of all writers. */
  current(): IterableIterator<WriterSegment> {
    return this.newest.values();
  }

  /** The oldest message that rows in memory, or a newest segment, need; Infinity: none is. Forgets what no row needs. */
  oldestNeeded(flushed: FlushedSequences): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { first } of this.newest.values()) oldest = Math.min(oldest, first);
    for (const segment of this.former) {
      if (hasRows(segment, flushed)) oldest = Math.min(oldest, segment.first);
      else this.former.delete(segment);
    }
    return oldest;
  }

  /** Regions whose rows in memory keep the oldest message that any keep. */
  holders(flushed: FlushedSequences): readonly TableId[] {
    let oldest: WriterSegment | undefined;
    for (const segments of [this.newest.values(), this.former]) {
      for (const segment of segments) {
        if ((oldest === undefined || segment.first < oldest.first) && hasRows(segment, flushed)) oldest = segment;
      }
    }
    return oldest === undefined ? [] : [...oldest.rows.keys()];
  }

  /**
   * Messages `(from, end]` that only rows in memory keep: flushes let go of them.
   *
   * @param last of those that were taken
   * @param mayGetMore whether a segment keeps the log from its first message on, whatever is flushed
   */
  heldByRows(flushed: FlushedSequences, last: number, mayGetMore: (segment: WriterSegment) => boolean): { from: number; end: number } {
    let from = last;
    let end = last;
    for (const segment of this.newest.values()) {
      const isOpen = mayGetMore(segment);
      if (isOpen) end = Math.min(end, segment.first - 1);
      if (isOpen || hasRows(segment, flushed)) from = Math.min(from, segment.first - 1);
    }
    for (const segment of this.former) if (hasRows(segment, flushed)) from = Math.min(from, segment.first - 1);
    return { from, end };
  }

  /** Bytes of what is known of series. */
  get byteLength(): number {
    let bytes = 0;
    for (const { translator } of this.newest.values()) bytes += translator.byteLength;
    return bytes;
  }
}

/** Whether a segment has rows in memory only. Forgets those of it that are not. */
export function hasRows({ rows }: WriterSegment, flushed: FlushedSequences): boolean {
  for (const [region, sequence] of rows) {
    if (flushed.flushedSequence(region) < sequence) return true;
    rows.delete(region);
  }
  return false;
}
