/** What functions may read besides their arguments. */
export interface Environment {
  /** Start of the statement, nanoseconds since the epoch: `now()` is one moment within a statement. */
  readonly now: bigint;
  /** Canonical zone of the session. */
  readonly timeZone: string;
  /** Current database of the session. */
  readonly database: string;
}
