/**
 * Runs merges: in a worker of their own, so that neither writes nor flushes wait for them, or in place, for tests.
 */
import { threadScript } from "../../base/process/thread-script.ts";
import type { FileStore } from "../file-store/file-store.ts";
import type { DataFile } from "../sst/data-file.ts";
import { JobWorker } from "../worker/job-worker.ts";
import { type MergeJob, mergeFiles } from "./merge.ts";

/** See the file header. */
export interface MergeExecutor {
  /** The file that a job made, undefined when no row was left. @throws DbError StorageUnavailable; no file of the job stays */
  merge(job: MergeJob): Promise<DataFile | undefined>;
  /** Ends the executor; a job that still runs fails, and what it wrote is deleted at the next start. */
  close(): Promise<void>;
}

/** What the worker answers. */
export interface MergeAnswer {
  readonly file: DataFile | undefined;
}

/** Runs merges on the calling thread. */
export function inlineMergeExecutor(store: FileStore): MergeExecutor {
  return {
    merge: (job) => mergeFiles(job, store),
    close: async () => undefined,
  };
}

/** Runs merges in one worker over the local files under `root`. */
export function workerMergeExecutor(root: string): MergeExecutor {
  const worker = new JobWorker<MergeJob, MergeAnswer>("compact", root, threadScript("./merge-worker.ts", import.meta.url));
  worker.prestart();
  return {
    merge: async (job) => (await worker.run(job)).file,
    close: async () => worker.close(),
  };
}
