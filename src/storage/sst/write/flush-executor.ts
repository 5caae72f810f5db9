/**
 * Runs flushes: in a worker, so that the thread with the sockets is free, or in place, for tests and stores that live in this process.
 */
import { threadScript } from "../../../base/process/thread-script.ts";
import type { FileStore } from "../../file-store/file-store.ts";
import { JobWorker } from "../../worker/job-worker.ts";
import type { DataFile } from "../data-file.ts";
import { type FlushJob, flushChunks } from "./flush.ts";

/** See the file header. */
export interface FlushExecutor {
  /**
   * Writes the job's files. Jobs that are asked for together run together, so the caller bounds their memory.
   *
   * @throws DbError StorageUnavailable; no file of the job stays
   */
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

/**
 * Runs flushes in one worker over the local files under `root`. The worker starts with the first flush; one that dies fails all jobs it
 * had, and the next job starts another.
 *
 * @param script the worker's program; tests give it one that misbehaves
 */
export function workerFlushExecutor(root: string, script: string = threadScript("./flush-worker.ts", import.meta.url)): FlushExecutor {
  const worker = new JobWorker<FlushJob, readonly DataFile[]>("flush", root, script);
  worker.prestart();
  return {
    flush: (job) => worker.run(job),
    close: async () => worker.close(),
  };
}
