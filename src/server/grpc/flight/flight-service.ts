/**
 * `arrow.flight.protocol.FlightService`: queries as Arrow batches, bulk inserts, and the door to Flight SQL.
 *
 *   DoGet          a ticket: GreptimeRequest ─► statement ─► flight-data.ts; a command of Flight SQL ─► flight-sql-door.ts
 *   DoPut          a path ─► bulk-insert.ts; a command of Flight SQL ─► flight-sql-door.ts
 *   GetFlightInfo, GetSchema   of a table by its path, of a GreptimeRequest, of Flight SQL
 *   ListFlights    tables of the database
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { GreptimeRequestSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import {
  type Action,
  BasicAuthSchema,
  type FlightDescriptor,
  FlightDescriptor_DescriptorType as DescriptorType,
  FlightService,
  type HandshakeRequest,
  type Ticket,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import { Code } from "@connectrpc/connect";
import type { Clock } from "../../../base/clock.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { STRING } from "../../../column/data-type.ts";
import type { Db } from "../../../db/db.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import type { Session } from "../../../db/session.ts";
import { type ArrowCompression, arrowEmptyParts, encodeArrowSchema } from "../../../format/arrow/encode-stream.ts";
import type { StatementResult } from "../../../query/statement-result.ts";
import { readHints } from "../../common/hints.ts";
import type { WriteSettings } from "../../common/write-options.ts";
import type { Call } from "../call.ts";
import { GrpcStatusError } from "../errors.ts";
import { readMessage } from "../messages/read-message.ts";
import { framed, type GrpcService, grpcService, raw } from "../service.ts";
import { bulkInsert } from "./bulk-insert.ts";
import { affectedRows, flightDataOf, flightFrame } from "./flight-data.ts";
import { type FlightInfoInit, type FlightSqlDoor, type PutResultInit, type ResultInit, sqlCommandOf } from "./flight-sql-door.ts";
import { sessionOf } from "../request-session.ts";
import { queryOf, type TicketQuery } from "./greptime-ticket.ts";
import { PutStream } from "./put-stream.ts";

const encoder = new TextEncoder();

/** What the service needs. */
export interface FlightParts extends WriteSettings {
  readonly db: Db;
  readonly clock: Clock;
  /** Of bodies of batches (`grpc.flight_compression`). */
  readonly compression: ArrowCompression;
  /** Whether messages are packed as the client accepts (`grpc.flight_compression`). */
  readonly packsMessages: boolean;
  /** Absent: commands of Flight SQL are refused. */
  readonly flightSql: FlightSqlDoor | undefined;
  /** Runs a `GreptimeRequest` that is no query, given as its bytes; the rows that it changed. Absent: such tickets are refused. */
  readonly handle: ((request: Uint8Array, call: Call) => Promise<number>) | undefined;
}

/** The service. */
export function flightService(parts: FlightParts): GrpcService {
  return grpcService(
    FlightService,
    {
      handshake: (requests, call) => handshake(requests, call),
      doGet: framed((ticket: Ticket, call: Call) => doGet(ticket, call, parts)),
      doPut: raw((messages: AsyncIterable<Uint8Array>, call: Call) => doPut(messages, call, parts)),
      getFlightInfo: async (descriptor, call) => flightInfo(descriptor, call, parts),
      getSchema: async (descriptor, call) => {
        const command = sqlCommandOf(descriptor.cmd);
        if (command !== undefined) return (await parts.flightSql?.getSchema(command, descriptor, call)) ?? noFlightSql();
        return { schema: (await described(descriptor, call, parts)).schema };
      },
      listFlights: (_criteria, call) => listFlights(call, parts),
      doAction: (action, call) => doAction(action, call, parts),
      listActions: async function* () {
        yield* parts.flightSql?.actions ?? [];
      },
    },
    { packsAnswers: parts.packsMessages },
  );
}

function noFlightSql(): never {
  throw new DbError(StatusCode.Unsupported, "Not supported: this command of Flight SQL");
}

/** Basic by a message, whose answer is the login itself; Basic by metadata, whose answer is a token in the metadata (ADBC, JDBC). */
async function* handshake(requests: AsyncIterable<HandshakeRequest>, call: Call): AsyncGenerator<{ payload: Uint8Array }> {
  for await (const { payload } of requests) {
    if (payload.length === 0) break;
    let auth: { readonly username: string; readonly password: string };
    try {
      auth = readMessage(BasicAuthSchema, payload);
    } catch (thrown) {
      throw new DbError(StatusCode.InvalidAuthHeader, "cannot read the payload of a handshake: it is no BasicAuth", { cause: thrown });
    }
    await call.login(auth.username, auth.password);
    yield { payload: encoder.encode(Buffer.from(`${auth.username}:${auth.password}`).toString("base64")) };
    return;
  }
  await call.signIn();
  yield { payload: new Uint8Array(0) };
}

async function* doGet({ ticket }: Ticket, call: Call, parts: FlightParts): AsyncGenerator<Uint8Array> {
  const command = sqlCommandOf(ticket);
  if (command !== undefined) {
    yield* parts.flightSql?.doGet(command, call) ?? noFlightSql();
    return;
  }
  const query = queryOf(ticket);
  if (query !== undefined) {
    const session = { ...(await sessionOf(query.header, call)), ingest: call.metrics.ingest.of("sql_grpc") };
    for await (const result of resultsOf(query, session, parts.db)) yield* flightDataOf(result, parts.compression);
    return;
  }
  if (parts.handle === undefined) throw new DbError(StatusCode.Unsupported, "Not supported in a ticket: a request that is no query");
  yield flightFrame(arrowEmptyParts(), affectedRows(await parts.handle(ticket, call)));
}

/** What a query gives. PromQL is prepared, which takes one statement and no more: `up; DROP TABLE t` is no query. */
async function* resultsOf({ text, isPromql }: TicketQuery, session: Session, db: Db): AsyncGenerator<StatementResult> {
  if (isPromql) yield* db.execute(await db.prepare(text, session), [], session);
  else yield* db.sql(text, session);
}

async function* doPut(messages: AsyncIterable<Uint8Array>, call: Call, parts: FlightParts): AsyncGenerator<PutResultInit> {
  const session = await putSession(call);
  const stream = await PutStream.begin(messages, call);
  const isSql = stream?.descriptor !== undefined && sqlCommandOf(stream.descriptor.cmd) !== undefined;
  const ingest = call.metrics.ingest.of(isSql ? "flight_sql" : "flight_put");
  stream?.tellBytes((bytes) => ingest.took(bytes));
  try {
    yield* put(stream, { ...session, ingest }, call, parts);
  } catch (thrown) {
    if (!isSql) ingest.failed(); // Statements and intakes count theirs.
    throw thrown;
  }
}

async function* put(stream: PutStream | undefined, session: Session, call: Call, parts: FlightParts): AsyncGenerator<PutResultInit> {
  const descriptor = stream?.descriptor;
  const command = descriptor === undefined ? undefined : sqlCommandOf(descriptor.cmd);
  if (stream !== undefined && command !== undefined) {
    yield* parts.flightSql?.doPut(command, stream, call) ?? noFlightSql();
    return;
  }
  const [table] = descriptor?.path ?? [];
  if (stream === undefined || descriptor?.type !== DescriptorType.PATH || table === undefined) {
    throw refused("table to put is not found in flight descriptor");
  }
  if (stream.headers === undefined) throw refused("first message must be a Schema message");
  const onBatch = (seconds: number): void => call.metrics.bulkSeconds.observe(seconds);
  yield* bulkInsert(stream, table, { ...parts, onBatch }, session, readHints(call.headers));
}

function refused(why: string): GrpcStatusError {
  return new GrpcStatusError(Code.FailedPrecondition, StatusCode.InvalidArguments, why);
}

/** The session of the metadata. Whatever is wrong with credentials, clients of bulk inserts are told these words. */
async function putSession(call: Call): Promise<Session> {
  try {
    return call.session(await call.user());
  } catch (thrown) {
    if (!(thrown instanceof DbError) || thrown.code < StatusCode.UserNotFound || thrown.code > StatusCode.InvalidAuthHeader) throw thrown;
    throw new GrpcStatusError(Code.Unauthenticated, thrown.code, "auth failed");
  }
}

/** What a descriptor means: the columns and the ticket that brings its rows. */
interface Described {
  readonly schema: Uint8Array;
  readonly ticket: Uint8Array;
}

async function described({ type, cmd, path }: FlightDescriptor, call: Call, { db }: FlightParts): Promise<Described> {
  if (type === DescriptorType.CMD) {
    const query = queryOf(cmd);
    if (query === undefined) throw new DbError(StatusCode.InvalidArguments, "cannot describe a request that is no query");
    const { columns } = await db.prepare(query.text, await sessionOf(query.header, call));
    return { schema: encodeArrowSchema(columns ?? []), ticket: cmd };
  }
  const [table] = path;
  if (table === undefined || path.length > 1)
    throw new DbError(StatusCode.InvalidArguments, "cannot describe a path that is not one table");
  const session = call.session(await call.user());
  const found = db.table(table, session);
  if (found === undefined) throw new DbError(StatusCode.TableNotFound, `Table not found: ${session.database}.${table}`);
  return { schema: encodeArrowSchema(found.schema.columns), ticket: ticketOf(table, found.schema.columns, session) };
}

/** A ticket for all rows of a table, without credentials. */
function ticketOf(table: string, columns: readonly ColumnHeader[], session: Session): Uint8Array {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const text = `SELECT ${columns.map(({ name }) => quoted(name)).join(", ")} FROM ${quoted(table)}`;
  const request = create(GreptimeRequestSchema, {
    header: { dbname: session.database },
    request: { case: "query", value: { query: { case: "sql", value: text } } },
  });
  return toBinary(GreptimeRequestSchema, request);
}

async function flightInfo(descriptor: FlightDescriptor, call: Call, parts: FlightParts): Promise<FlightInfoInit> {
  const command = sqlCommandOf(descriptor.cmd);
  if (command !== undefined) return (await parts.flightSql?.getFlightInfo(command, descriptor, call)) ?? noFlightSql();
  const { schema, ticket } = await described(descriptor, call, parts);
  return { schema, flightDescriptor: descriptor, endpoint: [{ ticket: { ticket } }], totalRecords: -1n, totalBytes: -1n };
}

async function* listFlights(call: Call, { db }: FlightParts): AsyncGenerator<FlightInfoInit> {
  const session = call.session(await call.user());
  const text = "SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name";
  const names: string[] = [];
  for await (const result of db.sql(text, session)) {
    if (result.kind !== "rows") continue;
    for await (const { vectors, rowCount } of result.batches) names.push(...textsOf(vectors[0], rowCount));
  }
  for (const table of names) {
    const found = db.table(table, session);
    if (found === undefined) continue; // It was dropped meanwhile, or is a view.
    const { columns } = found.schema;
    yield {
      schema: encodeArrowSchema(columns),
      flightDescriptor: { type: DescriptorType.PATH, path: [table] },
      endpoint: [{ ticket: { ticket: ticketOf(table, columns, session) } }],
      totalRecords: -1n,
      totalBytes: -1n,
    };
  }
}

function textsOf(vector: Vector | undefined, rowCount: number): string[] {
  return Array.from({ length: vector === undefined ? 0 : rowCount }, (_, row) => String(vector && scalarAt(vector, STRING, row)));
}

async function* doAction(action: Action, call: Call, parts: FlightParts): AsyncGenerator<ResultInit> {
  const answer = parts.flightSql?.doAction(action, call);
  if (answer === undefined) throw new DbError(StatusCode.Unsupported, `Not supported: action ${JSON.stringify(action.type.slice(0, 80))}`);
  yield* answer;
}
