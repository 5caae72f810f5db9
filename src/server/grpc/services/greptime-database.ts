/**
 * `greptime.v1.GreptimeDatabase` (contract query.md 5.2, 5.3): writes, deletes and changes of tables, a message at a time or as a stream.
 *
 *   bytes ─► header: who, where ─► admit ─► decoder of the database ─► Db.write ─► durable ─► counted
 *
 * The messages of a stream go into the log one after the other, so that rows that are written twice keep their order; while the first ones
 * are synced, the next are decoded (pending-writes.ts), and a client that is faster waits by HTTP/2's windows. The first failure ends the
 * stream; what was durable before stays, and the answer, which counts rows and is given when all of them are durable, is not given.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { GreptimeDatabase, type GreptimeResponseSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { DdlRequestSchema } from "../../../../proto/gen/greptime/v1/ddl_pb.js";
import { DbError, invalidArguments } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { IngestCounts } from "../../../db/ingest-counts.ts";
import type { Session } from "../../../db/session.ts";
import type { RowMessage } from "../../../ingest/greptime/decode.ts";
import { type Hints, readHints } from "../../common/hints.ts";
import { checkDatabase } from "../../common/write-options.ts";
import type { Call } from "../call.ts";
import { readMessage } from "../messages/read-message.ts";
import { sessionOf } from "../request-session.ts";
import { type GrpcService, grpcService, raw } from "../service.ts";
import { readHeader, type RawRequest, readRequest } from "./greptime-request.ts";
import { PendingWrites } from "./pending-writes.ts";
import { type LoggedRows, RowWrites, type RowWritesParts } from "./row-writes.ts";

/** Largest DdlRequest, bytes. Reason: it is read into objects. Error: InvalidArguments. */
const DDL_BYTES_MAX: number = 16 * 1024 * 1024;

/** What the service works with. */
export type GreptimeDatabaseParts = RowWritesParts;

type Answer = MessageInitShape<typeof GreptimeResponseSchema>;

/** The service, and what runs one message of it: tickets of Flight hold such messages too. */
export interface GreptimeDatabaseDoor {
  readonly service: GrpcService;
  /** Runs a message that is no query. @returns its rows, durable. @throws DbError */
  readonly run: (bytes: Uint8Array, call: Call) => Promise<number>;
}

/** See `GreptimeDatabaseDoor`. */
export function greptimeDatabase(parts: GreptimeDatabaseParts): GreptimeDatabaseDoor {
  const requests = new Requests(parts);
  return { service: serviceOf(requests), run: (bytes, call) => requests.handle(bytes, new Caller(call)) };
}

function serviceOf(requests: Requests): GrpcService {
  return grpcService(GreptimeDatabase, {
    handle: raw(async (bytes, call) => answerOf(await requests.handle(bytes, new Caller(call)))),
    handleRequests: raw(async (messages, call) => answerOf(await requests.handleAll(messages, new Caller(call)))),
  });
}

function answerOf(rows: number): Answer {
  return { header: { status: { statusCode: StatusCode.Success } }, response: { case: "affectedRows", value: { value: rows } } };
}

/** Who calls, by the headers of its messages: those of a stream usually are the same, and are read once. */
class Caller {
  readonly call: Call;
  readonly hints: Hints;
  private header: Uint8Array | undefined;
  private known: Session | undefined;

  constructor(call: Call) {
    this.call = call;
    this.hints = readHints(call.headers);
  }

  /** The session of a message. @throws DbError for a login that is refused, or a time zone that is none */
  async session(header: Uint8Array): Promise<Session> {
    if (this.known !== undefined && this.header !== undefined && Buffer.compare(this.header, header) === 0) return this.known;
    const session = await sessionOf(readHeader(header), this.call);
    this.header = header.slice();
    this.known = session;
    return session;
  }
}

/** Runs messages. */
class Requests {
  private readonly parts: GreptimeDatabaseParts;
  private readonly writes: RowWrites;

  constructor(parts: GreptimeDatabaseParts) {
    this.parts = parts;
    this.writes = new RowWrites(parts);
  }

  /** Runs one message. @returns its rows, durable. @throws DbError */
  async handle(bytes: Uint8Array, caller: Caller): Promise<number> {
    const request = readRequest(bytes);
    const session = await caller.session(request.header);
    const observe = this.observing(request, session, caller);
    try {
      const { rowCount } = await this.run(request, session, caller, "durable");
      observe(StatusCode.Success);
      return rowCount;
    } catch (thrown) {
      observe(codeOf(thrown));
      throw thrown;
    }
  }

  /** Runs the messages of a stream. @returns their rows, all of them durable. @throws DbError of the first that failed */
  async handleAll(messages: AsyncIterable<Uint8Array>, caller: Caller): Promise<number> {
    const pending = new PendingWrites();
    const source = messages[Symbol.asyncIterator]();
    let rows = 0;
    try {
      for (;;) {
        const next = await pending.whileFine(source.next());
        if (next.done === true) break;
        rows += await this.begin(next.value, caller, pending);
      }
    } catch (thrown) {
      void letGo(source); // Not awaited: it may wait for a message.
      await pending.end(); // What came before it may have failed, too, and failed first.
      throw thrown;
    }
    await pending.end();
    return rows;
  }

  /** Runs one message of a stream, whose rows are `pending` afterwards. @returns their number */
  private async begin(bytes: Uint8Array, caller: Caller, pending: PendingWrites): Promise<number> {
    const request = readRequest(bytes);
    const session = await caller.session(request.header);
    const observe = this.observing(request, session, caller);
    let logged: LoggedRows;
    try {
      logged = await this.run(request, session, caller, "logged");
    } catch (thrown) {
      observe(codeOf(thrown));
      throw thrown;
    }
    const { write, rowCount } = logged;
    if (write === undefined) observe(StatusCode.Success);
    else {
      void write.done.then((failure) => observe(failure === undefined ? StatusCode.Success : codeOf(failure.thrown))); // never rejects
      await pending.add(write, bytes.length);
    }
    return rowCount;
  }

  /** Counts how long a request took, once it is called. */
  private observing({ kind: type }: RawRequest, { database }: Session, { call }: Caller): (code: StatusCode) => void {
    const { clock, db } = this.parts;
    const startedMs = clock.monotonicMillis();
    return (code) => {
      // Names that clients make up are no labels: there is no end of them.
      const labels = { db: db.hasDatabase(database) ? database : "", type, code: String(code) };
      if (code !== StatusCode.Success && type !== "query" && type !== "ddl") ingestOf(type, call).failed();
      call.metrics.databaseSeconds.observe(labels, (clock.monotonicMillis() - startedMs) / 1000);
    };
  }

  /** Runs what a message asks for. */
  private async run(request: RawRequest, session: Session, { call, hints }: Caller, until: "durable" | "logged"): Promise<LoggedRows> {
    const { kind, body } = request;
    if (kind === "query") {
      const why = "a query gives rows, which this method cannot; use arrow.flight.protocol.FlightService/DoGet";
      throw new DbError(StatusCode.Unsupported, `cannot run the QueryRequest: ${why}`);
    }
    if (kind === "ddl") return { rowCount: await this.define(body, session) };
    this.parts.db.authorize(session, "write");
    checkDatabase(session.database, this.parts.db);
    const ingest = ingestOf(kind, call);
    ingest.took(body.length);
    return this.writes.write({ kind, body, session: { ...session, ingest }, hints }, until);
  }

  private async define(body: Uint8Array, session: Session): Promise<number> {
    if (body.length > DDL_BYTES_MAX) throw invalidArguments(`cannot read DdlRequest: it has more than ${DDL_BYTES_MAX} bytes`);
    const request = readMessage(DdlRequestSchema, body);
    const result = await this.parts.db.define(request, session);
    return result.kind === "affected" ? result.rowCount : 0;
  }
}

/** What rows of such messages are counted for. */
function ingestOf(kind: RowMessage, { metrics }: Call): IngestCounts {
  return metrics.ingest.of(kind.startsWith("row_") ? "grpc_rows" : "grpc_columns");
}

function codeOf(thrown: unknown): StatusCode {
  return thrown instanceof DbError ? thrown.code : StatusCode.Internal;
}

/** Takes no more of a stream. */
async function letGo(source: AsyncIterator<unknown>): Promise<void> {
  try {
    await source.return?.();
  } catch {
    // The client left meanwhile, and what ended the stream is told already.
  }
}
