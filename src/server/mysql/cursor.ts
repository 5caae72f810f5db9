/**
 * A cursor of a prepared statement: EXECUTE tells its columns, FETCH after FETCH sends as many rows as the client asks for. In between
 * the statement stands still, with what it holds.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { StatementResult } from "../../query/statement-result.ts";
import type { StatementRun } from "../wire/wire-session.ts";
import { Status } from "./packets.ts";
import { describeColumns, type OpenRows, openRows, sendResult } from "./results.ts";
import type { Talk } from "./talk.ts";

/** See the file header. */
export class Cursor {
  private readonly talk: Talk;
  private readonly run: StatementRun;
  private readonly results: AsyncIterator<StatementResult>;
  private readonly rows: OpenRows;

  private constructor(talk: Talk, run: StatementRun, results: AsyncIterator<StatementResult>, rows: OpenRows) {
    this.talk = talk;
    this.run = run;
    this.results = results;
    this.rows = rows;
  }

  /**
   * Begins a statement and tells its columns; one that gives no rows is run and answered.
   *
   * @returns undefined where there are no rows to fetch
   * @throws DbError
   */
  static async open(talk: Talk, run: StatementRun, statement: AsyncIterable<StatementResult>): Promise<Cursor | undefined> {
    const results = statement[Symbol.asyncIterator]();
    try {
      const { done, value: result } = await results.next();
      if (done === true) throw new DbError(StatusCode.Internal, "a statement gave no result");
      if (result.kind === "rows" && result.headers.length > 0) {
        describeColumns(talk.packets, result.headers);
        talk.endRows(false, Status.CursorExists);
        return new Cursor(talk, run, results, openRows(talk, result, true));
      }
      await sendResult(talk, result, { isBinary: true, hasMore: false, signal: run.signal });
    } catch (thrown) {
      await results.return?.();
      throw thrown;
    }
    await results.return?.();
    return undefined;
  }

  /** Sends the next rows, and whether they were the last. @returns false when they were @throws DbError */
  async fetch(count: number): Promise<boolean> {
    const { talk, run, rows } = this;
    const { packets, parts } = talk;
    run.resume();
    try {
      const context = { outgoing: packets.outgoing, scheduler: parts.scheduler };
      const hasMore = count === 0 || (await rows.stream.send(context, run.signal, count, rows.write)).hasMore;
      talk.endRows(false, hasMore ? Status.CursorExists : Status.LastRowSent);
      return hasMore;
    } finally {
      run.pause();
    }
  }

  /** Gives back what it holds. */
  async close(): Promise<void> {
    await this.rows.stream.close();
    await this.results.return?.();
  }
}
