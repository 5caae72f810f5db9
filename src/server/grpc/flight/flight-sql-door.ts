/** Where Flight SQL begins: requests whose descriptor, ticket or action is a message of it go on to whoever serves it. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import type {
  Action,
  ActionTypeSchema,
  FlightDescriptor,
  FlightInfoSchema,
  PutResultSchema,
  ResultSchema,
  SchemaResultSchema,
} from "../../../../proto/gen/arrow/flight/Flight_pb.js";
import { DbError } from "../../../base/error.ts";
import type { Call } from "../call.ts";
import { readMessage } from "../messages/read-message.ts";
import type { PutStream } from "./put-stream.ts";

/** What is known of rows before they are asked for. */
export type FlightInfoInit = MessageInitShape<typeof FlightInfoSchema>;
/** A schema as its message. */
export type SchemaResultInit = MessageInitShape<typeof SchemaResultSchema>;
/** What is told of rows that were put. */
export type PutResultInit = MessageInitShape<typeof PutResultSchema>;
/** An answer of an action. */
export type ResultInit = MessageInitShape<typeof ResultSchema>;
/** An action that there is. */
export type ActionTypeInit = MessageInitShape<typeof ActionTypeSchema>;

/** Flight SQL. Each method gives undefined for what is no message of it; commands have been unpacked from `google.protobuf.Any`. */
export interface FlightSqlDoor {
  /** Actions, for `ListActions`. */
  readonly actions: readonly ActionTypeInit[];
  getFlightInfo(command: Any, descriptor: FlightDescriptor, call: Call): Promise<FlightInfoInit> | undefined;
  getSchema(command: Any, descriptor: FlightDescriptor, call: Call): Promise<SchemaResultInit> | undefined;
  /** Gives frames (`flightFrame`). */
  doGet(ticket: Any, call: Call): AsyncIterable<Uint8Array> | undefined;
  doPut(command: Any, stream: PutStream, call: Call): AsyncIterable<PutResultInit> | undefined;
  doAction(action: Action, call: Call): AsyncIterable<ResultInit> | undefined;
}

const PREFIX = "type.googleapis.com/arrow.flight.protocol.sql.";

/** The message of Flight SQL that bytes are; undefined where they are none. */
export function sqlCommandOf(bytes: Uint8Array): Any | undefined {
  // An Any begins with its type, so that nothing else is taken apart: tag, length, and a text that all of them begin with.
  if (bytes[0] !== 0x0a || !latin1(bytes.subarray(2, 3 + PREFIX.length)).includes(PREFIX.slice(0, -1))) return undefined;
  try {
    const any = readMessage(AnySchema, bytes);
    return any.typeUrl.startsWith(PREFIX) ? any : undefined;
  } catch (thrown) {
    if (!(thrown instanceof DbError)) throw thrown;
    return undefined; // It only looked like one: others say what is wrong with it.
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
