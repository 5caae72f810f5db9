/**
 * A log that others write and an engine follows, as the engine asks for it and is given it. Who reads it (`cluster/shard`) hands its
 * messages over one by one and in order (`Engine.follow`).
 */
import type { WriterId } from "../../base/units.ts";
import type { DecodedRecord } from "../../storage/memtable/write-record.ts";

/**
 * Sequences between two messages: the records of a message have the first of them, deletes of the engine the others.
 *
 *   sequence = number of the message * SEQUENCES_A_MESSAGE + place
 */
export const SEQUENCES_A_MESSAGE = 4096;

/** How often what is done. */
export interface FollowLimits {
  /** Messages between two at which the log may begin (`writer-snapshots.ts`). */
  readonly snapshotMessages: number;
  /** Least time between two trims: each is a commit of the manifest, and a call to the log. */
  readonly trimMillis: number;
}

/** What an engine asks of it. All calls fail with a DbError. */
export interface FollowedSource {
  /** Default: those of servers. */
  readonly limits?: FollowLimits | undefined;
  /** Number of the last message, as of a moment after the call. */
  last(): Promise<number>;
  /** Lets messages up to `through` go. Twice does no harm. */
  trim(through: number): Promise<void>;
  /** Appends a message without records; resolves once the engine was given it. */
  pad(): Promise<void>;
}

/** A record of it. */
export interface FollowedRecord extends DecodedRecord {
  readonly sequence: number;
  /** The message that it begins in: an earlier one where it came in parts. */
  readonly first: number;
}

/** What a writer says before it sends again what it was acknowledged (`cluster/log-message/FORMAT.md`). */
export interface FollowedResumption {
  readonly writer: WriterId;
  readonly number: number;
  readonly segment: number;
  readonly asks: boolean;
}

/** A message of it. */
export interface FollowedMessage {
  readonly number: number;
  readonly bytes: number;
  /** Those that are whole with this message. Their bytes are borrowed until the engine has taken the message. */
  readonly records: readonly FollowedRecord[];
  /** The message that a record begins in which is not whole yet; undefined: there is none. */
  readonly open: number | undefined;
  readonly resumption?: FollowedResumption | undefined;
  /** Why its bytes are not those that were written; it has no records then. */
  readonly damaged?: string | undefined;
}
