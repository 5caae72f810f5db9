/**
 * The log of this thread, and what is known of its appends: backups ask what was acknowledged, and wait for what was begun.
 *
 * One callback a record; a record is a request.
 */
import type { Wal } from "../../storage/wal/wal.ts";

/** A log whose appends are watched. */
export interface WatchedWal {
  readonly wal: Wal;
  /** The largest sequence that became durable since the start, 0 when none did. */
  newest(): number;
  /** Resolves when all that was appended until now is durable or failed; never rejects. */
  settled(): Promise<void>;
}

/** Wraps a log: all its calls are the log's own. */
export function watchAppends(wal: Wal): WatchedWal {
  let newest = 0;
  /** Appends end in their order, so the last one ends when all have. */
  let last: Promise<unknown> = Promise.resolve();
  const watched: Wal = {
    recover: (onRecord, onLost) => wal.recover(onRecord, onLost),
    beginRecord: () => wal.beginRecord(),
    endSegment: () => wal.endSegment(),
    append(sequence, parts) {
      const appended = wal.append(sequence, parts);
      last = appended.then(
        () => {
          newest = Math.max(newest, sequence);
        },
        () => undefined, // Its caller sees it.
      );
      return appended;
    },
    queued: () => wal.queued(),
    segments: () => wal.segments(),
    rotate: () => wal.rotate(),
    trim: (segment) => wal.trim(segment),
    failure: () => wal.failure(),
    close: () => wal.close(),
  };
  return {
    wal: watched,
    newest: () => newest,
    settled: async () => {
      await last;
    },
  };
}
