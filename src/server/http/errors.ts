/**
 * Error answers. Two shapes exist: with a code (SQL and credentials) and without (writes and admin); contract http.md 2.6, ingest.md 0.5.
 */
import { AssertionError } from "../../base/assert.ts";
import { corruptionOf, DbError, publicMessageOf, toDbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { httpStatusOf, StatusCode, statusNameOf } from "../../base/status-code.ts";
import { ERROR_HEADER_BYTES_MAX } from "./limits.ts";
import { JSON_TYPE, type Reply } from "./reply.ts";

/** Prints an error as clients of one protocol know it. */
export type ErrorPrinter = (error: DbError, elapsedMs: number) => Reply;

/** "coded": `{"code":N,"error":M,"execution_time_ms":T}` and headers. "plain": `{"error":M}`. Some protocols have their own. */
export type ErrorShape = "coded" | "plain" | ErrorPrinter;

const encoder = new TextEncoder();

/** `{"code":…,"error":…,"execution_time_ms":…}` with its headers. `status` overrides the status of the code. */
export function codedErrorReply(error: DbError, elapsedMs: number, status: number = httpStatusOf(error.code)): Reply {
  const message = publicMessageOf(error);
  const headers: Record<string, string> = {
    "content-type": JSON_TYPE,
    "x-greptime-err-code": String(error.code),
    "x-greptime-err-msg": headerText(`error: ${message}, execution_time_ms: ${elapsedMs}`),
  };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterSeconds));
  return { status, headers, body: JSON.stringify({ code: error.code, error: message, execution_time_ms: elapsedMs }) };
}

/** Where an operator finds the bytes that are not what was written, as fields of a log line. */
function corruptionFields(error: DbError): object {
  const corruption = corruptionOf(error);
  return corruption === undefined ? {} : { corruption };
}

/** An error in a shape. */
export function errorReply(error: DbError, shape: ErrorShape, elapsedMs: number): Reply {
  if (typeof shape === "function") return shape(error, elapsedMs);
  return shape === "coded" ? codedErrorReply(error, elapsedMs) : plainErrorReply(error);
}

/** `{"error":…}` with the status and headers of the code: errors outside SQL. */
export function plainErrorReply(error: DbError): Reply {
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterSeconds));
  return { status: httpStatusOf(error.code), headers, body: JSON.stringify({ error: publicMessageOf(error) }) };
}

/** A text as a legal header value: as it is, or every byte escaped as in a Rust byte string. Cut at `ERROR_HEADER_BYTES_MAX`. */
export function headerText(text: string): string {
  if (text.length <= ERROR_HEADER_BYTES_MAX && /^[\t\x20-\x7e]*$/.test(text)) return text;
  let out = "";
  for (const byte of encoder.encode(text)) {
    const piece = escapedByte(byte);
    if (out.length + piece.length > ERROR_HEADER_BYTES_MAX) break;
    out += piece;
  }
  return out;
}

function escapedByte(byte: number): string {
  switch (byte) {
    case 0x09:
      return "\\t";
    case 0x0a:
      return "\\n";
    case 0x0d:
      return "\\r";
    case 0x22:
      return '\\"';
    case 0x27:
      return "\\'";
    case 0x5c:
      return "\\\\";
    default:
      if (byte >= 0x20 && byte <= 0x7e) return String.fromCharCode(byte);
      return `\\x${byte.toString(16).padStart(2, "0")}`;
  }
}

/** Where failures are written down. */
export class FailureLog {
  private readonly logger: Logger;
  private readonly onBug: (error: AssertionError) => void;
  private count = 0;

  constructor(logger: Logger, onBug: (error: AssertionError) => void) {
    this.logger = logger;
    this.onBug = onBug;
  }

  /**
   * Logs what a handler threw, once: masked errors with a request id and the whole chain, other server failures as a warning, refused
   * requests, and those that shall come back later, for debugging only. A broken invariant is passed on to `onBug`.
   *
   * @returns the failure as a `DbError`, and the request id where the client cannot see the text
   */
  report(thrown: unknown, method: string, path: string, client: () => string): { readonly error: DbError; readonly requestId?: string } {
    const error = toDbError(thrown);
    const fields = { method, path, client: client(), code: statusNameOf(error.code), ...corruptionFields(error) };
    const masked = error.code === StatusCode.Internal || error.code === StatusCode.Unknown;
    if (!masked) {
      const status = httpStatusOf(error.code);
      // One that says when to come back is of a trouble that has its own line: a thousand clients must not write it once a request.
      // One of a value, such as a division by zero, is its query's; `varve_statements_total` counts it.
      const isOwn = error.code === StatusCode.EngineExecuteQuery || error.code === StatusCode.Cancelled;
      if (status >= 500 && !isOwn && error.retryAfterSeconds === undefined)
        this.logger.warn({ ...fields, error: error.message }, "a request failed");
      else this.logger.debug({ ...fields, error: error.message }, "a request was refused");
      return { error };
    }
    const requestId = `${process.pid.toString(36)}-${(++this.count).toString(36)}`;
    const cause = error.cause instanceof Error ? error.cause : error;
    this.logger.error({ ...fields, requestId, error: error.message, stack: cause.stack }, "a request failed inside the server");
    if (thrown instanceof AssertionError) this.onBug(thrown);
    return { error, requestId };
  }

  /**
   * Logs why an answer was cut whose head was out already, since its client saw nothing but a reset connection: a warning, whoever is to
   * blame. Not for a client that left by itself: it misses nothing.
   *
   * @param signal of the request: aborted with a `DbError` when its time was up, with another reason when its client left
   * @returns whether there was a failure
   */
  reportCut(thrown: unknown, method: string, path: string, signal: AbortSignal): boolean {
    const isLate = signal.reason instanceof DbError;
    if (signal.aborted && !isLate) return false;
    const error = toDbError(isLate ? signal.reason : thrown);
    if (error.code === StatusCode.Internal || error.code === StatusCode.Unknown)
      this.report(thrown, method, path, () => "a streamed answer");
    else {
      const fields = { method, path, code: statusNameOf(error.code), error: error.message };
      this.logger.warn(fields, "an answer was cut in the middle: its connection was reset");
    }
    return true;
  }
}
