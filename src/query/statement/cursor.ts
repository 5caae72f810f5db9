/** Cursors: a query whose rows are fetched by several statements of one connection (contract query.md 1.11). */
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { invalidArguments } from "../../base/error.ts";
import type { Batch, ColumnHeader } from "../../column/batch.ts";
import { type Connection, connectionFor, CURSORS_MAX } from "../connection.ts";
import { sliceBatch } from "../../column/slice.ts";
import { answer } from "../operator/answer.ts";
import { type ExecOptions, prepareSelect } from "./shared/select.ts";
import type { QueryContext } from "../query-context.ts";
import type { CursorStatement } from "../sql/syntax/statement-ast.ts";
import { NO_ROWS_CHANGED, type StatementResult } from "../statement-result.ts";

type Of<K extends CursorStatement["kind"]> = Extract<CursorStatement, { kind: K }>;

/** A query that has been planned and gives its rows little by little. It reads its tables as they were when the first row was asked for. */
class Cursor {
  readonly headers: readonly ColumnHeader[];
  private readonly batches: AsyncIterator<Batch>;
  private readonly controller: AbortController;
  private readonly release: () => Promise<void>;
  /** Rows that were read and not given yet, from `next` on. */
  private batch: Batch | undefined;
  private next = 0;
  private isDone = false;

  /** @param release gives back the room that the query had */
  constructor(headers: readonly ColumnHeader[], batches: AsyncIterable<Batch>, controller: AbortController, release: () => Promise<void>) {
    this.headers = headers;
    this.batches = batches[Symbol.asyncIterator]();
    this.controller = controller;
    this.release = release;
  }

  /** The next rows, at most `count`. A signal that fires while they are computed ends the cursor. */
  async *fetch(count: number, signal: AbortSignal): AsyncGenerator<Batch> {
    const stop = (): void => this.controller.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      for (let wanted = count; wanted > 0; ) {
        throwIfCancelled(signal);
        if (!(await this.fill()) || this.batch === undefined) return;
        const taken = Math.min(wanted, this.batch.rowCount - this.next);
        const part = sliceBatch(this.batch, this.next, this.next + taken);
        this.next += taken;
        wanted -= taken;
        yield part;
      }
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Reads on when all rows that were read are given; false at the end. */
  private async fill(): Promise<boolean> {
    while (!this.isDone && (this.batch === undefined || this.next >= this.batch.rowCount)) {
      const { done, value } = await this.batches.next();
      this.batch = done === true ? undefined : value;
      this.isDone = done === true;
      this.next = 0;
    }
    return this.batch !== undefined;
  }

  /** Gives back what it holds. */
  async close(): Promise<void> {
    this.isDone = true;
    this.batch = undefined;
    this.controller.abort();
    await this.batches.return?.();
    await this.release();
  }
}

/** DECLARE: plans a query. @throws DbError InvalidArguments when the name is taken, and those of the query */
export async function declareCursor(
  { name, query }: Of<"declare-cursor">,
  context: QueryContext,
  options: ExecOptions,
): Promise<StatementResult> {
  const { cursors, signal } = connectionFor("DECLARE", context.variables.connection);
  if (cursors.has(name)) throw invalidArguments(`A cursor named ${name} already exists`);
  if (cursors.size >= CURSORS_MAX) throw invalidArguments(`cannot declare cursor ${name}: the connection has ${CURSORS_MAX}; close one`);
  const controller = new AbortController();
  // The cursor outlives the statement: neither its deadline nor its memory count.
  const own: QueryContext = { ...context, signal: AbortSignal.any([signal, controller.signal]) };
  const room = context.openRoom?.();
  const { memory: _, spill: __, ...rest } = options;
  try {
    const { plan, exec } = await prepareSelect(query, own, { ...rest, ...room?.options });
    cursors.set(name, new Cursor(plan.columns, answer(plan, exec, true), controller, async () => room?.close()));
  } catch (thrown) {
    await room?.close();
    throw thrown;
  }
  return NO_ROWS_CHANGED;
}

/** FETCH: the next rows of a cursor, none at its end. @throws DbError InvalidArguments when there is no such cursor */
export function fetchCursor({ name, count }: Of<"fetch">, context: QueryContext): StatementResult {
  const cursor = cursorNamed(name, "FETCH", context);
  return { kind: "rows", headers: cursor.headers, batches: cursor.fetch(count, context.signal) };
}

/** CLOSE. @throws DbError InvalidArguments when there is no such cursor */
export async function closeCursor({ name }: Of<"close-cursor">, context: QueryContext): Promise<StatementResult> {
  const cursor = cursorNamed(name, "CLOSE", context);
  context.variables.connection?.cursors.delete(name);
  await cursor.close();
  return NO_ROWS_CHANGED;
}

function cursorNamed(name: string, keyword: string, { variables }: QueryContext): ReturnType<Connection["cursors"]["get"]> & object {
  const cursor = connectionFor(keyword, variables.connection).cursors.get(name);
  if (cursor === undefined) throw invalidArguments(`Cursor ${name} is not found`);
  return cursor;
}
