/**
 * `greptime.v1.GreptimeDatabase` (contract query.md 5.2, 5.3): writes, deletes and changes of tables, a message at a time or as a stream.
 *
 *   bytes ─► header: who, where ─► admit ─► decoder of the database ─► Db.write ─► durable ─► counted
 *
 * The messages of a stream are taken one after the other, each durable before the next is read, so that a client that is faster waits by
 * HTTP/2's windows, and rows that are written twice keep their order. The first failure ends the stream; what was durable before stays,
 * and the answer, which counts rows, is not given.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { GreptimeDatabase, type GreptimeResponseSchema } from "../../../../proto/gen/greptime/v1/database_pb.js";
import { DdlRequestSchema } from "../../../../proto/gen/greptime/v1/ddl_pb.js";
import type { Clock } from "../../../base/clock.ts";
import { DbError, invalidArguments } from "../../../base/error.ts";
import type { ServerMemory } from "../../../base/memory/server-memory.ts";
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import { GreptimeDecoder, type RowMessage } from "../../../ingest/greptime/decode.ts";
import type { SchemaLookup, WriteBatch, WriteOptions } from "../../../table/write-batch.ts";
import { decodedAndWritten } from "../../common/decoded-and-written.ts";
import { type Hints, readHints } from "../../common/hints.ts";
import { KeptDecoders } from "../../common/kept-decoders.ts";
import { checkDatabase, type WriteSettings, writeOptionsOf } from "../../common/write-options.ts";
import type { Call } from "../call.ts";
import { readMessage } from "../read-message.ts";
import { sessionOf } from "../request-session.ts";
import { type GrpcService, grpcService, raw } from "../service.ts";
import { readHeader, type RawRequest, readRequest } from "./greptime-request.ts";

/** Largest DdlRequest, bytes. Reason: it is read into objects. Error: InvalidArguments. */
const DDL_BYTES_MAX: number = 16 * 1024 * 1024;

/** What the service works with. */
export interface GreptimeDatabaseParts extends WriteSettings {
  readonly db: Db;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  /** Hears of what decoders keep. */
  readonly memory: ServerMemory;
}

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
    handleRequests: raw(async (messages, call) => {
      const caller = new Caller(call);
      let rows = 0;
      for await (const bytes of messages) rows += await requests.handle(bytes, caller);
      return answerOf(rows);
    }),
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
  private readonly decoders: KeptDecoders<GreptimeDecoder>;

  constructor(parts: GreptimeDatabaseParts) {
    this.parts = parts;
    this.decoders = new KeptDecoders(() => new GreptimeDecoder(), parts.clock);
    parts.memory.register("decoders", this.decoders);
  }

  /** Runs one message. @returns its rows, durable. @throws DbError */
  async handle(bytes: Uint8Array, caller: Caller): Promise<number> {
    const request = readRequest(bytes);
    const session = await caller.session(request.header);
    const { clock, db } = this.parts;
    const startedMs = clock.monotonicMillis();
    const observe = (code: StatusCode): void => {
      // Names that clients make up are no labels: there is no end of them.
      const labels = { db: db.hasDatabase(session.database) ? session.database : "", type: request.kind, code: String(code) };
      caller.call.metrics.databaseSeconds.observe(labels, (clock.monotonicMillis() - startedMs) / 1000);
    };
    try {
      const rowCount = await this.run(request, session, caller.hints);
      observe(StatusCode.Success);
      return rowCount;
    } catch (thrown) {
      observe(thrown instanceof DbError ? thrown.code : StatusCode.Internal);
      throw thrown;
    }
  }

  /** Runs what a message asks for. */
  private async run(request: RawRequest, session: Session, hints: Hints): Promise<number> {
    const { kind } = request;
    if (kind === "query") {
      const why = "a query gives rows, which this method cannot; use arrow.flight.protocol.FlightService/DoGet";
      throw new DbError(StatusCode.Unsupported, `cannot run the QueryRequest: ${why}`);
    }
    if (kind === "ddl") return this.define(request.body, session);
    this.parts.db.authorize(session, "write");
    checkDatabase(session.database, this.parts.db);
    return this.rows(kind, request, session, hints);
  }

  private async define(body: Uint8Array, session: Session): Promise<number> {
    if (body.length > DDL_BYTES_MAX) throw invalidArguments(`cannot read DdlRequest: it has more than ${DDL_BYTES_MAX} bytes`);
    const request = readMessage(DdlRequestSchema, body);
    const result = await this.parts.db.define(request, session);
    return result.kind === "affected" ? result.rowCount : 0;
  }

  /** Decodes and writes, or deletes, the rows of a message. */
  private async rows(kind: RowMessage, { body }: RawRequest, session: Session, hints: Hints): Promise<number> {
    const { db, scheduler } = this.parts;
    const { database } = session;
    const isDelete = kind === "deletes" || kind === "row_deletes";
    const options: WriteOptions = { ...writeOptionsOf(hints, this.parts, "physical", {}), allOrNothing: true };
    if (hints.has("physical_table")) throw invalidArguments(NO_PHYSICAL_TABLE);
    await scheduler.decode(body.length);
    return decodedAndWritten(async () => {
      await db.admit(session.signal);
      const { batch, rowCount } = this.decoders.of(database).decode(kind, body, { database, schemas: db.schemas });
      if (rowCount === 0) return 0;
      if (isDelete) await db.delete(batch, session);
      else {
        if (!options.autoCreate) checkTables(batch, database, db.schemas, this.parts);
        await db.write(batch, session, options);
      }
      return rowCount;
    });
  }
}

const NO_PHYSICAL_TABLE =
  "cannot use the hint physical_table: rows of this interface go to tables of their own; send metrics by remote write or OTLP";

/** @throws DbError InvalidArguments, in the contract's words (query.md 5.3), for a table that may not be made */
function checkTables(batch: WriteBatch, database: string, schemas: SchemaLookup, { autoCreateTable }: WriteSettings): void {
  const missing = batch.tables.find(({ table }) => schemas.rolesOf?.(database, table) === undefined);
  if (missing === undefined) return;
  const why = autoCreateTable ? "`auto_create_table` hint is disabled" : "auto-create table is disabled by frontend config";
  throw invalidArguments(`Invalid InsertRequest, reason: Table \`${missing.table}\` does not exist, and ${why}`);
}
