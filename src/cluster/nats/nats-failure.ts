/**
 * What answers and errors of NATS mean to users of the port. Codes are those of `server/errors.json` of nats-server; texts are not read.
 *
 * | NATS                                        | failure of an append | of another call |
 * |---------------------------------------------|----------------------|-----------------|
 * | no responders: nobody listens, no leader    | unavailable          | unavailable     |
 * | no answer in time, connection lost          | unknown              | unavailable     |
 * | cluster or stream without a leader          | unavailable          | unavailable     |
 * | store full, account or server without room  | full                 | unavailable     |
 * | no such stream                              | vanished             | vanished        |
 * | permissions violation, a request that is    | denied               | denied          |
 * | refused as it is (another 4xx)              |                      |                 |
 */
import {
  AuthorizationError,
  ClosedConnectionError,
  DrainingConnectionError,
  errors,
  PermissionViolationError,
  RequestError,
} from "@nats-io/transport-node";
import { errorText } from "../../base/error.ts";
import { PortError, type PortFailure } from "../port/port-error.ts";

/** What the servers answer instead of a result. */
export interface ApiError {
  /** As of HTTP. */
  readonly code: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** Codes of errors that callers ask for. */
export const API_CODE = {
  wrongLastSequence: 10071,
  /** The same, where the server cannot say which one it is. */
  wrongLastSequenceUnknown: 10164,
  noMessage: 10037,
  noStream: 10059,
  noConsumer: 10014,
} as const;

const FAILURES: ReadonlyMap<number, PortFailure> = new Map<number, PortFailure>([
  [API_CODE.noStream, "vanished"],
  [10023, "full"], // insufficient resources
  [10047, "full"], // storage of the account
  [10028, "full"], // memory of the server
  [10077, "full"], // the store refuses: maximum bytes exceeded
  [10054, "too-large"], // message size exceeds maximum allowed
  [10008, "unavailable"], // cluster not available
  [10009, "unavailable"], // not the leader
  [10118, "unavailable"], // stream is offline
]);

/** The failure that an answer tells of. @param what "append to the log of shard 3" */
export function failureOfAnswer(what: string, error: ApiError, isAppend: boolean): PortError {
  const isRefusal = error.code >= 400 && error.code < 500;
  const known = FAILURES.get(error.err_code ?? 0) ?? (error.code === 503 ? "unavailable" : isRefusal ? "denied" : undefined);
  const failure = known ?? (isAppend ? "unknown" : "unavailable");
  const isRoom = failure === "full" && !isAppend;
  const told = `NATS says: ${error.description ?? "nothing"} (${error.err_code ?? error.code})`;
  return new PortError(isRoom ? "unavailable" : failure, `cannot ${what}: ${told}`);
}

/** Whether nobody listened to a request: it had no effect. */
export function isNoResponders(thrown: unknown): boolean {
  return thrown instanceof RequestError && thrown.isNoResponders();
}

/** The failure that a request without an answer ended with. */
export function failureOfThrown(what: string, thrown: unknown, isAppend: boolean): PortError {
  if (thrown instanceof PortError) return thrown;
  const cause = thrown instanceof RequestError ? thrown.cause : thrown;
  if (isNoResponders(thrown)) return new PortError("unavailable", `cannot ${what}: nobody serves it at the moment`, thrown);
  if (cause instanceof PermissionViolationError) {
    return new PortError("denied", `cannot ${what}: the account of NATS has no permission to ${cause.operation} ${cause.subject}`);
  }
  if (cause instanceof ClosedConnectionError || cause instanceof DrainingConnectionError) {
    return new PortError("closed", `cannot ${what}: the connection to NATS is closed`, thrown);
  }
  const why = cause instanceof errors.TimeoutError ? "no answer in time" : cause instanceof AuthorizationError ? "not signed in" : "";
  return new PortError(isAppend ? "unknown" : "unavailable", `cannot ${what}: ${why === "" ? errorText(cause, 200) : why}`, thrown);
}
