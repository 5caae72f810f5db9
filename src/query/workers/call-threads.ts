/**
 * The threads of long calls: one for those that are new, where each has a turn of half a second while others wait, and one for those that
 * took longer, which begin there again. So a call of some milliseconds never waits for seconds of another's, and what runs twice is at most
 * one turn. On either thread a query has one call at a time, behind those of others that came before it.
 *
 *   call ─► quick: [a] [b] [c] ──► value
 *                └─ took its turn, others wait ─► slow: [d] [e] ──► value
 */
import { DbError } from "../../base/error.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Value } from "../function/value/value.ts";
import type { CallJob, CallOwner, LongCalls } from "../expression/long-calls.ts";
import { CallThread, type WaitingCall } from "./call-thread.ts";

/** Most calls that wait. Reason: each holds what it reads. Error: RateLimited. */
const WAITING_MAX = 1024;
/** How long a thread rests before it ends. Reason: it takes some ten MiB. */
const REST_MILLIS = 10_000;
/** How long a call runs while others wait. Reason: a start takes 40 ms, which is to be little beside it. */
const TURN_MILLIS = 500;

/** Numbers that tests change. */
export interface CallThreadTimes {
  readonly restMillis?: number;
  readonly turnMillis?: number;
}

/** See the file header. */
export class CallThreads implements LongCalls {
  private readonly quick: CallThread;
  private readonly slow: CallThread;
  private lastId = 0;
  private isClosed = false;

  /** @param startWorker starts a thread that speaks `call-messages.ts` */
  constructor(startWorker: () => Worker, { restMillis = REST_MILLIS, turnMillis = TURN_MILLIS }: CallThreadTimes = {}) {
    const slow = new CallThread({ startWorker, restMillis });
    this.slow = slow;
    this.quick = new CallThread({ startWorker, restMillis, turn: { millis: turnMillis, over: (call) => slow.add(call) } });
  }

  /** Whether a thread is there. */
  get isStarted(): boolean {
    return this.quick.isStarted || this.slow.isStarted;
  }

  call(job: CallJob, owner: CallOwner): Promise<Value> {
    if (this.isClosed) return Promise.reject(closing());
    if (this.quick.waiting + this.slow.waiting >= WAITING_MAX)
      return Promise.reject(new DbError(StatusCode.RateLimited, `cannot run query: ${WAITING_MAX} calls of functions wait for their turn`));
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const call: WaitingCall = { id: ++this.lastId, job, owner, resolve, reject };
    const { signal } = owner;
    const leave = (): void => {
      const error = leftError(signal);
      if (!this.quick.leave(call, error)) this.slow.leave(call, error);
    };
    if (signal.aborted) return Promise.reject(leftError(signal));
    signal.addEventListener("abort", leave, { once: true });
    this.quick.add(call);
    return promise.finally(() => signal.removeEventListener("abort", leave));
  }

  /** Ends the threads; what runs or waits fails. */
  close(): void {
    this.isClosed = true;
    this.quick.close(closing());
    this.slow.close(closing());
  }
}

/** The reason of a signal that has fired. */
function leftError(signal: AbortSignal): Error {
  try {
    throwIfCancelled(signal);
  } catch (error) {
    if (error instanceof Error) return error;
  }
  return new DbError(StatusCode.Cancelled, "Query has been cancelled");
}

/** The error of work that ends with the server. */
export function closing(): DbError {
  return new DbError(StatusCode.Cancelled, "cannot run query: the server is closing");
}
