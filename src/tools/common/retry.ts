/** When requests are sent again, and after how long. */

/** Answers after which the same request may succeed: too many requests, a server that stops or waits for its disk, a proxy without one. */
export const HTTP_STATUS_RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** First wait; each further one is twice as long. */
const WAIT_MILLIS = 100;
/** Longest wait. Reason: a server that restarts is back within seconds. */
const WAIT_MILLIS_MAX = 5_000;

/** The wait before try `attempt` (1 = the first repetition), a little shorter or longer so that connections do not come in step. */
export function waitMillis(attempt: number, told: number | undefined, random: () => number = Math.random): number {
  const own = Math.min(WAIT_MILLIS_MAX, WAIT_MILLIS * 2 ** Math.min(16, attempt - 1));
  return Math.max(told ?? 0, own * (0.75 + random() / 2));
}

/** Waits, or throws the signal's reason once it fires. */
export async function pause(millis: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, millis);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
