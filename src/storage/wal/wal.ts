/**
 * The write-ahead log as the engine sees it: records go in, come back in order after a crash.
 *
 * A record is opaque bytes with a sequence. Records live in segments; a segment is dropped as a whole once every record in it is
 * no longer needed. Whoever writes a record may rely on earlier records of the same segment (that is how series are defined once a
 * segment), so it asks `beginRecord` for the segment and calls `append` before anything else can.
 */

/**
 * Promise that a write survives a power loss: always = synced before `append` resolves; interval = at most `syncIntervalMs` later; never =
 * up to the system.
 */
export type WalSync = "always" | "interval" | "never";

/** What to do with bytes in the middle of the log that fail their checksum. */
export type WalRecovery =
  /** Refuse to start. */
  | "strict"
  /** Skip to the next intact record and report what was lost. */
  | "skip_corrupt";

/** Gaps that a report lists. Reason: they go into one line of the server's log. */
export const WAL_GAPS_MAX = 20;

/** One record read back. `payload` is valid until the next record is asked for. */
export interface WalRecord {
  readonly segment: number;
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** A place at which records are missing or damaged. */
export interface WalGap {
  /** The segment that is damaged, or is not there. */
  readonly segment: number;
  /** Bytes that are lost, as far as anything says. */
  readonly bytes: number;
  /** Sequences of the last record before and the first one behind it; undefined where there is none. What is lost lies between them. */
  readonly afterSequence: number | undefined;
  readonly beforeSequence: number | undefined;
}

/** What recovery found and did. */
export interface WalRecoveryReport {
  readonly segments: number;
  readonly records: number;
  readonly bytes: number;
  /** Bytes cut off the end of the newest segment: a write that was never acknowledged. */
  readonly tornTailBytes: number;
  /** Bytes skipped or missing in the middle; 0 unless the recovery mode allows loss. */
  readonly lostBytes: number;
  /** Segments that are not there, at least; 0 likewise. */
  readonly lostSegments: number;
  /** Where, the first `WAL_GAPS_MAX` of them. */
  readonly gaps: readonly WalGap[];
}

/** State of one segment. */
export interface WalSegment {
  readonly id: number;
  readonly bytes: number;
}

/** What waits to be written and synced. */
export interface WalQueue {
  readonly records: number;
  /** Bytes of them, headers included; most lie on the memory of memtables. */
  readonly bytes: number;
}

/** See the file header. */
export interface Wal {
  /**
   * Reads all records, oldest first, then makes the log ready to append. Must be called once, before anything else. `onLost` hears of
   * records that are skipped: their damaged payload, borrowed until it returns, or undefined where no record can be told apart.
   *
   * @throws DbError StorageUnavailable when bytes in the middle are damaged and the recovery mode is "strict"
   */
  recover(
    onRecord: (record: WalRecord) => Promise<void> | void,
    onLost?: (payload: Uint8Array | undefined) => void,
  ): Promise<WalRecoveryReport>;
  /** The segment that the next `append` goes to; starts a new one when the current one is full or failed. */
  beginRecord(): number;
  /** Has the next record begin a segment: it must not rely on what earlier ones define. */
  endSegment(): void;
  /**
   * Appends one record and resolves once it is as durable as the sync mode promises. Records become durable in the order of
   * `append` calls. `parts` are written one after another and borrowed until the promise settles.
   *
   * @throws DbError StorageUnavailable: nothing of the record will be replayed, unless the process ends before `failure()` says that
   *   the log is in order again, and the current segment takes no more records; InvalidArguments when the record is longer than a log
   *   record may be
   */
  append(sequence: number, parts: readonly Uint8Array[]): Promise<void>;
  /** What waits to be written and synced now. */
  queued(): WalQueue;
  /** Segments on disk, oldest first; the last one is being written. */
  segments(): readonly WalSegment[];
  /** Ends the segment being written, so that it can be trimmed; the next record starts another. No effect while records wait. */
  rotate(): Promise<void>;
  /** Deletes all complete segments with an id below `segment`. @throws DbError StorageUnavailable; the next call tries again */
  trim(segment: number): Promise<void>;
  /**
   * Why the log takes no writes now, or undefined. It goes on by itself once its disk works; what may hold it is a segment whose
   * acknowledged rows are in doubt, so whoever flushes rows to files and trims the log helps it.
   */
  failure(): string | undefined;
  /** Syncs what is queued and closes the files; later appends are refused. @throws DbError StorageUnavailable when the last sync fails */
  close(): Promise<void>;
}
