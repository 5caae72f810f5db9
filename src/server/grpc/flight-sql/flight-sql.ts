/**
 * Flight SQL on Flight: commands come as `google.protobuf.Any` in descriptors, tickets and actions, and are told apart by their type URL.
 * What is none of Flight SQL's is told by `undefined`, so that whoever asked goes on to what else may come there.
 */
import { create, type DescMessage, toBinary } from "@bufbuild/protobuf";
import {
  type Action,
  type ActionType,
  type FlightData,
  type FlightDescriptor,
  type FlightInfo,
  FlightInfoSchema,
  type PutResult,
  PutResultSchema,
  type Result,
  ResultSchema,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import * as messages from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import type { KeptMemory } from "../../../query/kept-statements.ts";
import { actionTypes, runAction } from "./actions.ts";
import { decoded, type PackedMessage, unpacked, unsupportedMessage } from "./any.ts";
import type { ReadArrow } from "./arrow-input.ts";
import type { FlightCaller } from "./caller.ts";
import { type FlightAnswer, flightDataOf, tableAnswer } from "./flight-answer.ts";
import { ingest } from "./ingest.ts";
import { foreignKeys, primaryKeys } from "./metadata/keys.ts";
import { catalogs, dbSchemas, tableTypes } from "./metadata/name-lists.ts";
import { sqlInfo } from "./metadata/sql-info.ts";
import { tables } from "./metadata/tables.ts";
import { typeInfo } from "./metadata/type-info.ts";
import { PreparedStatements } from "./prepared-statements.ts";
import { RunningQueries } from "./running-queries.ts";
import { FlightSessions } from "./sessions.ts";
import { type CommandInfo, type FlightSqlParts, statementAnswer, statementInfo, statementSchema, statementUpdate } from "./statements.ts";

/** What Flight SQL needs. */
export interface FlightSqlOptions {
  readonly db: Db;
  /** Of prepared statements and their values. */
  readonly memory: KeptMemory;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Of the server, as GetSqlInfo tells it. */
  readonly version: string;
  readonly readArrow: ReadArrow;
}

/** A command about what there is, which is answered at once. */
type Metadata = (value: Uint8Array, session: Session) => FlightAnswer;

/** See the file header. */
export class FlightSql {
  private readonly parts: FlightSqlParts;
  private readonly prepared: PreparedStatements;
  private readonly readArrow: ReadArrow;
  private readonly metadata: ReadonlyMap<string, Metadata>;

  constructor({ db, memory, now, version, readArrow }: FlightSqlOptions) {
    this.parts = { db, sessions: new FlightSessions(db, now), running: new RunningQueries() };
    this.prepared = new PreparedStatements(this.parts, memory, now);
    this.readArrow = readArrow;
    this.metadata = metadataCommands(db, version);
  }

  /** GetFlightInfo. @throws DbError */
  getFlightInfo(descriptor: FlightDescriptor, caller: FlightCaller): Promise<FlightInfo> | undefined {
    const command = unpacked(descriptor.cmd);
    if (command === undefined) return undefined;
    return this.infoOf(command, descriptor, caller).then(({ schema, ticket, rowCount }) =>
      create(FlightInfoSchema, {
        schema,
        flightDescriptor: descriptor,
        endpoint: ticket === undefined ? [] : [{ ticket: { ticket } }],
        totalRecords: BigInt(rowCount),
        totalBytes: -1n,
        ordered: true,
      }),
    );
  }

  private async infoOf(command: PackedMessage, { cmd }: FlightDescriptor, caller: FlightCaller): Promise<CommandInfo> {
    const { name, value } = command;
    switch (name) {
      case messages.CommandStatementQuerySchema.name:
        return statementInfo(decoded(messages.CommandStatementQuerySchema, value), caller, this.parts);
      case messages.CommandPreparedStatementQuerySchema.name:
        return this.prepared.info(decoded(messages.CommandPreparedStatementQuerySchema, value).preparedStatementHandle, caller);
      default: {
        const { schema } = this.metadataAnswer(command, "GetFlightInfo", caller);
        return { schema, ticket: new Uint8Array(cmd), rowCount: -1 };
      }
    }
  }

  /** GetSchema: an IPC message. @throws DbError */
  getSchema({ cmd }: FlightDescriptor, caller: FlightCaller): Promise<Uint8Array<ArrayBuffer>> | undefined {
    const command = unpacked(cmd);
    return command === undefined ? undefined : this.schemaOf(command, caller);
  }

  private async schemaOf(command: PackedMessage, caller: FlightCaller): Promise<Uint8Array<ArrayBuffer>> {
    const { name, value } = command;
    if (name === messages.CommandStatementQuerySchema.name)
      return statementSchema(decoded(messages.CommandStatementQuerySchema, value), caller, this.parts);
    if (name === messages.CommandPreparedStatementQuerySchema.name)
      return this.prepared.schema(decoded(messages.CommandPreparedStatementQuerySchema, value).preparedStatementHandle, caller);
    return this.metadataAnswer(command, "GetSchema", caller).schema;
  }

  /** DoGet. Nothing is run before the first message is asked for. @throws DbError */
  doGet(ticket: Uint8Array, caller: FlightCaller): AsyncIterable<FlightData> | undefined {
    const command = unpacked(ticket);
    return command === undefined ? undefined : flightDataOf(() => this.answerOf(command, caller));
  }

  private answerOf(command: PackedMessage, caller: FlightCaller): FlightAnswer | Promise<FlightAnswer> {
    const { name, value } = command;
    switch (name) {
      case messages.TicketStatementQuerySchema.name:
        return statementAnswer(decoded(messages.TicketStatementQuerySchema, value), caller, this.parts);
      case messages.CommandPreparedStatementQuerySchema.name:
        return this.prepared.answer(decoded(messages.CommandPreparedStatementQuerySchema, value).preparedStatementHandle, caller);
      default:
        return this.metadataAnswer(command, "DoGet", caller);
    }
  }

  private metadataAnswer({ name, value }: PackedMessage, where: string, caller: FlightCaller): FlightAnswer {
    const answer = this.metadata.get(name);
    if (answer === undefined) throw unsupportedMessage(name, where);
    return answer(value, this.parts.sessions.sessionOf(caller));
  }

  /** DoPut. @param first with the descriptor @param rest what follows it @throws DbError */
  doPut(first: FlightData, rest: AsyncIterable<FlightData>, caller: FlightCaller): AsyncIterable<PutResult> | undefined {
    const command = unpacked(first.flightDescriptor?.cmd ?? new Uint8Array(0));
    return command === undefined ? undefined : this.put(command, first, rest, caller);
  }

  private async *put(
    { name, value }: PackedMessage,
    first: FlightData,
    rest: AsyncIterable<FlightData>,
    caller: FlightCaller,
  ): AsyncIterable<PutResult> {
    switch (name) {
      case messages.CommandStatementUpdateSchema.name:
        yield updated(await statementUpdate(decoded(messages.CommandStatementUpdateSchema, value), caller, this.parts));
        return;
      case messages.CommandStatementIngestSchema.name: {
        const command = decoded(messages.CommandStatementIngestSchema, value);
        yield updated(await ingest(command, await this.readArrow(first, rest), caller, this.parts));
        return;
      }
      case messages.CommandPreparedStatementUpdateSchema.name: {
        const { preparedStatementHandle: handle } = decoded(messages.CommandPreparedStatementUpdateSchema, value);
        yield updated(await this.prepared.update(handle, await this.readArrow(first, rest), caller));
        return;
      }
      case messages.CommandPreparedStatementQuerySchema.name: {
        const { preparedStatementHandle: handle } = decoded(messages.CommandPreparedStatementQuerySchema, value);
        await this.prepared.bind(handle, await this.readArrow(first, rest), caller);
        const result = create(messages.DoPutPreparedStatementResultSchema, { preparedStatementHandle: handle });
        yield create(PutResultSchema, { appMetadata: toBinary(messages.DoPutPreparedStatementResultSchema, result) });
        return;
      }
      default:
        throw unsupportedMessage(name, "DoPut");
    }
  }

  /** DoAction. @throws DbError */
  doAction(action: Action, caller: FlightCaller): Promise<readonly Result[]> | undefined {
    const bodies = runAction(action, caller, { ...this.parts, prepared: this.prepared });
    return bodies?.then((all) => all.map((body) => create(ResultSchema, { body })));
  }

  /** ListActions. */
  listActions(): readonly ActionType[] {
    return actionTypes();
  }

  /** Prepared statements that are kept. */
  get preparedCount(): number {
    return this.prepared.size;
  }
}

function updated(rowCount: number): PutResult {
  const result = create(messages.DoPutUpdateResultSchema, { recordCount: BigInt(rowCount) });
  return create(PutResultSchema, { appMetadata: toBinary(messages.DoPutUpdateResultSchema, result) });
}

/** Metadata commands by name. */
function metadataCommands(db: Db, version: string): ReadonlyMap<string, Metadata> {
  const command = <D extends DescMessage>(schema: D, answer: (message: ReturnType<typeof decoded<D>>, session: Session) => FlightAnswer) =>
    [schema.name, (value: Uint8Array, session: Session) => answer(decoded(schema, value), session)] as const;
  return new Map<string, Metadata>([
    command(messages.CommandGetSqlInfoSchema, (message) => sqlInfo(message, version)),
    command(messages.CommandGetXdbcTypeInfoSchema, (message) => tableAnswer(typeInfo(message))),
    command(messages.CommandGetCatalogsSchema, () => tableAnswer(catalogs())),
    command(messages.CommandGetDbSchemasSchema, (message, session) => tableAnswer(dbSchemas(message, { db, session }))),
    command(messages.CommandGetTablesSchema, (message, session) => tableAnswer(tables(message, { db, session }))),
    command(messages.CommandGetTableTypesSchema, () => tableAnswer(tableTypes())),
    command(messages.CommandGetPrimaryKeysSchema, (message, session) => tableAnswer(primaryKeys(message, { db, session }))),
    command(messages.CommandGetExportedKeysSchema, () => tableAnswer(foreignKeys())),
    command(messages.CommandGetImportedKeysSchema, () => tableAnswer(foreignKeys())),
    command(messages.CommandGetCrossReferenceSchema, () => tableAnswer(foreignKeys())),
  ]);
}
