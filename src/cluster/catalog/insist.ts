/** Calls of the port that are made again while nobody serves the list: an election takes 4 to 9 s. */
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { PortError } from "../port/port-error.ts";

/** What is waited with. */
export interface Patience {
  readonly clock: Pick<Clock, "monotonicMillis">;
  readonly sleep: (millis: number) => Promise<void>;
}

/** How long a call is made again, in milliseconds: twice the longest election. */
export const WAIT_MILLIS = 20_000;

/** What is waited between two of them. */
export const AGAIN_MILLIS = 200;

/** Makes a call until it is served, for `WAIT_MILLIS` at most. @throws what it throws otherwise */
export async function insist<T>(call: () => Promise<T>, patience: Patience): Promise<T> {
  const { clock } = patience;
  const end = clock.monotonicMillis() + WAIT_MILLIS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof PortError) || error.failure !== "unavailable" || clock.monotonicMillis() >= end) throw error;
    }
    await patience.sleep(AGAIN_MILLIS);
  }
}

/** What those hear who need the catalogue and do not get it. */
export function catalogueUnavailable(what: string, why: string, cause?: unknown): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot ${what} the catalogue: ${why}`, { cause, retryAfterSeconds: 1 });
}
