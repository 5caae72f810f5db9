/**
 * Prepared statements: ActionCreatePreparedStatementRequest and …CloseRequest, CommandPreparedStatementQuery (by DoPut it binds values,
 * by GetFlightInfo it is asked for, by DoGet it runs), CommandPreparedStatementUpdate.
 *
 *   create ─► handle ──DoPut (rows of values)──► bound ──GetFlightInfo──► ticket ──DoGet──► rows of each run, one after another
 *                 └────DoPut update (rows of values)──► runs for all rows (`update-runs.ts`), or once where it has no parameters
 *
 *   ticket = CommandPreparedStatementQuery of: handle (16 bytes)  number of the binding (4)  number of the query (16)
 *
 * A ticket is good for the binding that it was made for: values that were bound since must not answer for those before.
 */
import { create } from "@bufbuild/protobuf";
import {
  type ActionCreatePreparedStatementRequest,
  ActionCreatePreparedStatementResultSchema,
  CommandPreparedStatementQuerySchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { DbError } from "../../../base/error.ts";
import { throwIfCancelled } from "../../../base/scheduler/cancel.ts";
import { Pace } from "../../../base/scheduler/pace.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { sameType } from "../../../column/data-type.ts";
import type { Session } from "../../../db/session.ts";
import { encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import { bytesOfStatement, type KeptMemory } from "../../../query/kept-statements.ts";
import type { PreparedQuery } from "../../../query/prepared-query.ts";
import { packed } from "./any.ts";
import type { ArrowInput } from "./arrow-input.ts";
import type { FlightCaller } from "./caller.ts";
import { encoded, type FlightAnswer, NO_COLUMNS, resultAnswer } from "./flight-answer.ts";
import { HANDLE_BYTES, Handles } from "./handles.ts";
import { BOUND_ROWS_MAX, PREPARED_IDLE_MS, PREPARED_OF_ALL_MAX, PREPARED_PER_USER_MAX } from "./limits.ts";
import { bytesOfRow, type ParameterRow, parameterRows, parameterSchema } from "./parameters.ts";
import { QUERY_ID_BYTES } from "./running-queries.ts";
import { type StatementColumns, statementColumns } from "./statement-columns.ts";
import { type CommandInfo, endingWith, type FlightSqlParts, refuseTransaction, UNKNOWN_SCHEMA } from "./statements.ts";
import { outOfMemory, runUpdates } from "./update-runs.ts";

const LIMITS = {
  noun: "prepared statement",
  perUserMax: PREPARED_PER_USER_MAX,
  ofAllMax: PREPARED_OF_ALL_MAX,
  idleMillis: PREPARED_IDLE_MS,
};
const BINDING_BYTES = 4;
const TICKET_BYTES: number = HANDLE_BYTES + BINDING_BYTES + QUERY_ID_BYTES;

/** A statement that is kept. */
interface Prepared {
  readonly query: PreparedQuery;
  readonly columns: StatementColumns;
  /** The database that its names were looked up in. */
  readonly database: string;
  readonly bytes: number;
  /** Rows of values, one without any to begin with where none are needed; undefined: they have not been given. */
  bound: readonly ParameterRow[] | undefined;
  /** Counts bindings. */
  binding: number;
  boundBytes: number;
}

/** See the file header. */
export class PreparedStatements {
  private readonly parts: FlightSqlParts;
  private readonly memory: KeptMemory;
  private readonly kept: Handles<Prepared>;

  /** @param now monotonic milliseconds */
  constructor(parts: FlightSqlParts, memory: KeptMemory, now: () => number) {
    this.parts = parts;
    this.memory = memory;
    this.kept = new Handles(LIMITS, now, ({ bytes, boundBytes }) => memory.release(bytes + boundBytes));
  }

  /** How many are kept. */
  get size(): number {
    return this.kept.size;
  }

  /** CreatePreparedStatement. @returns its result as Any @throws DbError */
  create({ query: text, transactionId }: ActionCreatePreparedStatementRequest, caller: FlightCaller): Promise<Uint8Array<ArrayBuffer>> {
    refuseTransaction(transactionId);
    this.kept.checkRoom(caller.user.name);
    const { db, sessions } = this.parts;
    return sessions.as(caller, async (session) => {
      const query = await db.prepare(text, session);
      const columns = await statementColumns(query, db, session);
      const bytes = bytesOfStatement(text);
      if (!this.memory.keep(bytes)) throw outOfMemory("one more prepared statement");
      const bound = query.parameters.length === 0 ? [[]] : undefined;
      const prepared: Prepared = { query, columns, database: session.database, bytes, bound, binding: 0, boundBytes: 0 };
      const handle = this.keepOrRelease(caller, prepared);
      const result = create(ActionCreatePreparedStatementResultSchema, {
        preparedStatementHandle: handle,
        datasetSchema: columns.kind === "known" ? encodeArrowSchema(columns.columns) : new Uint8Array(0),
        parameterSchema: query.parameters.length === 0 ? new Uint8Array(0) : parameterSchema(query.parameters),
      });
      return packed(ActionCreatePreparedStatementResultSchema, result);
    });
  }

  private keepOrRelease(caller: FlightCaller, prepared: Prepared): Uint8Array<ArrayBuffer> {
    try {
      return this.kept.add(caller.user.name, prepared);
    } catch (thrown) {
      this.memory.release(prepared.bytes);
      throw thrown;
    }
  }

  /** ClosePreparedStatement: one that is not there is closed. */
  close(handle: Uint8Array, caller: FlightCaller): void {
    this.kept.close(caller.user.name, handle);
  }

  /** DoPut of CommandPreparedStatementQuery: binds rows of values in place of those before. @throws DbError */
  async bind(handle: Uint8Array, input: ArrowInput | undefined, caller: FlightCaller): Promise<void> {
    const prepared = this.kept.get(caller.user.name, handle);
    const count = prepared.query.parameters.length;
    const rows: ParameterRow[] = [];
    let bytes = 0;
    try {
      const pace = this.paceOf(caller.signal);
      for await (const some of input === undefined ? [] : parameterRows(input, count)) {
        await pace.turn();
        if (rows.length + some.length > BOUND_ROWS_MAX) {
          const why = `a query takes ${BOUND_ROWS_MAX} rows of parameters at most`;
          throw new DbError(StatusCode.InvalidArguments, `cannot bind parameters: ${why}; send them in parts, or by an update`);
        }
        const more = some.reduce((sum, row) => sum + bytesOfRow(row), 0);
        if (!this.memory.keep(more)) throw outOfMemory("the values of a prepared statement");
        bytes += more;
        for (const row of some) rows.push(row);
      }
      // It may have been closed while its values came.
      if (this.kept.get(caller.user.name, handle) !== prepared)
        throw new DbError(StatusCode.IllegalState, "the prepared statement was closed");
    } catch (thrown) {
      this.memory.release(bytes);
      throw thrown;
    }
    this.memory.release(prepared.boundBytes);
    prepared.boundBytes = bytes;
    prepared.bound = count === 0 && rows.length === 0 ? [[]] : rows;
    prepared.binding = (prepared.binding + 1) >>> 0;
  }

  private paceOf(signal: AbortSignal): Pace {
    return new Pace(this.parts.scheduler, () => throwIfCancelled(signal));
  }

  /** GetSchema. @throws DbError */
  schema(handle: Uint8Array, caller: FlightCaller): Uint8Array<ArrayBuffer> {
    return schemaOf(this.kept.get(caller.user.name, handle).columns);
  }

  /** GetFlightInfo: a ticket; what gives no rows is run, once a row of its values. @throws DbError */
  async info(handle: Uint8Array, caller: FlightCaller): Promise<CommandInfo> {
    const prepared = this.kept.get(caller.user.name, handle);
    const schema = schemaOf(prepared.columns);
    if (prepared.columns.kind === "none")
      return { schema, ticket: undefined, rowCount: await this.runAll(prepared, [boundOf(prepared)], caller) };
    boundOf(prepared);
    const binding = Buffer.alloc(BINDING_BYTES);
    binding.writeUInt32LE(prepared.binding);
    const ticketHandle = Buffer.concat([handle, binding, this.parts.running.newId()]);
    const command = create(CommandPreparedStatementQuerySchema, { preparedStatementHandle: ticketHandle });
    return { schema, ticket: packed(CommandPreparedStatementQuerySchema, command), rowCount: -1 };
  }

  /** DoGet. @param ticket of `info`, or the handle alone @throws DbError */
  async answer(ticket: Uint8Array, caller: FlightCaller): Promise<FlightAnswer> {
    const handle = ticket.subarray(0, HANDLE_BYTES);
    const prepared = this.kept.get(caller.user.name, ticket.length === TICKET_BYTES ? handle : ticket);
    if (ticket.length === TICKET_BYTES && Buffer.from(ticket).readUInt32LE(HANDLE_BYTES) !== prepared.binding) {
      const why = "other parameters were bound since it was given";
      throw new DbError(StatusCode.InvalidArguments, `the ticket of the prepared statement is over: ${why}; ask GetFlightInfo again`);
    }
    const rows = boundOf(prepared);
    const run = this.parts.running.begin(ticket.subarray(HANDLE_BYTES + BINDING_BYTES), caller.user.name, caller.signal);
    try {
      const session = { ...this.parts.sessions.sessionOf(caller, run.signal), database: prepared.database };
      return endingWith(await this.answerOfRows(prepared, rows, session), () => run.end());
    } catch (thrown) {
      run.end();
      throw thrown;
    }
  }

  /** Rows of the runs of all rows of values, which all have the columns of the first. */
  private async answerOfRows(prepared: Prepared, rows: readonly ParameterRow[], session: Session): Promise<FlightAnswer> {
    const { db } = this.parts;
    const [first, ...others] = rows;
    if (first === undefined) {
      const columns = prepared.columns.kind === "known" ? prepared.columns.columns : [];
      return { schema: encodeArrowSchema(columns), batches: (async function* () {})() };
    }
    const results = db.execute(prepared.query, first, session)[Symbol.asyncIterator]();
    const { done, value: result } = await results.next();
    if (done === true) throw new DbError(StatusCode.Internal, "a statement gave no result");
    const { schema, batches } = resultAnswer(result);
    const headers = result.kind === "rows" ? result.headers : [];
    const close = async (): Promise<void> => void (await results.return?.());
    const pace = this.paceOf(session.signal);
    async function* all(): AsyncIterable<Uint8Array<ArrayBuffer>> {
      yield* batches;
      await close();
      for (const values of others) {
        await pace.turn();
        for await (const each of db.execute(prepared.query, values, session)) {
          if (each.kind !== "rows") continue;
          checkColumns(each.headers, headers);
          yield* encoded(headers, each.batches);
        }
      }
    }
    return { schema, batches: all(), close };
  }

  /** DoPut of CommandPreparedStatementUpdate: runs once a row that comes, or with what is bound. @returns rows changed @throws DbError */
  async update(handle: Uint8Array, input: ArrowInput | undefined, caller: FlightCaller): Promise<number> {
    const prepared = this.kept.get(caller.user.name, handle);
    const count = prepared.query.parameters.length;
    if (count === 0 || input === undefined) return this.runAll(prepared, [boundOf(prepared)], caller);
    return this.runAll(prepared, parameterRows(input, count), caller);
  }

  private runAll(
    { query, database }: Prepared,
    rows: AsyncIterable<readonly ParameterRow[]> | Iterable<readonly ParameterRow[]>,
    caller: FlightCaller,
  ): Promise<number> {
    const { sessions } = this.parts;
    const run = (session: Session): Promise<number> => runUpdates(query, rows, session, { ...this.parts, memory: this.memory });
    // USE and SET change the session: they have no parameters. Others run where they were prepared.
    if (query.parameters.length === 0) return sessions.as(caller, run);
    return run({ ...sessions.sessionOf(caller), database });
  }
}

/** Rows of values that a statement is bound to. @throws DbError InvalidArguments */
function boundOf({ bound, query }: Prepared): readonly ParameterRow[] {
  if (bound !== undefined) return bound;
  const why = `the statement has ${query.parameters.length} parameters, but no values were given; bind them by DoPut`;
  throw new DbError(StatusCode.InvalidArguments, `Invalid request parameter: ${why}`);
}

function schemaOf(columns: StatementColumns): Uint8Array<ArrayBuffer> {
  if (columns.kind === "none") return NO_COLUMNS;
  return columns.kind === "unknown" ? UNKNOWN_SCHEMA : encodeArrowSchema(columns.columns);
}

/** One answer has one schema. @throws DbError InvalidArguments */
function checkColumns(columns: readonly ColumnHeader[], want: readonly ColumnHeader[]): void {
  const isSame = columns.length === want.length && columns.every(({ type }, i) => sameType(type, want[i]?.type ?? { kind: "null" }));
  if (isSame) return;
  const why = "a row of parameters gives columns of other types than the first row of them";
  throw new DbError(StatusCode.InvalidArguments, `cannot answer the prepared statement: ${why}; cast them in the statement`);
}
