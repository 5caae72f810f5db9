/**
 * What one statement did: how long it worked, how many rows it gave, how it ended. A SELECT works while its rows are read, so its batches
 * are timed one by one; what passes between two of them is the reader's.
 */
import type { Clock } from "../base/clock.ts";
import { DbError, toDbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import type { StatementResult } from "../query/statement-result.ts";

/** See the file header. */
export class TimedStatement {
  /** Milliseconds of work, the wait for disks and other threads included, that for the reader left out. */
  workedMillis = 0;
  /** Rows that it gave or changed. */
  rows = 0;
  private readonly clock: Pick<Clock, "monotonicMillis">;
  private readonly begunMillis: number;
  private failure: StatusCode | undefined;
  private since: number | undefined;

  /** Begins to work. */
  constructor(clock: Pick<Clock, "monotonicMillis">) {
    this.clock = clock;
    this.begunMillis = clock.monotonicMillis();
    this.since = this.begunMillis;
  }

  /** The statement's result; from here on it works only while its batches are asked for. */
  result(result: StatementResult): StatementResult {
    if (result.kind === "rows") return { ...result, batches: this.over(result.batches, ({ rowCount }) => rowCount) };
    this.gave(result.rowCount);
    return result;
  }

  /** It has given all at once, and works no more. */
  gave(rows: number): void {
    this.pause();
    this.rows = rows;
  }

  /** What it gives, piece by piece; from here on it works only while one is asked for. Failures are noted. */
  over<T>(pieces: AsyncIterable<T>, rowsOf: (piece: T) => number): AsyncGenerator<T> {
    this.pause();
    return this.timed(pieces, rowsOf);
  }

  /** Notes what ended it. */
  failed(thrown: unknown): void {
    this.failure ??= toDbError(thrown).code;
  }

  /** Ends the count. @returns how it ended, and milliseconds since it began */
  end(signal: AbortSignal): { readonly code: StatusCode; readonly millis: number } {
    this.pause();
    const left = signal.reason instanceof DbError ? signal.reason.code : StatusCode.Cancelled;
    const code = this.failure ?? (signal.aborted ? left : StatusCode.Success);
    return { code, millis: this.clock.monotonicMillis() - this.begunMillis };
  }

  private pause(): void {
    if (this.since !== undefined) this.workedMillis += this.clock.monotonicMillis() - this.since;
    this.since = undefined;
  }

  private async *timed<T>(pieces: AsyncIterable<T>, rowsOf: (piece: T) => number): AsyncGenerator<T> {
    this.since = this.clock.monotonicMillis();
    try {
      for await (const piece of pieces) {
        this.pause();
        this.rows += rowsOf(piece);
        yield piece;
        this.since = this.clock.monotonicMillis();
      }
    } catch (thrown) {
      this.failed(thrown);
      throw thrown;
    } finally {
      this.pause();
    }
  }
}
