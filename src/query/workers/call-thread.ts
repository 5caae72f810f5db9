/**
 * The thread of long calls, as the thread of queries sees it: calls wait in a queue and run one after the other. It starts with the first
 * call and ends when it has rested for a while. A call whose query is over is not waited for: the thread is ended in the middle of it, and
 * the next call starts another.
 *
 * A call there and back takes 60 µs and a copy of its arguments and result; a start takes 40 ms.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { Value } from "../function/value.ts";
import type { CallJob, LongCalls } from "../exec/long-calls.ts";
import type { FromCallThread } from "./call-messages.ts";

/** Most calls that wait. Reason: each holds its arguments. Error: RateLimited. */
const WAITING_MAX = 1024;
/** How long it rests before it ends. Reason: a thread takes some ten MiB. */
const REST_MILLIS = 10_000;

interface Waiting {
  readonly id: number;
  readonly job: CallJob;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** See the file header. */
export class CallThread implements LongCalls {
  private readonly startWorker: () => Worker;
  private readonly restMillis: number;
  private worker: Worker | undefined;
  private queue: Waiting[] = [];
  private running: Waiting | undefined;
  private lastId = 0;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  /** @param startWorker starts a thread that speaks `call-messages.ts` */
  constructor(startWorker: () => Worker, restMillis: number = REST_MILLIS) {
    this.startWorker = startWorker;
    this.restMillis = restMillis;
  }

  /** Whether the thread is there. */
  get isStarted(): boolean {
    return this.worker !== undefined;
  }

  call(job: CallJob, signal: AbortSignal): Promise<Value> {
    if (this.isClosed) return Promise.reject(closing());
    if (this.queue.length >= WAITING_MAX)
      return Promise.reject(new DbError(StatusCode.RateLimited, `cannot run query: ${WAITING_MAX} calls of functions wait for their turn`));
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    const waiting: Waiting = { id: ++this.lastId, job, resolve, reject };
    this.queue.push(waiting);
    const leave = (): void => this.leave(waiting);
    signal.addEventListener("abort", leave, { once: true });
    this.next();
    return promise.finally(() => signal.removeEventListener("abort", leave));
  }

  /** Ends the thread; what runs or waits fails. */
  close(): void {
    this.isClosed = true;
    const { queue } = this;
    this.queue = [];
    this.end(closing());
    for (const { reject } of queue) reject(closing());
  }

  private next(): void {
    if (this.running !== undefined) return;
    clearTimeout(this.rest);
    const waiting = this.queue.shift();
    if (waiting === undefined) {
      if (this.worker === undefined) return;
      this.rest = setTimeout(() => this.end(closing()), this.restMillis);
      this.rest.unref();
      return;
    }
    this.running = waiting;
    try {
      this.worker ??= this.start();
      this.worker.postMessage({ id: waiting.id, job: { ...waiting.job, args: waiting.job.args.map(ownBytes) } });
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)));
      this.next();
    }
  }

  private start(): Worker {
    const worker = this.startWorker();
    const lost = (): void => {
      if (this.worker !== worker) return;
      this.end(new DbError(StatusCode.External, "cannot run query: the thread that computed a function stopped; run it again"));
      this.next();
    };
    worker.addEventListener("message", ({ data }: MessageEvent<FromCallThread>) => {
      if (this.worker === worker) this.take(data);
    });
    for (const kind of ["error", "messageerror", "close"]) worker.addEventListener(kind, lost);
    return worker;
  }

  private take(message: FromCallThread): void {
    const { running } = this;
    if (running?.id !== message.id) return;
    this.running = undefined;
    if (message.kind === "value") running.resolve(message.value);
    else running.reject(errorOf(message));
    this.next();
  }

  private leave(waiting: Waiting): void {
    const left = new DbError(StatusCode.Cancelled, "Query has been cancelled");
    if (this.running === waiting) {
      this.end(left);
      this.next();
      return;
    }
    this.queue = this.queue.filter((other) => other !== waiting);
    waiting.reject(left);
  }

  /** Ends the thread, whatever it is in. */
  private end(error: Error): void {
    clearTimeout(this.rest);
    const { worker, running } = this;
    this.worker = undefined;
    this.running = undefined;
    worker?.terminate();
    running?.reject(error);
  }
}

/** A view of a larger buffer would be copied with all of it. */
function ownBytes(value: Value): Value {
  return value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? value.slice() : value;
}

function closing(): DbError {
  return new DbError(StatusCode.Cancelled, "cannot run query: the server is closing");
}

function errorOf({ code, message, stack }: Extract<FromCallThread, { kind: "failed" }>): DbError {
  if (stack === undefined) return new DbError(code, message);
  const cause = new Error(message);
  cause.stack = stack;
  return new DbError(code, message, { cause });
}
