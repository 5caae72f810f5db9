/** Why a request is refused, in the words that clients of the contract know (ingest.md 2.1). */
import { type DbError, invalidArguments } from "../../base/error.ts";
import { ProtoError } from "../../format/proto/reader.ts";

/** A request that cannot be read. */
export function undecodable(why: string, cause?: unknown): DbError {
  return invalidArguments(`Failed to decode prometheus remote request: ${why}`, cause);
}

/** A request that can be read and says what it must not. */
export function invalid(why: string): DbError {
  return invalidArguments(`Invalid prometheus remote request, msg: ${why}`);
}

/** Runs a decoder over bytes of a client. @throws DbError InvalidArguments for bytes that are not the message */
export function decoding<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ProtoError) throw undecodable(error.message, error);
    throw error;
  }
}
