/** Records that wait for the log, in the order in which they came. */
import type { WalQueue } from "./wal.ts";

/** Most bytes written between two syncs, so that one huge group does not delay all others. */
const GROUP_BYTES_MAX = 16 * 1024 * 1024;

/** A record and who waits for it. */
export interface QueuedRecord {
  readonly segment: number;
  /** The record's header first. */
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Invariant: records are in the order of their sequences; each belongs to the segment of the one before or to a later one. */
export class RecordQueue {
  private records: QueuedRecord[] = [];
  private heldRecords = 0;
  private heldBytes = 0;

  get isEmpty(): boolean {
    return this.records.length === 0;
  }

  /** What waits or is being written. */
  get held(): WalQueue {
    return { records: this.heldRecords, bytes: this.heldBytes };
  }

  push(record: QueuedRecord): void {
    this.records.push(record);
    this.heldRecords++;
    this.heldBytes += record.bytes;
  }

  /** Takes the oldest records that share a segment, up to the group limit; at least one. They are held until `forget`. */
  takeGroup(): readonly QueuedRecord[] {
    const first = this.records[0] as QueuedRecord;
    let count = 0;
    let bytes = 0;
    while (count < this.records.length) {
      const next = this.records[count] as QueuedRecord;
      if (next.segment !== first.segment || (count > 0 && bytes + next.bytes > GROUP_BYTES_MAX)) break;
      bytes += next.bytes;
      count++;
    }
    return this.records.splice(0, count);
  }

  /** Takes the records of a segment, undefined: all. They are held until `forget`. */
  takeAllOf(segment: number | undefined): readonly QueuedRecord[] {
    const isTaken = (record: QueuedRecord): boolean => segment === undefined || record.segment === segment;
    const taken = this.records.filter(isTaken);
    this.records = this.records.filter((record) => !isTaken(record));
    return taken;
  }

  /** Says that records that were taken were answered. */
  forget(records: readonly QueuedRecord[]): void {
    this.heldRecords -= records.length;
    for (const { bytes } of records) this.heldBytes -= bytes;
  }
}
