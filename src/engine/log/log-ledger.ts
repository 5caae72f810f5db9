import type { TableId } from "../../base/units.ts";
/**
 * Which tables have rows in which log segment, so that a segment goes as soon as all of them are in files.
 */

/** What the ledger asks about a table. */
export interface FlushedSequences {
  /** Sequence up to which the table's rows are in files; Infinity when the table is gone. */
  flushedSequence(tableId: TableId): number;
}

/** What keeps a log from being trimmed. */
export interface LogHolders {
  /** The oldest segment that is still needed; `head` (the one being written) when none before it is. */
  oldestNeeded(flushed: FlushedSequences, head: number): number;
  /** Tables that keep the oldest segment before `head`; flushing them lets it go. */
  holders(flushed: FlushedSequences, head: number): TableId[];
}

/** Segments that hold rows which are only in the log and in memory. */
export class LogLedger implements LogHolders {
  /** Segment → table → largest sequence. Segments in ascending order. */
  private readonly segments: Map<number, Map<TableId, number>> = new Map();

  /** Notes that a record of `segment` holds rows of a table. */
  note(segment: number, tableId: TableId, sequence: number): void {
    let tables = this.segments.get(segment);
    if (tables === undefined) {
      tables = new Map();
      this.segments.set(segment, tables);
    }
    tables.set(tableId, Math.max(sequence, tables.get(tableId) ?? 0));
  }

  /** The oldest segment that is still needed; `head` (the one being written) when none before it is. Forgets those before. */
  oldestNeeded(flushed: FlushedSequences, head: number): number {
    for (const [segment, tables] of this.segments) {
      if (segment >= head) break;
      for (const [tableId, sequence] of tables) if (flushed.flushedSequence(tableId) < sequence) return segment;
      this.segments.delete(segment);
    }
    return head;
  }

  /** Tables that keep the oldest segment before `head`; flushing them lets it go. */
  holders(flushed: FlushedSequences, head: number): TableId[] {
    for (const [segment, tables] of this.segments) {
      if (segment >= head) break;
      const holding = [...tables].filter(([tableId, sequence]) => flushed.flushedSequence(tableId) < sequence);
      if (holding.length > 0) return holding.map(([tableId]) => tableId);
    }
    return [];
  }
}
