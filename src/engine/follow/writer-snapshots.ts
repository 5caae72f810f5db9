/**
 * What was known of a log's writers as of some of its messages: a log is trimmed up to one of them, and whoever reads it again from there
 * has to begin with the same.
 */
import type { SavedWriters, Writers } from "../log/writers.ts";

/** Most that are kept; beyond it every second one goes. Reason: each has three numbers a writer, 100 KB of 4,096. */
const SNAPSHOTS_MAX = 256;

/** As of one message. */
export interface WriterSnapshot {
  /** What counts of all up to this message was taken. */
  readonly number: number;
  /** As of `LogStart`. */
  readonly from: number;
  /** Bytes of the log's messages that were taken until then, since it was begun to be read. */
  readonly bytes: number;
  readonly writers: SavedWriters;
}

interface Kept {
  readonly number: number;
  readonly from: number;
  readonly bytes: number;
  /** Writer, number and segment of each, as many bytes as they need. */
  readonly writers: Float64Array;
}

/** See the file header. Oldest first. */
export class WriterSnapshots {
  private kept: Kept[] = [];
  private newest: number;
  private readonly everyMin: number;
  private every: number;

  /**
   * @param start the message behind which the log is read
   * @param every messages between two
   */
  constructor(start: number, every: number) {
    this.newest = start;
    this.everyMin = every;
    this.every = every;
  }

  /** Takes one if it is time for it; call it after each message. */
  taken(number: number, from: number, bytes: number, writers: Writers): void {
    if (number - this.newest < this.every) return;
    this.newest = number;
    this.kept.push({ number, from, bytes, writers: Float64Array.from(writers.saved().flat()) });
    if (this.kept.length <= SNAPSHOTS_MAX) return;
    this.kept = this.kept.filter((_, i) => i % 2 === 0);
    this.every *= 2;
  }

  /** The newest up to a message. */
  upTo(number: number): WriterSnapshot | undefined {
    const found = this.kept.findLast((one) => one.number <= number);
    if (found === undefined) return undefined;
    const { writers: flat } = found;
    const writers = Array.from({ length: flat.length / 3 }, (_, i) => [flat[3 * i], flat[3 * i + 1], flat[3 * i + 2]] as const);
    return { number: found.number, from: found.from, bytes: found.bytes, writers: writers as unknown as SavedWriters };
  }

  /** `WriterSnapshot.bytes` of the newest up to a message; undefined: there is none. */
  bytesUpTo(number: number): number | undefined {
    return this.kept.findLast((one) => one.number <= number)?.bytes;
  }

  /** Forgets those up to a message: the log begins there. */
  forget(number: number): void {
    this.kept = this.kept.filter((one) => one.number > number);
    if (this.kept.length < SNAPSHOTS_MAX / 4) this.every = this.everyMin;
  }
}
