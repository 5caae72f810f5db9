/**
 * A log of entries to which only who knows its last one can append: how owners of a shard, one after the other, agree on whose it is.
 * A stream of NATS JetStream with `Nats-Expected-Last-Subject-Sequence` is one; so is an object store with `If-None-Match`.
 */

import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** The log ends before an entry that was there: its servers have lost some. */
export class LogWentBack extends DbError {
  constructor(message: string, cause?: unknown) {
    super(StatusCode.StorageUnavailable, message, { cause });
  }
}

/** An entry, and its number: they rise, and need not follow each other. */
export interface LogEntry {
  readonly number: number;
  readonly text: string;
}

/** See the file header. */
export interface ConditionalLog {
  /**
   * Appends if the last entry is the one numbered `last` (0: there is none), durably.
   *
   * @returns its number; "refused": another is the last, and nothing was appended
   * @throws LogWentBack: it was not; DbError StorageUnavailable: nobody knows whether it was, or will be
   */
  append(text: string, last: number): Promise<number | "refused">;
  /** Entries above `number` that are kept, in order. @throws LogWentBack: the log ends before `number`; DbError StorageUnavailable */
  read(number: number): Promise<readonly LogEntry[]>;
  /** Lets entries below `number` go, sooner or later. Nobody waits for it: what stays does no harm. */
  trim(number: number): void;
}
