import { DbError } from "../error.ts";
import { StatusCode } from "../status-code.ts";

/**
 * Ends work whose signal has fired; called once a batch.
 *
 * @throws DbError the signal's reason when it is one (DeadlineExceeded), else Cancelled
 */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw signal.reason instanceof DbError ? signal.reason : new DbError(StatusCode.Cancelled, "Query has been cancelled");
}

/**
 * A signal that fires with `parent`, or with DeadlineExceeded after `millis`; `done` ends the wait. 0 = no deadline.
 *
 * @param key the setting that says how long
 */
export function withDeadline(
  parent: AbortSignal,
  millis: number,
  key = "query.timeout",
): { readonly signal: AbortSignal; readonly done: () => void } {
  if (millis === 0) return { signal: parent, done: () => undefined };
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const seconds = millis / 1000;
    controller.abort(new DbError(StatusCode.DeadlineExceeded, `cannot finish the query: it ran longer than ${seconds} s (${key})`));
  }, millis);
  timer.unref();
  return { signal: AbortSignal.any([parent, controller.signal]), done: () => clearTimeout(timer) };
}
