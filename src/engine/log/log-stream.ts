/**
 * A log stream: the records that one thread writes, in segments of their own. Each has a ledger, so that its segments go one by one.
 */
import { Turns } from "../../base/scheduler/turns.ts";
import type { Wal } from "../../storage/wal/wal.ts";
import { type LogHolders, LogLedger } from "./log-ledger.ts";

/** A stream as the owner of the tables sees it. */
export interface LogStream {
  /** 0: the stream of the thread that owns the tables; others are those of ingest threads. */
  readonly id: number;
  /** Which tables have rows in which of its segments. */
  readonly ledger: LogHolders;
  /** Bytes of all segments. */
  bytes(): number;
  /** Bytes that take as long to read as what flushes would let go of, be it many small messages. Absent: `bytes()`. */
  weight?(): number;
  /** The newest segment that the ledger may know of. */
  head(): number;
  /** The largest sequence that was read from it or told of, as far as its owner knows; undefined when there was none. */
  newestKnown(): number | undefined;
  /**
   * Deletes segments below `needed`. One above `head()` says that no row of the stream is needed: the segment being written goes as well,
   * unless it has records by now that the ledger does not know.
   *
   * @throws DbError StorageUnavailable; the next call tries again
   */
  trim(needed: number): Promise<void>;
  /** Whether a trim may delete more than the last one, though nothing was flushed since. Absent: it never may. */
  readonly wantsTrim?: boolean;
  /** Says that the next trim is the last one. */
  ending?(): void;
  /** Of a log that others write: begins it anew behind a number, all that was taken being in files. @throws DbError */
  goOnBehind?(number: number): Promise<void>;
  /** Why it takes no more writes, or undefined. */
  failure(): string | undefined;
  /** Ends it once nothing is written any more. @throws DbError StorageUnavailable when the last sync fails */
  close(): Promise<void>;
}

/** What is left of the log of an ingest thread of an earlier process. */
export interface ThreadLog {
  /** Id of its stream, from 1. */
  readonly id: number;
  /** Not recovered yet. */
  readonly wal: Wal;
  /** Deletes its folder, which has no segments any more. */
  remove(): Promise<void>;
}

/** A stream whose log this thread holds. Trims and its end run one at a time: nothing of it is deleted once another thread has it. */
export class LocalStream implements LogStream {
  readonly id: number;
  readonly wal: Wal;
  readonly ledger: LogLedger = new LogLedger();
  /** The largest sequence that a start read from it. */
  recovered: number | undefined;
  private readonly removeFolder: (() => Promise<void>) | undefined;
  private readonly turns: Turns = new Turns();
  private isClosed = false;

  /** @param removeFolder for a stream that nobody writes any more: called once its last segment is gone */
  constructor(id: number, wal: Wal, removeFolder?: () => Promise<void>) {
    this.id = id;
    this.wal = wal;
    this.removeFolder = removeFolder;
  }

  bytes(): number {
    return this.wal.segments().reduce((sum, segment) => sum + segment.bytes, 0);
  }

  head(): number {
    return this.wal.segments().at(-1)?.id ?? 0;
  }

  newestKnown(): number | undefined {
    return this.recovered;
  }

  trim(needed: number): Promise<void> {
    return this.turns.alone(async () => {
      if (this.isClosed) return;
      if (needed > this.head()) await this.wal.rotate(); // Nothing in the log is needed: let the newest segment go as well.
      await this.wal.trim(needed);
      if (!this.isGone) return;
      this.isClosed = true;
      await this.wal.close();
      await this.removeFolder?.();
    });
  }

  /** Whether nothing of it is left and nobody writes it. */
  get isGone(): boolean {
    return this.removeFolder !== undefined && this.wal.segments().length === 0;
  }

  failure(): string | undefined {
    return this.wal.failure();
  }

  close(): Promise<void> {
    return this.turns.alone(async () => {
      this.isClosed = true;
      await this.wal.close();
    });
  }
}
