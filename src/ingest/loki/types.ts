/**
 * What the Loki decoder gives.
 */
import type { WriteBatch } from "../../table/write-batch.ts";

/** Why entries of a request are not in its batch. */
export interface LeftOut {
  readonly count: number;
  /** Why the first of them is not. */
  readonly reason: string;
}

/** The rows of one push. */
export interface LokiResult {
  /** Borrowed: valid until the decoder is used again. */
  readonly batch: WriteBatch;
  readonly rowCount: number;
  /** Malformed entries, which the protocol has nobody hear of but the server's log. */
  readonly skipped: LeftOut | undefined;
  /** Entries that are well-formed but cannot be kept: the client should know. */
  readonly refused: LeftOut | undefined;
  /** Streams, seen for the first time, whose label set cannot be read: their entries are kept without labels. */
  readonly unlabelled: LeftOut | undefined;
}

/** Why a body is no push request at all: nothing of it is kept. */
export class LokiBodyError extends Error {
  override readonly name = "LokiBodyError";
}
