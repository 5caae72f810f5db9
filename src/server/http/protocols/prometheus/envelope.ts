/**
 * Answers of Prometheus' query API: `{"status":"success","data":…}` and `{"status":"error","errorType":…,"error":…}`.
 */
import { type DbError, publicMessageOf } from "../../../../base/error.ts";
import { httpStatusOf } from "../../../../base/status-code.ts";
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
  const status = httpStatusOf(error.code);
  return typedErrorReply(status, errorTypeOf(status), error);
}

/** An error of a given type. */
export function typedErrorReply(status: number, errorType: string, error: DbError): Reply {
  const headers: Record<string, string> = { "content-type": JSON_TYPE };
  if (error.retryAfterSeconds !== undefined) headers["retry-after"] = String(Math.ceil(error.retryAfterSeconds));
  return { status, headers, body: JSON.stringify({ status: "error", errorType, error: publicMessageOf(error) }) };
}

function errorTypeOf(status: number): string {
  switch (status) {
    case 408:
    case 504:
      return "timeout";
    case 429:
    case 503:
      return "unavailable";
    default:
      return status < 500 ? "bad_data" : "internal";
  }
}
