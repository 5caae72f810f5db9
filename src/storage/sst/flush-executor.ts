/**
 * Runs flushes: in a worker, so that the thread with the sockets is free, or in place, for tests and stores that live in this process.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { FileStore } from "../file-store/file-store.ts";
import { type DataFile, type FlushJob, flushChunks } from "./flush.ts";

/** See the file header. */
export interface FlushExecutor {
  /** Writes the job's files. Jobs run one after another. @throws DbError StorageUnavailable; no file of the job stays */
  flush(job: FlushJob): Promise<readonly DataFile[]>;
  /** Ends the executor; jobs that still run or come later fail. */
  close(): Promise<void>;
}

/** Runs flushes on the calling thread. */
export function inlineFlushExecutor(store: FileStore): FlushExecutor {
  let last: Promise<unknown> = Promise.resolve();
  return {
    flush(job) {
      const run = last.then(() => flushChunks(job, store));
      last = Promise.allSettled([run]); // Each caller sees its own error; the next job starts anyway.
      return run;
    },
    async close() {
      await last;
    },
  };
}

/** What goes to the worker. */
export interface FlushRequest {
  readonly id: number;
  readonly root: string;
  readonly job: FlushJob;
}

/** What comes back. */
export type FlushReply =
  | { readonly id: number; readonly files: readonly DataFile[] }
  | { readonly id: number; readonly error: string; readonly code: StatusCode };

interface Waiting {
  readonly resolve: (files: readonly DataFile[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs flushes in one worker over the local files under `root`. The worker starts with the first flush; one that dies fails all jobs it
 * had, and the next job starts another.
 *
 * @param script the worker's program; tests give it one that misbehaves
 */
export function workerFlushExecutor(root: string, script: string = new URL("./flush-worker.ts", import.meta.url).href): FlushExecutor {
  return new WorkerFlushExecutor(root, script);
}

/** Invariant: all of `waiting` are with `worker`. */
class WorkerFlushExecutor implements FlushExecutor {
  private readonly root: string;
  private readonly script: string;
  private readonly waiting: Map<number, Waiting> = new Map();
  private worker: Worker | undefined;
  private lastId = 0;
  private isClosed = false;

  constructor(root: string, script: string) {
    this.root = root;
    this.script = script;
  }

  async flush(job: FlushJob): Promise<readonly DataFile[]> {
    if (this.isClosed) throw stopped("the server is closing");
    this.worker ??= this.start();
    const id = ++this.lastId;
    const request: FlushRequest = { id, root: this.root, job };
    this.worker.postMessage(request);
    const { promise, resolve, reject } = Promise.withResolvers<readonly DataFile[]>();
    this.waiting.set(id, { resolve, reject });
    return promise;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.worker !== undefined) this.fail(this.worker, "the server is closing");
  }

  private start(): Worker {
    const worker = new Worker(this.script, { name: "flush" });
    worker.addEventListener("message", (event: MessageEvent<FlushReply>) => this.answer(event.data));
    worker.addEventListener("error", (event: ErrorEvent) => this.fail(worker, event.message));
    worker.addEventListener("messageerror", () => this.fail(worker, "its answer could not be read"));
    worker.addEventListener("close", () => this.fail(worker, "it exited"));
    return worker;
  }

  private answer(reply: FlushReply): void {
    const caller = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if ("files" in reply) caller?.resolve(reply.files);
    else caller?.reject(new DbError(reply.code, reply.error));
  }

  private fail(worker: Worker, why: string): void {
    if (this.worker !== worker) return; // An earlier one: its jobs have failed already.
    this.worker = undefined;
    worker.terminate();
    const failed = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of failed) reject(stopped(why));
  }
}

function stopped(why: string): DbError {
  return new DbError(StatusCode.StorageUnavailable, `cannot flush: the worker stopped: ${why}`);
}
