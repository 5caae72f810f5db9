import { throwIfCancelled } from "./cancel.ts";

/** How long something is waited for. */
export interface WaitLimit {
  /** Absent: as long as it takes. */
  readonly millis?: number;
  /** What is thrown then. */
  readonly late?: () => Error;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits for work that goes on whether it is waited for or not.
 *
 * @throws what it fails with; `late()` after `millis`; Cancelled when the signal fires
 */
export async function waitWithin<T>(work: Promise<T>, { millis, late, signal }: WaitLimit): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const cancel = (): void => {
    try {
      throwIfCancelled(signal);
    } catch (error) {
      ended.reject(error);
    }
  };
  const timer = millis === undefined ? undefined : setTimeout(() => ended.reject(late?.() ?? new Error("too late")), millis);
  cancel();
  signal?.addEventListener("abort", cancel);
  try {
    return await Promise.race([work, ended.promise]);
  } finally {
    signal?.removeEventListener("abort", cancel);
    clearTimeout(timer);
  }
}
