/**
 * A worker thread that takes jobs one after another and answers each. It starts with the first job, or before; one that dies fails all
 * jobs it had, and the next job starts another.
 */
import { descriptorsForThread, hasFewDescriptors, startThread } from "../../base/process/descriptors.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { errorOfTold, type ToldError } from "../../base/told-error.ts";

/** What goes to the worker: a job over the local files under `root`. */
export interface JobRequest<Job> {
  readonly id: number;
  readonly root: string;
  readonly job: Job;
}

/** What comes back. */
export type JobReply<Answer> = { readonly id: number; readonly answer: Answer } | { readonly id: number; readonly error: ToldError };

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** See the file header. Invariant: all of `waiting` are with `worker`. */
export class JobWorker<Job, Answer> {
  private readonly verb: string;
  private readonly root: string;
  private readonly script: string;
  private readonly waiting: Map<number, Waiting<Answer>> = new Map();
  private worker: Worker | undefined;
  private lastId = 0;
  private isClosed = false;

  /**
   * @param verb what the worker does, for its name and errors, e.g. "flush"
   * @param script the worker's program, which calls `serveJobs`
   */
  constructor(verb: string, root: string, script: string) {
    this.verb = verb;
    this.root = root;
    this.script = script;
  }

  /** Starts the worker now, where clients may later leave no descriptors for it. */
  prestart(): void {
    if (hasFewDescriptors()) this.worker ??= this.start();
  }

  /** The answer to a job. @throws DbError what the job threw; StorageUnavailable when the worker stopped */
  async run(job: Job): Promise<Answer> {
    if (this.worker === undefined) await descriptorsForThread();
    if (this.isClosed) throw this.stopped("the server is closing");
    this.worker ??= this.start();
    const id = ++this.lastId;
    const request: JobRequest<Job> = { id, root: this.root, job };
    this.worker.postMessage(request);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.waiting.set(id, { resolve, reject });
    return promise;
  }

  /** Ends the worker; jobs that still run or come later fail. */
  close(): void {
    this.isClosed = true;
    if (this.worker !== undefined) this.fail(this.worker, "the server is closing");
  }

  private start(): Worker {
    const worker = startThread(() => new Worker(this.script, { name: this.verb }));
    worker.addEventListener("message", (event: MessageEvent<JobReply<Answer>>) => this.take(event.data));
    worker.addEventListener("error", (event: ErrorEvent) => this.fail(worker, event.message));
    worker.addEventListener("messageerror", () => this.fail(worker, "its answer could not be read"));
    worker.addEventListener("close", () => this.fail(worker, "it exited"));
    return worker;
  }

  private take(reply: JobReply<Answer>): void {
    const caller = this.waiting.get(reply.id);
    this.waiting.delete(reply.id);
    if ("answer" in reply) caller?.resolve(reply.answer);
    else caller?.reject(errorOfTold(reply.error));
  }

  private fail(worker: Worker, why: string): void {
    if (this.worker !== worker) return; // An earlier one: its jobs have failed already.
    this.worker = undefined;
    worker.terminate();
    const failed = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of failed) reject(this.stopped(why));
  }

  private stopped(why: string): DbError {
    return new DbError(StatusCode.StorageUnavailable, `cannot ${this.verb}: the worker stopped: ${why}`);
  }
}
