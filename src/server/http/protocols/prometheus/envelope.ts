/**
 * Answers of Prometheus' query API: `{"status":"success","data":…}` and `{"status":"error","errorType":…,"error":…}`.
 */
import type { DbError } from "../../../../base/error.ts";
import { endedFailure, failureJson, otherFailure, type ToldFailure } from "../../../common/promql/failures.ts";
import { JSON_TYPE, jsonReply, type Reply } from "../../reply.ts";

/**
 * @param data JSON text
 * @param behind more members of the envelope, each behind a comma: warnings
 */
export function successReply(data: string, behind = ""): Reply {
  return jsonReply(200, `{"status":"success","data":${data}${behind}}`);
}

/** An error as clients of Prometheus know it. */
export function prometheusErrorReply(error: DbError): Reply {
  return failureReply(otherFailure(error), error);
}

/** The same for errors of reads. */
export function readErrorReply(error: DbError): Reply {
  return failureReply(endedFailure(error) ?? otherFailure(error), error);
}

/** An error that is told in a given way. */
export function failureReply(told: ToldFailure, error: DbError): Reply {
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterSeconds));
  return { status: told.status, headers, body: failureJson(told, error) };
}
