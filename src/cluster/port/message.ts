/** What all parts of the port have in common. */

/** One message of a stream. */
export interface StreamMessage {
  /** Its place: 1 for the first of a stream. They rise, and fit a double: streams end before 2^53. */
  readonly number: number;
  /** Owned by whoever gets it. */
  readonly bytes: Uint8Array;
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the wait: the call fails with `cancelled`, a follower ends. What was sent is not taken back. */
  readonly signal?: AbortSignal | undefined;
}
