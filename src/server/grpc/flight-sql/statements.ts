/**
 * CommandStatementQuery, its TicketStatementQuery, and CommandStatementUpdate: one statement as text.
 *
 * GetFlightInfo of a query plans it and gives its schema and a ticket; DoGet runs it. Nothing is kept in between: the ticket is the text
 * itself, with a random number by which the run can be cancelled, so that a client which never fetches holds nothing. Planning twice costs
 * little, since plans of texts that came lately are kept.
 *
 *   statement_handle = number of the query (16 bytes)  text (UTF-8)
 *
 * A statement that gives no rows (DDL, INSERT) is run by GetFlightInfo and has no ticket: drivers send every statement this way and fetch
 * when, and if, they like.
 */
import { create } from "@bufbuild/protobuf";
import {
  type CommandStatementQuery,
  type CommandStatementUpdate,
  type TicketStatementQuery,
  TicketStatementQuerySchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { DbError } from "../../../base/error.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import { encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import type { ParameterValue, PreparedQuery } from "../../../query/prepared-query.ts";
import type { StatementResult } from "../../../query/statement-result.ts";
import { packed } from "./any.ts";
import type { FlightCaller } from "./caller.ts";
import { type FlightAnswer, NO_COLUMNS, resultAnswer } from "./flight-answer.ts";
import { QUERY_ID_BYTES, type RunningQueries } from "./running-queries.ts";
import type { FlightSessions } from "./sessions.ts";
import { statementColumns } from "./statement-columns.ts";

/** What commands run against. */
export interface FlightSqlParts {
  readonly db: Db;
  readonly sessions: FlightSessions;
  readonly running: RunningQueries;
  readonly scheduler: Scheduler;
}

/** What GetFlightInfo tells of a command. */
export interface CommandInfo {
  /** IPC message; no bytes where only running tells. */
  readonly schema: Uint8Array<ArrayBuffer>;
  /** What to fetch; undefined: there is nothing. */
  readonly ticket: Uint8Array<ArrayBuffer> | undefined;
  /** Rows that were changed; -1: unknown. */
  readonly rowCount: number;
}

/** Schema of what only running tells. */
export const UNKNOWN_SCHEMA: Uint8Array<ArrayBuffer> = new Uint8Array(0);

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Refuses what belongs to a transaction. @throws DbError Unsupported */
export function refuseTransaction(transactionId: Uint8Array | undefined): void {
  if (transactionId === undefined || transactionId.length === 0) return;
  throw new DbError(StatusCode.Unsupported, "there are no transactions: send statements without a transaction id");
}

/** Schema of a query, without running it. @throws DbError */
export function statementSchema(
  command: CommandStatementQuery,
  caller: FlightCaller,
  parts: FlightSqlParts,
): Promise<Uint8Array<ArrayBuffer>> {
  const { query: text, transactionId } = command;
  refuseTransaction(transactionId);
  return parts.sessions.as(caller, async (session) => {
    const columns = await statementColumns(await parts.db.prepare(text, session), parts.db, session);
    return columns.kind === "none" ? NO_COLUMNS : columns.kind === "unknown" ? UNKNOWN_SCHEMA : encodeArrowSchema(columns.columns);
  });
}

/** GetFlightInfo. @throws DbError */
export function statementInfo(command: CommandStatementQuery, caller: FlightCaller, parts: FlightSqlParts): Promise<CommandInfo> {
  const { query: text, transactionId } = command;
  refuseTransaction(transactionId);
  return parts.sessions.as(caller, async (session) => {
    const query = await parts.db.prepare(text, session);
    const columns = await statementColumns(query, parts.db, session);
    if (columns.kind === "none")
      return { schema: NO_COLUMNS, ticket: undefined, rowCount: await changedRows(query, [], session, parts.db) };
    const handle = Buffer.concat([parts.running.newId(), encoder.encode(text)]);
    const ticket = packed(TicketStatementQuerySchema, create(TicketStatementQuerySchema, { statementHandle: handle }));
    return { schema: columns.kind === "known" ? encodeArrowSchema(columns.columns) : UNKNOWN_SCHEMA, ticket, rowCount: -1 };
  });
}

/** DoGet of a statement's ticket. @throws DbError */
export async function statementAnswer(
  { statementHandle }: TicketStatementQuery,
  caller: FlightCaller,
  parts: FlightSqlParts,
): Promise<FlightAnswer> {
  const run = parts.running.begin(statementHandle.subarray(0, QUERY_ID_BYTES), caller.user.name, caller.signal);
  try {
    const session = parts.sessions.sessionOf(caller, run.signal);
    const query = await parts.db.prepare(textOf(statementHandle), session);
    const answer = await answerOf(parts.db.execute(query, [], session));
    return endingWith(answer, () => {
      parts.sessions.keep(caller, session);
      run.end();
    });
  } catch (thrown) {
    run.end();
    throw thrown;
  }
}

/** Runs a statement for its count of rows, -1 where it has none. @throws DbError */
export function statementUpdate(command: CommandStatementUpdate, caller: FlightCaller, parts: FlightSqlParts): Promise<number> {
  const { query, transactionId } = command;
  refuseTransaction(transactionId);
  return parts.sessions.as(caller, async (session) => changedRows(await parts.db.prepare(query, session), [], session, parts.db));
}

/** Runs a statement to its end. @returns rows that it changed; -1 where it gave rows @throws DbError */
export async function changedRows(query: PreparedQuery, values: readonly ParameterValue[], session: Session, db: Db): Promise<number> {
  let rowCount = -1;
  for await (const result of db.execute(query, values, session)) {
    if (result.kind === "affected") {
      rowCount = result.rowCount;
      continue;
    }
    // What it gives is not wanted, but what it does may be (ADMIN).
    for await (const batch of result.batches) void batch;
  }
  return rowCount;
}

/** The one result of a run as an answer, which ends the run with it. @throws DbError */
async function answerOf(results: AsyncIterable<StatementResult>): Promise<FlightAnswer> {
  const iterator = results[Symbol.asyncIterator]();
  const { done, value: result } = await iterator.next();
  if (done === true) throw new DbError(StatusCode.Internal, "a statement gave no result");
  return endingWith(resultAnswer(result), async () => {
    await iterator.return?.();
  });
}

/** An answer that does something once its batches have been read, or will not be. */
export function endingWith(answer: FlightAnswer, end: () => void | Promise<void>): FlightAnswer {
  const close = async (): Promise<void> => {
    await answer.close?.();
    await end();
  };
  return { ...answer, close };
}

function textOf(handle: Uint8Array): string {
  try {
    if (handle.length >= QUERY_ID_BYTES) return decoder.decode(handle.subarray(QUERY_ID_BYTES));
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
  }
  throw new DbError(
    StatusCode.InvalidArguments,
    "the statement handle is none of this server's: ask for the statement by GetFlightInfo again",
  );
}
