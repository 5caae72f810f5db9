/**
 * GreptimeRequest as bytes: its header as a message, and which of the requests it is with that one's bytes, which nobody has read yet.
 */
import { type RequestHeader, RequestHeaderSchema } from "../../../../proto/gen/greptime/v1/common_pb.js";
import { invalidArguments } from "../../../base/error.ts";
import { field, ProtoError, ProtoReader, Wire } from "../../../format/proto/reader.ts";
import { readMessage } from "../messages/read-message.ts";

/** Largest header, bytes. Reason: it is read into objects. Error: InvalidArguments. */
const HEADER_BYTES_MAX: number = 64 * 1024;

/** The member of the request that is set. */
export type RequestKind = "inserts" | "query" | "ddl" | "deletes" | "row_inserts" | "row_deletes";

/** A request whose own message is unread. */
export interface RawRequest {
  /** As sent. Borrowed. */
  readonly header: Uint8Array;
  readonly kind: RequestKind;
  /** Borrowed. */
  readonly body: Uint8Array;
}

const HEADER = field(1, Wire.bytes);
/** By tag. */
const KINDS: ReadonlyMap<number, RequestKind> = new Map([
  [field(2, Wire.bytes), "inserts"],
  [field(3, Wire.bytes), "query"],
  [field(4, Wire.bytes), "ddl"],
  [field(5, Wire.bytes), "deletes"],
  [field(6, Wire.bytes), "row_inserts"],
  [field(7, Wire.bytes), "row_deletes"],
]);
const NOTHING: Uint8Array = new Uint8Array(0);

/** Takes a message apart. @param isTicket for errors @throws DbError InvalidArguments for bytes that are none, and for no request */
export function readRequest(bytes: Uint8Array, isTicket = false): RawRequest {
  const reader = new ProtoReader();
  reader.open(bytes);
  let header = NOTHING;
  let kind: RequestKind | undefined;
  let body = NOTHING;
  try {
    while (reader.at < bytes.length) {
      const tag = reader.tag(bytes.length);
      const found = KINDS.get(tag);
      if (found === undefined && tag !== HEADER) {
        reader.skip(tag, bytes.length);
        continue;
      }
      const end = reader.lengthEnd(bytes.length);
      const value = bytes.subarray(reader.at, end);
      reader.at = end;
      if (found === undefined) header = value;
      else [kind, body] = [found, value];
    }
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    const what = isTicket ? "Invalid flight ticket: it is no GreptimeRequest" : "cannot read GreptimeRequest";
    throw invalidArguments(`${what}: ${error.message}`, error);
  }
  if (kind === undefined) {
    const empty = "cannot handle the GreptimeRequest: it is empty; set one of its requests";
    throw invalidArguments(isTicket ? "Invalid flight ticket: it has no request" : empty);
  }
  return { header, kind, body };
}

/** The header of a request. @throws DbError InvalidArguments */
export function readHeader(bytes: Uint8Array): RequestHeader {
  if (bytes.length > HEADER_BYTES_MAX) {
    throw invalidArguments(`cannot read RequestHeader: it has ${bytes.length} bytes, at most ${HEADER_BYTES_MAX} are allowed`);
  }
  return readMessage(RequestHeaderSchema, bytes);
}
