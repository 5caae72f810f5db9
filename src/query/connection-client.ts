/** What a protocol tells of a connection's client. */
export interface ConnectionClient {
  /** Number of the connection, as KILL knows it. */
  readonly id?: number;
  /** Who it is, as `user()` tells: `name@host`. */
  readonly user?: string;
}
