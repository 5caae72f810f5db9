/**
 * Commands and actions of Flight SQL inside `google.protobuf.Any`: a type URL whose last part names the message, and its bytes. What else
 * comes in a descriptor or a ticket (a request of the native interface) is not ours, and is told by its first bytes alone.
 */
import { create, type DescMessage, type Message, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { readMessage } from "../messages/read-message.ts";
import { COMMAND_BYTES_MAX } from "./limits.ts";

/** Package of every message of Flight SQL. */
const PACKAGE = "arrow.flight.protocol.sql.";
/** What a type URL begins with that protobuf libraries write. */
const URL_START = "type.googleapis.com/";
/** Field 1 of Any, as bytes: its type URL. */
const TYPE_URL_TAG = 0x0a;
/** Characters of a name that an error repeats. */
const SHOWN_CHARACTERS_MAX = 80;

/** A message of Flight SQL that has come: its name without the package, and its bytes. */
export interface PackedMessage {
  readonly name: string;
  readonly value: Uint8Array;
}

/**
 * The message in an Any; undefined when the bytes are none of Flight SQL's.
 *
 * @throws DbError InvalidArguments for an Any of Flight SQL that is cut or mutated
 */
export function unpacked(bytes: Uint8Array): PackedMessage | undefined {
  if (!beginsAsOurs(bytes)) return undefined;
  if (bytes.length > COMMAND_BYTES_MAX) throw invalid(`it has ${bytes.length} bytes, at most ${COMMAND_BYTES_MAX}`);
  return messageOf(decoded(AnySchema, bytes, "google.protobuf.Any"));
}

/** The message in an Any. @throws DbError InvalidArguments for one that is not Flight SQL's */
export function messageOf({ typeUrl, value }: Any): PackedMessage {
  const name = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
  if (!name.startsWith(PACKAGE)) throw invalid(`its type URL is "${typeUrl.slice(0, SHOWN_CHARACTERS_MAX)}"`);
  return { name: name.slice(PACKAGE.length), value };
}

/** Whether bytes begin with a type URL of the package. */
function beginsAsOurs(bytes: Uint8Array): boolean {
  if (bytes[0] !== TYPE_URL_TAG) return false;
  // The length is one byte for all names that there are, and may be written in more.
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 64)).toString("latin1");
  const at = start.indexOf("/");
  return at >= 0 && start.startsWith(PACKAGE, at + 1);
}

/** A message out of its bytes. @throws DbError InvalidArguments */
export function decoded<D extends DescMessage>(schema: D, bytes: Uint8Array, what: string = schema.name): MessageShape<D> {
  return readMessage(schema, bytes, `a command of Flight SQL, ${what}`);
}

/** The bytes of an Any around a message. */
export function packed<D extends DescMessage>(schema: D, message: MessageShape<D> & Message): Uint8Array<ArrayBuffer> {
  const any: Any = create(AnySchema, { typeUrl: URL_START + schema.typeName, value: toBinary(schema, message) });
  return toBinary(AnySchema, any);
}

function invalid(why: string): DbError {
  return new DbError(StatusCode.InvalidArguments, `cannot read a command of Flight SQL: ${why}`);
}

/** An error about a message that Flight SQL has and this server has not, or that came where it does not belong. */
export function unsupportedMessage(name: string, where: string): DbError {
  const shown = name.slice(0, SHOWN_CHARACTERS_MAX).replace(/[^\w.]/g, "?");
  return new DbError(StatusCode.Unsupported, `Flight SQL's ${shown} is not supported in ${where}; GetSqlInfo says what is`);
}
