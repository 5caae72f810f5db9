/** Failures of reads as Prometheus tells them: a status, a type and a text. */
import { DbError, publicMessageOf } from "../../../base/error.ts";
import { httpStatusOf, StatusCode } from "../../../base/status-code.ts";

/** How a failure is told. */
export interface ToldFailure {
  /** Of HTTP. */
  readonly status: number;
  readonly errorType: string;
}

/** A read that was ended, or that took too much; undefined: it is another error. */
export function endedFailure(error: DbError): ToldFailure | undefined {
  switch (error.code) {
    case StatusCode.DeadlineExceeded:
      return { status: 503, errorType: "timeout" };
    case StatusCode.Cancelled:
      return { status: 503, errorType: "canceled" };
    case StatusCode.RuntimeResourcesExhausted:
    case StatusCode.EngineExecuteQuery:
      return { status: 422, errorType: "execution" };
    default:
      return undefined;
  }
}

/** Any other. */
export function otherFailure(error: DbError): ToldFailure {
  const status = httpStatusOf(error.code);
  return { status, errorType: errorTypeOf(status) };
}

/** A query that failed while it ran; undefined: it is no failure of the query itself. */
export function queryFailure(error: DbError): ToldFailure | undefined {
  // Parameters were read before: what is wrong now is so when it runs.
  const isExecution = httpStatusOf(error.code) === 400 && error.code !== StatusCode.PlanQuery;
  return isExecution ? { status: 422, errorType: "execution" } : endedFailure(error);
}

/** A text that is no query, in Prometheus' words. */
export function badQuery(error: DbError): DbError {
  return new DbError(error.code, `invalid parameter "query": ${error.message}`);
}

/** The body. */
export function failureJson({ errorType }: ToldFailure, error: DbError): string {
  return JSON.stringify({ status: "error", errorType, error: publicMessageOf(error) });
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
