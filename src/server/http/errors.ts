/**
 * Error answers. Two shapes exist: with a code (SQL and credentials) and without (writes and admin); contract http.md 2.6, ingest.md 0.5.
 */
import { type DbError, publicMessageOf } from "../../base/error.ts";
import { httpStatusOf } from "../../base/status-code.ts";
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
