/**
 * How a call of the port fails. Callers switch on `failure`, never on the text.
 *
 * | failure     | of an append                            | of other calls           | and the caller                                    |
 * |-------------|-----------------------------------------|--------------------------|---------------------------------------------------|
 * | unavailable | not stored, and it never will be        | nothing was learned      | tries again after a while                         |
 * | unknown     | stored, or will be, or never            | –                        | finds out, or sends it again if that does no harm |
 * | full        | not stored: the stream has no room      | –                        | waits until somebody trims                        |
 * | too-large   | not stored: above `messageBytesMax`     | –                        | cuts it up, or puts it elsewhere                  |
 * | cancelled   | as unknown: the signal fired            | nothing was learned      | knows why                                         |
 * | went-back   | stored, but others are lost: its number | messages that were there | stops, loudly: a server lost its data;            |
 * |             | is not above a known one                | are lost                 | appends again what it still has                   |
 * | replaced    | –                                       | the message that was     | as went-back                                      |
 * |             |                                         | read last is another now |                                                   |
 * | vanished    | not stored: there is no stream          | there is no stream       | as went-back                                      |
 * | trimmed     | –                                       | what it wants was let go | is not the owner any more, or begins anew         |
 * | denied      | not stored: it may not, or cannot be so | the same                 | tells the operator                                |
 * | closed      | not sent, or as unknown                 | nothing was learned      | closed the port itself                            |
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** See the file header. */
export type PortFailure =
  | "unavailable"
  | "unknown"
  | "full"
  | "too-large"
  | "cancelled"
  | "went-back"
  | "replaced"
  | "vanished"
  | "trimmed"
  | "denied"
  | "closed";

/** What clients of the server are told where nobody handles the failure. */
const CODES: Readonly<Record<PortFailure, StatusCode>> = {
  unavailable: StatusCode.StorageUnavailable,
  unknown: StatusCode.StorageUnavailable,
  full: StatusCode.RateLimited,
  "too-large": StatusCode.InvalidArguments,
  cancelled: StatusCode.Cancelled,
  "went-back": StatusCode.StorageUnavailable,
  replaced: StatusCode.StorageUnavailable,
  vanished: StatusCode.StorageUnavailable,
  trimmed: StatusCode.StorageUnavailable,
  denied: StatusCode.StorageUnavailable,
  closed: StatusCode.StorageUnavailable,
};

/** Seconds after which a client should come again while the log is full: flushes are seconds apart. */
const FULL_RETRY_SECONDS = 2;

/** See the file header. */
export class PortError extends DbError {
  readonly failure: PortFailure;
  /** Of `trimmed`: the first number that is there. */
  readonly first: number | undefined;

  /** @param message "cannot <verb> <thing>: <why>", without anything secret */
  constructor(failure: PortFailure, message: string, cause?: unknown, first?: number) {
    super(CODES[failure], message, { cause, retryAfterSeconds: failure === "full" ? FULL_RETRY_SECONDS : undefined });
    this.failure = failure;
    this.first = first;
  }
}

/** How a call of the port failed; undefined for what is no failure of a port. */
export function portFailureOf(thrown: unknown): PortFailure | undefined {
  return thrown instanceof PortError ? thrown.failure : undefined;
}

/** Of who knows a later number than a stream's last. */
export function wentBack(stream: string, last: number, known: number): PortError {
  return new PortError("went-back", `cannot go on with stream ${stream}: its last number is ${last}, but ${known} was there`);
}

/** Of who reads on in a stream whose numbers others have by now. */
export function replaced(stream: string, number: number): PortError {
  return new PortError("replaced", `cannot go on with stream ${stream}: its message ${number} is another than the one that was read`);
}

/** Of who wants what was let go. */
export function trimmed(stream: string, wanted: number, first: number): PortError {
  const message = `cannot read number ${wanted} of stream ${stream}: what is below ${first} was let go`;
  return new PortError("trimmed", message, undefined, first);
}
