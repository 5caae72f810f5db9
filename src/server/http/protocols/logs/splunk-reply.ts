/** Answers of the HTTP event collector: `{"text":…,"code":…}` (contract ingest.md 7.2). */
import { type DbError, publicMessageOf } from "../../../../base/error.ts";
import { httpStatusOf, StatusCode } from "../../../../base/status-code.ts";
import type { Refusal } from "../../../../ingest/splunk/types.ts";
import { jsonReply, type Reply } from "../../reply.ts";

const INVALID_DATA = 6;
const INTERNAL = 8;
const BUSY = 9;

/** An answer with a text and a code. */
export function splunkReply(status: number, text: string, code: number): Reply {
  return jsonReply(status, JSON.stringify({ text, code }));
}

/** A request that is refused. */
export function splunkRefusal({ text, code }: Refusal): Reply {
  return splunkReply(400, text, code);
}

/** A request without good credentials. */
export function splunkAuthReply(error: DbError): Reply {
  if (error.code === StatusCode.AuthHeaderNotFound) return splunkReply(401, "Token is required", 2);
  return splunkReply(403, "Invalid token", 4);
}

/** An error: 6 where sending the request again is of no use, 9 where it is, 8 for failures of the server. */
export function splunkErrorReply(error: DbError): Reply {
  const status = httpStatusOf(error.code);
  const retry = error.retryAfterSeconds === undefined ? {} : { "retry-after": String(Math.ceil(error.retryAfterSeconds)) };
  const code = status === 429 || status === 503 ? BUSY : status >= 500 ? INTERNAL : INVALID_DATA;
  const reply = splunkReply(code === INTERNAL ? 500 : status, publicMessageOf(error), code);
  return { ...reply, headers: { ...reply.headers, ...retry } };
}
