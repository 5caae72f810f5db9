/** Errors on their way between threads, which hand over plain data. */
import { DbError, type ErrorDetails, errorText } from "./error.ts";
import { StatusCode } from "./status-code.ts";

/** What another thread must know of an error; its cause stays where it was thrown. */
export interface ToldError {
  readonly code: StatusCode;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly details: ErrorDetails;
  /** Of a bug, which is Internal. */
  readonly stack: string | undefined;
}

/** Anything thrown as it goes to another thread. */
export function toldError(thrown: unknown): ToldError {
  if (thrown instanceof DbError) {
    const { code, message, retryAfterSeconds, details } = thrown;
    return { code, message, retryAfterSeconds, details, stack: undefined };
  }
  const stack = thrown instanceof Error ? thrown.stack : undefined;
  return { code: StatusCode.Internal, message: errorText(thrown), retryAfterSeconds: undefined, details: {}, stack };
}

/** The error that another thread told of; that of a bug has the bug, with the stack it had there, as its cause. */
export function errorOfTold({ code, message, retryAfterSeconds, details, stack }: ToldError): DbError {
  if (stack === undefined) return new DbError(code, message, { retryAfterSeconds, details });
  const cause = new Error(message);
  cause.stack = stack;
  return new DbError(code, message, { cause, retryAfterSeconds, details });
}
