/**
 * Answers of Prometheus' query API: `{"status":"success","data":…}` and `{"status":"error","errorType":…,"error":…}`.
 */
import { type DbError, publicMessageOf } from "../../../../base/error.ts";
import { httpStatusOf, StatusCode } from "../../../../base/status-code.ts";
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

/** The same for errors of reads. */
export function readErrorReply(error: DbError): Reply {
  return endedReply(error) ?? prometheusErrorReply(error);
}

/** A read that was ended, or that took too much, as Prometheus tells it; undefined: it is another error. */
export function endedReply(error: DbError): Reply | undefined {
  switch (error.code) {
    case StatusCode.DeadlineExceeded:
      return typedErrorReply(503, "timeout", error);
    case StatusCode.Cancelled:
      return typedErrorReply(503, "canceled", error);
    case StatusCode.RuntimeResourcesExhausted:
    case StatusCode.EngineExecuteQuery:
      return typedErrorReply(422, "execution", error);
    default:
      return undefined;
  }
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
