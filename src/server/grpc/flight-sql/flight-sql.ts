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
import type { Scheduler } from "../../../base/scheduler/scheduler.ts";
import type { Db } from "../../../db/db.ts";
import type { Session } from "../../../db/session.ts";
import type { KeptMemory } from "../../../query/kept-statements.ts";
import { actionTypes, knowsAction, runAction } from "./actions.ts";
import { decoded, type PackedMessage, unsupportedMessage } from "./any.ts";
import type { ArrowInput } from "./arrow-input.ts";
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
  readonly scheduler: Scheduler;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Of the server, as GetSqlInfo tells it. */
  readonly version: string;
}

/** A command about what there is, which is answered at once. */
type Metadata = (value: Uint8Array, session: Session) => FlightAnswer;

/** See the file header. */
export class FlightSql {
  private readonly parts: FlightSqlParts;
  private readonly prepared: PreparedStatements;
  private readonly metadata: ReadonlyMap<string, Metadata>;

  constructor({ db, memory, scheduler, now, version }: FlightSqlOptions) {
    this.parts = { db, sessions: new FlightSessions(db, now), running: new RunningQueries(), scheduler };
    this.prepared = new PreparedStatements(this.parts, memory, now);
    this.metadata = metadataCommands(db, version);
  }

  /** GetFlightInfo. @throws DbError */
  async getFlightInfo(command: PackedMessage, descriptor: FlightDescriptor, caller: FlightCaller): Promise<FlightInfo> {
    const { schema, ticket, rowCount } = await this.infoOf(command, descriptor, caller);
    return create(FlightInfoSchema, {
      schema,
      flightDescriptor: descriptor,
      endpoint: ticket === undefined ? [] : [{ ticket: { ticket } }],
      totalRecords: BigInt(rowCount),
      totalBytes: -1n,
      ordered: true,
    });
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
  async getSchema(command: PackedMessage, caller: FlightCaller): Promise<Uint8Array<ArrayBuffer>> {
    const { name, value } = command;
    if (name === messages.CommandStatementQuerySchema.name)
      return statementSchema(decoded(messages.CommandStatementQuerySchema, value), caller, this.parts);
    if (name === messages.CommandPreparedStatementQuerySchema.name)
      return this.prepared.schema(decoded(messages.CommandPreparedStatementQuerySchema, value).preparedStatementHandle, caller);
    return this.metadataAnswer(command, "GetSchema", caller).schema;
  }

  /** DoGet. Nothing is run before the first message is asked for. @throws DbError */
  doGet(command: PackedMessage, caller: FlightCaller): AsyncIterable<FlightData> {
    return flightDataOf(() => this.answerOf(command, caller));
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

  /** DoPut. @param input what follows the command; undefined: nothing does @throws DbError */
  async doPut({ name, value }: PackedMessage, input: ArrowInput | undefined, caller: FlightCaller): Promise<PutResult> {
    switch (name) {
      case messages.CommandStatementUpdateSchema.name:
        return updated(await statementUpdate(decoded(messages.CommandStatementUpdateSchema, value), caller, this.parts));
      case messages.CommandStatementIngestSchema.name: {
        const command = decoded(messages.CommandStatementIngestSchema, value);
        return updated(await ingest(command, input, caller, this.parts));
      }
      case messages.CommandPreparedStatementUpdateSchema.name: {
        const { preparedStatementHandle: handle } = decoded(messages.CommandPreparedStatementUpdateSchema, value);
        return updated(await this.prepared.update(handle, input, caller));
      }
      case messages.CommandPreparedStatementQuerySchema.name: {
        const { preparedStatementHandle: handle } = decoded(messages.CommandPreparedStatementQuerySchema, value);
        await this.prepared.bind(handle, input, caller);
        const result = create(messages.DoPutPreparedStatementResultSchema, { preparedStatementHandle: handle });
        return create(PutResultSchema, { appMetadata: toBinary(messages.DoPutPreparedStatementResultSchema, result) });
      }
      default:
        throw unsupportedMessage(name, "DoPut");
    }
  }

  /** Whether an action is Flight SQL's. */
  knowsAction(type: string): boolean {
    return knowsAction(type);
  }

  /** DoAction. @throws DbError */
  async doAction(action: Action, caller: FlightCaller): Promise<readonly Result[]> {
    const bodies = await runAction(action, caller, { ...this.parts, prepared: this.prepared });
    return bodies.map((body) => create(ResultSchema, { body }));
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
