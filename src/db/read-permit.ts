/** What a read that is no SQL statement may take: time and memory of one statement. */
import type { Deadline } from "../base/scheduler/cancel.ts";

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

/** A read that people see: it is on the list of statements, KILL ends it, and it is counted, timed and logged when it was slow. */
export interface QueryPermit extends ReadPermit {
  /** What it gives, piece by piece: it works only while a piece is asked for. Failures are noted. @param rowsOf rows of a piece */
  over<T>(pieces: AsyncIterable<T>, rowsOf: (piece: T) => number): AsyncGenerator<T>;
  /** It has given all at once. */
  gave(rows: number): void;
  /** Notes what ended it. */
  failed(thrown: unknown): void;
}

/** What a read that people see is. */
export interface ReadAsk {
  /** As metrics name it, e.g. "promql". */
  readonly kind: string;
  /** What ends it beside `query.timeout`. */
  readonly deadline?: Deadline;
  /** As the list of statements and the log show it. */
  readonly text: string;
  /** The moments of a PromQL query, for the log; milliseconds. */
  readonly times?: ReadTimes;
}

/** From, to, by. */
export interface ReadTimes {
  readonly startMillis: number;
  readonly endMillis: number;
  readonly stepMillis: number;
}
