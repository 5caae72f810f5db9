/**
 * Numbers the records that one thread of this process writes to its log: writes and deletes alike.
 *
 *   wal.beginRecord ─► next: what the record says of itself ─► encode ─► appended ─► wal.append       nothing comes between
 *
 * A number is used when its record is handed to the log, not before: a record that could not be built leaves no hole. One that the log
 * then fails to write does. It has been refused to its client and is never sent again, and the log's next record begins a new segment
 * (`storage/wal`), so its number stays without a record, and so does that of each record that went down with it. Within a segment a
 * hole is damage.
 */
import { assert } from "../../base/assert.ts";
import { type WriterId, writerId } from "../../base/units.ts";
import type { RecordOrigin } from "../../storage/memtable/record-origin.ts";

/** See the file header. One a log that is written, as long as the process writes it. */
export class LogWriter {
  readonly id: WriterId;
  private readonly catalogVersion: () => number;
  private last = 0;

  /** @param catalogVersion how far the catalogue has come that records are made by */
  constructor(catalogVersion: () => number, id: WriterId = newWriterId()) {
    this.id = id;
    this.catalogVersion = catalogVersion;
  }

  /** Number of the last record; 0 before the first. */
  get lastNumber(): number {
    return this.last;
  }

  /** What the next record says of itself, in the segment that it goes to. */
  next(segment: number): RecordOrigin {
    return { writer: this.id, number: this.last + 1, segment, catalogVersion: this.catalogVersion() };
  }

  /** Says that the record of the last `next` goes to the log now. */
  appended({ number }: RecordOrigin): void {
    assert(number === this.last + 1, `a record is appended before the next is numbered; got ${number} after ${this.last}`);
    this.last = number;
  }
}

/**
 * An id that no other writer has: 52 bits by chance. Two of a million writers have the same with a probability of 1 in 9,000, and one of
 * the `LOG_WRITERS_MAX` that a follower knows has that of a new one with 1 in 10^12. In front of them is a bit that is always set, so that
 * an id takes eight bytes in every record and a record's length does not depend on chance.
 */
export function newWriterId(): WriterId {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return writerId(2 ** 52 + (high % 2 ** 20) * 2 ** 32 + low);
}
