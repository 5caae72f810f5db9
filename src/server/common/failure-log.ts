/** Failures of requests, whatever protocol they came by: what is written down, and what their clients may see. */
import { AssertionError } from "../../base/assert.ts";
import { corruptionOf, DbError, toDbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { httpStatusOf, StatusCode, statusNameOf } from "../../base/status-code.ts";

/** What the log calls a request by. Neither secrets nor values. */
export interface RequestName {
  /** Of HTTP its method; of others the kind of the message. */
  readonly method: string;
  /** Of HTTP its path; of others the protocol. */
  readonly path: string;
}

/** Where an operator finds the bytes that are not what was written, as fields of a log line. */
function corruptionFields(error: DbError): object {
  const corruption = corruptionOf(error);
  return corruption === undefined ? {} : { corruption };
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
  report(thrown: unknown, request: RequestName, client: () => string): { readonly error: DbError; readonly requestId?: string } {
    const error = toDbError(thrown);
    const { method, path } = request;
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
  reportCut(thrown: unknown, request: RequestName, signal: AbortSignal): boolean {
    const isLate = signal.reason instanceof DbError;
    if (signal.aborted && !isLate) return false;
    const error = toDbError(isLate ? signal.reason : thrown);
    if (error.code === StatusCode.Internal || error.code === StatusCode.Unknown) this.report(thrown, request, () => "a streamed answer");
    else {
      const { method, path } = request;
      const fields = { method, path, code: statusNameOf(error.code), error: error.message };
      this.logger.warn(fields, "an answer was cut in the middle: its connection was reset");
    }
    return true;
  }
}
