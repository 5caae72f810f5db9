/** The other end of `JobWorker`, on the worker's thread: one job at a time, in the order they came. */
import { toDbError } from "../../base/error.ts";
import { armFailPoints, FAIL_POINTS_VARIABLE } from "../../base/fail-point.ts";
import type { FileStore } from "../file-store/file-store.ts";
import { localFileStore } from "../file-store/local-file-store.ts";
import type { JobReply, JobRequest } from "./job-worker.ts";

declare const self: Worker;

/** Answers every job that comes with what `run` makes of it, or with its error. Call once, at the top of a worker's program. */
export function serveJobs<Job, Answer>(run: (job: Job, store: FileStore) => Promise<Answer>): void {
  armFailPoints(process.env[FAIL_POINTS_VARIABLE]);
  let last: Promise<void> = Promise.resolve();
  const serve = async ({ id, root, job }: JobRequest<Job>): Promise<void> => {
    let reply: JobReply<Answer>;
    try {
      reply = { id, answer: await run(job, localFileStore(root)) };
    } catch (error) {
      const failure = toDbError(error);
      reply = { id, error: failure.message, code: failure.code };
    }
    self.postMessage(reply);
  };
  self.onmessage = (event: MessageEvent<JobRequest<Job>>) => {
    last = last.then(() => serve(event.data));
  };
}
