/** DoAction: prepared statements, transactions (there are none), cancelling, sessions. */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type Action,
  type ActionType,
  ActionTypeSchema,
  CancelFlightInfoRequestSchema,
  CancelFlightInfoResultSchema,
  CancelStatus,
  CloseSessionResultSchema,
  type FlightInfo,
  FlightInfoSchema,
  GetSessionOptionsResultSchema,
  SetSessionOptionsRequestSchema,
  SetSessionOptionsResultSchema,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import {
  ActionCancelQueryRequestSchema,
  ActionCancelQueryResult_CancelResult,
  ActionCancelQueryResultSchema,
  ActionClosePreparedStatementRequestSchema,
  ActionCreatePreparedStatementRequestSchema,
  CommandPreparedStatementQuerySchema,
  TicketStatementQuerySchema,
} from "../../../../proto/gen/arrow/flight/FlightSql_pb.js";
import { type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { decoded, packed, unpacked, unsupportedMessage } from "./any.ts";
import type { FlightCaller } from "./caller.ts";
import type { PreparedStatements } from "./prepared-statements.ts";
import { QUERY_ID_BYTES } from "./running-queries.ts";
import type { FlightSqlParts } from "./statements.ts";

/** Actions with what they do, as ListActions tells. */
const ACTIONS: Readonly<Record<string, string>> = {
  CreatePreparedStatement: "Prepares a statement: ActionCreatePreparedStatementRequest gives ActionCreatePreparedStatementResult",
  ClosePreparedStatement: "Lets a prepared statement go: ActionClosePreparedStatementRequest",
  CancelFlightInfo: "Ends the queries of a FlightInfo: CancelFlightInfoRequest gives CancelFlightInfoResult",
  CancelQuery: "The same for older clients: ActionCancelQueryRequest gives ActionCancelQueryResult",
  SetSessionOptions: "Sets schema and time_zone of the session: SetSessionOptionsRequest gives SetSessionOptionsResult",
  GetSessionOptions: "Tells them: GetSessionOptionsRequest gives GetSessionOptionsResult",
  CloseSession: "Ends the session: CloseSessionRequest gives CloseSessionResult",
};

/** Actions of Flight SQL that are refused with a reason. */
const REFUSED: Readonly<Record<string, string>> = {
  BeginTransaction: "there are no transactions: every statement stands alone; use autocommit",
  EndTransaction: "there are no transactions",
  BeginSavepoint: "there are no transactions",
  EndSavepoint: "there are no transactions",
  CreatePreparedSubstraitPlan: "plans of Substrait are not understood; send SQL",
};

/** What ListActions tells. */
export function actionTypes(): readonly ActionType[] {
  return Object.entries(ACTIONS).map(([type, description]) => create(ActionTypeSchema, { type, description }));
}

/** What actions go by. */
export interface ActionParts extends FlightSqlParts {
  readonly prepared: PreparedStatements;
}

/** Whether an action is Flight SQL's. */
export const knowsAction = (type: string): boolean => Object.hasOwn(ACTIONS, type) || Object.hasOwn(REFUSED, type);

/** Bodies of the results of an action that it knows. @throws DbError */
export async function runAction(
  { type, body }: Action,
  caller: FlightCaller,
  parts: ActionParts,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  if (Object.hasOwn(REFUSED, type)) throw new DbError(StatusCode.Unsupported, `${type} is not supported: ${REFUSED[type]}`);
  const { prepared, sessions } = parts;
  switch (type) {
    case "CreatePreparedStatement":
      return [await prepared.create(inside(ActionCreatePreparedStatementRequestSchema, body), caller)];
    case "ClosePreparedStatement":
      prepared.close(inside(ActionClosePreparedStatementRequestSchema, body).preparedStatementHandle, caller);
      return [];
    case "CancelFlightInfo": {
      const { info } = decoded(CancelFlightInfoRequestSchema, body);
      cancel(info, caller, parts);
      return [toBinary(CancelFlightInfoResultSchema, create(CancelFlightInfoResultSchema, { status: CancelStatus.CANCELLED }))];
    }
    case "CancelQuery": {
      cancel(decoded(FlightInfoSchema, inside(ActionCancelQueryRequestSchema, body).info), caller, parts);
      const result = ActionCancelQueryResult_CancelResult.CANCELLED;
      return [packed(ActionCancelQueryResultSchema, create(ActionCancelQueryResultSchema, { result }))];
    }
    case "SetSessionOptions": {
      const result = sessions.set(caller, decoded(SetSessionOptionsRequestSchema, body));
      return [toBinary(SetSessionOptionsResultSchema, result)];
    }
    case "GetSessionOptions":
      return [toBinary(GetSessionOptionsResultSchema, sessions.get(caller))];
    default:
      return [toBinary(CloseSessionResultSchema, sessions.close(caller))];
  }
}

/** The request of an action, which comes in an Any. @throws DbError InvalidArguments */
function inside<D extends DescMessage>(schema: D, body: Uint8Array): MessageShape<D> {
  const message = unpacked(body);
  if (message?.name === schema.name) return decoded(schema, message.value);
  throw new DbError(StatusCode.InvalidArguments, `cannot read an action: its body is no ${schema.name} in a google.protobuf.Any`);
}

/** Ends the queries of the tickets of a FlightInfo. @throws DbError InvalidArguments when none of them runs */
function cancel(info: FlightInfo | undefined, { user }: FlightCaller, { running }: ActionParts): void {
  let found = false;
  for (const { ticket } of info?.endpoint ?? []) {
    const id = ticket === undefined ? undefined : queryOf(ticket.ticket);
    if (id !== undefined && running.cancel(id, user.name)) found = true;
  }
  if (found) return;
  throw new DbError(
    StatusCode.InvalidArguments,
    "there is no query to cancel: none of its tickets is being read, or somebody else reads it",
  );
}

/** The number of the query in a ticket. */
function queryOf(ticket: Uint8Array): Uint8Array | undefined {
  const message = unpacked(ticket);
  if (message === undefined) return undefined;
  if (message.name === TicketStatementQuerySchema.name)
    return decoded(TicketStatementQuerySchema, message.value).statementHandle.subarray(0, QUERY_ID_BYTES);
  if (message.name === CommandPreparedStatementQuerySchema.name)
    return decoded(CommandPreparedStatementQuerySchema, message.value).preparedStatementHandle.slice(-QUERY_ID_BYTES);
  throw unsupportedMessage(message.name, "CancelFlightInfo");
}
