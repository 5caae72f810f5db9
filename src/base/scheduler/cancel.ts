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

/** When work ends that is not done by then. */
export interface Deadline {
  /** 0 = no deadline. */
  readonly millis: number;
  /** The setting that says how long. */
  readonly key: string;
}

/** Longest delay that a timer takes; beyond it a timer would fire at once. */
const TIMER_MILLIS_MAX: number = 2 ** 31 - 1;

/** The one that comes first. */
export function soonerOf(a: Deadline, b: Deadline): Deadline {
  if (a.millis === 0) return b;
  return b.millis === 0 || a.millis <= b.millis ? a : b;
}

/**
 * A controller whose signal fires with `parent`, or with DeadlineExceeded; `done` ends both waits. It listens to its parent, where
 * `AbortSignal.any` would take a controller and a signal for each cause.
 */
export function cancelledWith(
  parent: AbortSignal,
  { millis, key }: Deadline,
): { readonly controller: AbortController; readonly done: () => void } {
  const controller = new AbortController();
  const follow = (): void => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener("abort", follow);
  const timer = millis === 0 ? undefined : setTimeout(() => controller.abort(lateReason(millis, key)), Math.min(millis, TIMER_MILLIS_MAX));
  timer?.unref();
  return {
    controller,
    done: () => {
      parent.removeEventListener("abort", follow);
      clearTimeout(timer);
    },
  };
}

function lateReason(millis: number, key: string): DbError {
  return new DbError(StatusCode.DeadlineExceeded, `cannot finish the query: it ran longer than ${millis / 1000} s (${key})`);
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
  const { controller, done } = cancelledWith(parent, { millis, key });
  return { signal: controller.signal, done };
}
