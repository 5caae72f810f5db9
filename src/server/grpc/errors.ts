/**
 * Failures as gRPC says them (contract query.md 5.6, Appendix A; http.md 2.7): a status, a text, and in the metadata the number of our code
 * and whether trying again may help.
 *
 *   DbError 4001 ──► NOT_FOUND (5), `x-greptime-err-code: 4001`, `x-greptime-err-retry-hint: non_retryable`
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { DbError, publicMessageOf } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";

/** Metadata of a failure: the number of our code, and whether to try again. */
export const ERROR_CODE = "x-greptime-err-code";
const RETRY_HINT = "x-greptime-err-retry-hint";
/** Milliseconds to wait, as gRPC's own clients know it (gRFC A6); only where the server says when. */
const RETRY_PUSHBACK = "grpc-retry-pushback-ms";

/** A missing code is a compile error. No failure has code 0. */
const CODES: Readonly<Record<StatusCode, Code>> = {
  0: Code.Unknown,
  1000: Code.Unknown,
  1001: Code.Unimplemented,
  1002: Code.Internal,
  1003: Code.Internal,
  1004: Code.InvalidArgument,
  1005: Code.Canceled,
  1006: Code.Internal,
  1007: Code.Unknown,
  1008: Code.DeadlineExceeded,
  1009: Code.ResourceExhausted,
  2000: Code.InvalidArgument,
  3000: Code.Internal,
  3001: Code.Internal,
  4000: Code.AlreadyExists,
  4001: Code.NotFound,
  4002: Code.NotFound,
  4003: Code.AlreadyExists,
  4004: Code.NotFound,
  4005: Code.NotFound,
  4006: Code.AlreadyExists,
  4007: Code.PermissionDenied,
  4008: Code.Unavailable,
  4009: Code.ResourceExhausted,
  4010: Code.Unavailable,
  4011: Code.AlreadyExists,
  5000: Code.Unavailable,
  5001: Code.InvalidArgument,
  6000: Code.ResourceExhausted,
  6001: Code.ResourceExhausted,
  7000: Code.NotFound,
  7001: Code.Unauthenticated,
  7002: Code.Unauthenticated,
  7003: Code.Unauthenticated,
  7004: Code.Unauthenticated,
  7005: Code.PermissionDenied,
  7006: Code.PermissionDenied,
  8000: Code.AlreadyExists,
  8001: Code.NotFound,
  9000: Code.AlreadyExists,
  9001: Code.NotFound,
};

/** Failures that may be gone when the same request comes again. */
const RETRYABLE: ReadonlySet<StatusCode> = new Set([
  StatusCode.External,
  StatusCode.Suspended,
  StatusCode.RegionNotReady,
  StatusCode.RegionBusy,
  StatusCode.TableUnavailable,
  StatusCode.StorageUnavailable,
  StatusCode.RuntimeResourcesExhausted,
  StatusCode.RateLimited,
]);

/** What stands for a failure that the transport itself found, such as a message that cannot be read. */
const OF_TRANSPORT: ReadonlyMap<Code, StatusCode> = new Map([
  [Code.Canceled, StatusCode.Cancelled],
  [Code.InvalidArgument, StatusCode.InvalidArguments],
  [Code.DeadlineExceeded, StatusCode.DeadlineExceeded],
  [Code.ResourceExhausted, StatusCode.RuntimeResourcesExhausted],
  [Code.Unimplemented, StatusCode.Unsupported],
  [Code.OutOfRange, StatusCode.InvalidArguments],
  [Code.Unauthenticated, StatusCode.InvalidAuthHeader],
]);

/** Our code of what the transport found. */
export function statusOfTransport(code: Code): StatusCode {
  return OF_TRANSPORT.get(code) ?? StatusCode.Unknown;
}

/** Metadata that tell a client of a failure. */
export function errorMetadata(code: StatusCode, retryAfterSeconds: number | undefined): Record<string, string> {
  const isRetryable = retryAfterSeconds !== undefined || RETRYABLE.has(code);
  const metadata: Record<string, string> = { [ERROR_CODE]: String(code), [RETRY_HINT]: isRetryable ? "retryable" : "non_retryable" };
  if (retryAfterSeconds !== undefined) metadata[RETRY_PUSHBACK] = String(Math.ceil(retryAfterSeconds * 1000));
  return metadata;
}

/** A failure as the transport sends it. */
export function connectErrorOf(error: DbError): ConnectError {
  const metadata = errorMetadata(error.code, error.retryAfterSeconds);
  const status = error instanceof GrpcStatusError ? error.status : CODES[error.code];
  return new ConnectError(publicMessageOf(error), status, metadata, undefined, error);
}

/** A failure with another status than its code has, where the contract of a protocol says so. */
export class GrpcStatusError extends DbError {
  readonly status: Code;

  constructor(status: Code, code: StatusCode, message: string) {
    super(code, message);
    this.status = status;
  }
}

const encoder = new TextEncoder();

/** A text as `grpc-message` carries it: only what is no printable ASCII, and the percent sign, is written by its bytes. */
export function grpcMessageOf(text: string): string {
  let message = "";
  for (const byte of encoder.encode(text)) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== PERCENT;
    message += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return message;
}

const PERCENT = 0x25;
