/**
 * One thread of long calls, as the thread of queries sees it: calls wait in a queue and run one after the other. It starts with the first
 * call and ends when it has rested for a while. A call whose query is over is not waited for: the thread is ended in the middle of it, and
 * the next call starts another. So it is with a call that ran for its turn while others wait, where turns are limited: it is handed over,
 * and begins anew elsewhere.
 *
 * A call there and back takes 60 µs and a copy of what it reads and gives; a start takes 40 ms.
 */
import { DbError } from "../../base/error.ts";
import { errorOfTold } from "../../base/told-error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { CallJob, CallOwner } from "../expression/long-calls.ts";
import type { Value } from "../function/value/value.ts";
import { type FromCallThread, KEPT_EXPRESSIONS_MAX, type ToCallThread } from "./call-messages.ts";

/** A call that waits or runs. */
export interface WaitingCall {
  readonly id: number;
  readonly job: CallJob;
  readonly owner: CallOwner;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: Error) => void;
}

/** How a thread ends, and how long a call may run while others wait. */
export interface CallThreadOptions {
  /** Starts a thread that speaks `call-messages.ts`. */
  readonly startWorker: () => Worker;
  readonly restMillis: number;
  /** Absent: as long as it takes. */
  readonly turn?: { readonly millis: number; readonly over: (call: WaitingCall) => void };
}

/** See the file header. */
export class CallThread {
  private readonly options: CallThreadOptions;
  private worker: Worker | undefined;
  /** Expressions that the worker keeps, the one that was sent first first. */
  private kept = new Set<number>();
  private queue: WaitingCall[] = [];
  private running: WaitingCall | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private turn: ReturnType<typeof setTimeout> | undefined;
  /** Whether the call that runs has had its turn. */
  private isTurnOver = false;

  constructor(options: CallThreadOptions) {
    this.options = options;
  }

  /** Whether the thread is there. */
  get isStarted(): boolean {
    return this.worker !== undefined;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.queue.length;
  }

  /** Takes a call. */
  add(call: WaitingCall): void {
    this.queue.push(call);
    this.giveWay();
    this.next();
  }

  /** Lets go of a call that nobody waits for any more; false: it is not here. */
  leave(call: WaitingCall, error: Error): boolean {
    if (this.running === call) {
      this.end(error);
      this.next();
      return true;
    }
    const before = this.queue.length;
    this.queue = this.queue.filter((other) => other !== call);
    if (this.queue.length === before) return false;
    call.reject(error);
    return true;
  }

  /** Ends the thread; what runs or waits fails. */
  close(error: Error): void {
    const { queue } = this;
    this.queue = [];
    this.end(error);
    for (const { reject } of queue) reject(error);
  }

  private next(): void {
    if (this.running !== undefined) return;
    clearTimeout(this.rest);
    const call = this.queue.shift();
    if (call === undefined) {
      if (this.worker === undefined) return;
      this.rest = setTimeout(() => this.end(undefined), this.options.restMillis);
      this.rest.unref();
      return;
    }
    this.running = call;
    if (this.options.turn !== undefined) {
      this.turn = setTimeout(() => {
        this.isTurnOver = true;
        this.giveWay();
      }, this.options.turn.millis);
      this.turn.unref();
    }
    try {
      this.worker ??= this.start();
      this.send(this.worker, call);
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)));
      this.next();
    }
  }

  private send(worker: Worker, { id, job }: WaitingCall): void {
    const { expression, ...rest } = job;
    const isKept = this.kept.has(job.expressionId);
    if (!isKept) {
      const [first] = this.kept;
      if (this.kept.size >= KEPT_EXPRESSIONS_MAX && first !== undefined) this.kept.delete(first);
      this.kept.add(job.expressionId);
    }
    const row = job.row.map(([column, value]) => [column, ownBytes(value)] as const);
    worker.postMessage({ kind: "call", id, job: { ...rest, row }, expression: isKept ? undefined : expression } satisfies ToCallThread);
  }

  private endTurn(): void {
    clearTimeout(this.turn);
    this.isTurnOver = false;
  }

  /** Hands over the call that runs, once it has had its turn and others wait. */
  private giveWay(): void {
    const { running } = this;
    const { turn } = this.options;
    if (turn === undefined || running === undefined || !this.isTurnOver || this.queue.length === 0) return;
    this.running = undefined;
    this.end(undefined);
    turn.over(running);
    this.next();
  }

  private start(): Worker {
    const worker = this.options.startWorker();
    const lost = (): void => {
      if (this.worker !== worker) return;
      this.end(new DbError(StatusCode.External, "cannot run query: the thread that computed a function stopped; run it again"));
      this.next();
    };
    worker.addEventListener("message", ({ data }: MessageEvent<FromCallThread>) => {
      if (this.worker === worker) this.take(data, worker);
    });
    for (const kind of ["error", "messageerror", "close"]) worker.addEventListener(kind, lost);
    return worker;
  }

  private take(message: FromCallThread, worker: Worker): void {
    const { running } = this;
    if (running?.id !== message.id) return;
    if (message.kind === "computed") {
      this.endTurn(); // The value has only to be copied.
      try {
        running.owner.reserve(message.bytes);
        worker.postMessage({ kind: "take", id: message.id } satisfies ToCallThread);
        return;
      } catch (error) {
        worker.postMessage({ kind: "drop", id: message.id } satisfies ToCallThread);
        running.reject(error instanceof Error ? error : new Error(String(error)));
      }
    } else if (message.kind === "value") running.resolve(message.value);
    else running.reject(errorOfTold(message.error));
    this.endTurn();
    this.running = undefined;
    this.next();
  }

  /** Ends the thread, whatever it is in. */
  private end(error: Error | undefined): void {
    clearTimeout(this.rest);
    this.endTurn();
    const { worker, running } = this;
    this.worker = undefined;
    this.running = undefined;
    this.kept = new Set();
    worker?.terminate();
    if (error !== undefined) running?.reject(error);
  }
}

/** A view of a larger buffer would be copied with all of it. */
function ownBytes(value: Value): Value {
  return value instanceof Uint8Array && value.byteLength < value.buffer.byteLength ? value.slice() : value;
}
