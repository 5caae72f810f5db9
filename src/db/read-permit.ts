/** What a read that is no SQL statement may take: time and memory of one statement. */

/** Held while the read runs. */
export interface ReadPermit {
  /** Fires when the session's does, and with DeadlineExceeded after `query.timeout`. */
  readonly signal: AbortSignal;
  /** Counts `bytes` more that the read holds. @throws DbError RuntimeResourcesExhausted */
  reserve(bytes: number): void;
  /** Gives `bytes` back. */
  release(bytes: number): void;
  /** Ends the read: all that is still held is given back. To be called once. */
  done(): void;
}
