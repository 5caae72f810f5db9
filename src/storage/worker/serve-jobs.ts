/** The other end of `JobWorker`, on the worker's thread: some jobs at a time, begun in the order in which they came. */
import { armFailPoints, FAIL_POINTS_VARIABLE } from "../../base/process/fail-point.ts";
import { RestingHeap } from "../../base/memory/resting-heap.ts";
import { giveWayToClients } from "../../base/process/thread-priority.ts";
import { toldError } from "../../base/told-error.ts";
import type { FileStore } from "../file-store/file-store.ts";
import { localFileStore } from "../file-store/local-file-store.ts";
import type { JobReply, JobRequest } from "./job-worker.ts";

declare const self: Worker;

/**
 * Heap of a resting worker above which it is collected: a worker keeps nothing between jobs, but the collector would let the garbage of
 * one job lie until the next has doubled it. Flushes of 2.4M rows left 72 to 255 MiB, and 1 to 5 MiB when collected, in about 4 ms.
 */
const RESTING_HEAP_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Answers every job that comes with what `run` makes of it, or with its error. Call once, at the top of a worker's program.
 *
 * @param runningMax jobs that run beside each other; others wait in the order in which they came
 */
export function serveJobs<Job, Answer>(run: (job: Job, store: FileStore) => Promise<Answer>, runningMax = 1): void {
  armFailPoints(process.env[FAIL_POINTS_VARIABLE]);
  giveWayToClients(); // Where it may not, the worker works as before.
  const stores = new Map<string, FileStore>();
  const waiting: JobRequest<Job>[] = [];
  const resting = new RestingHeap(RESTING_HEAP_BYTES_MAX);
  let running = 0;
  const storeOf = (root: string): FileStore => {
    const known = stores.get(root) ?? localFileStore(root); // One a root, so that jobs share syncs of folders.
    stores.set(root, known);
    return known;
  };
  const serve = async ({ id, root, job }: JobRequest<Job>): Promise<void> => {
    let reply: JobReply<Answer>;
    try {
      reply = { id, answer: await run(job, storeOf(root)) };
    } catch (error) {
      reply = { id, error: toldError(error) };
    }
    running--;
    self.postMessage(reply);
    if (running === 0) resting.rest(); // Nobody waits for it: the answer is out.
    startNext();
  };
  const startNext = (): void => {
    if (running >= runningMax) return;
    const next = waiting.shift();
    if (next === undefined) return;
    running++;
    void serve(next); // Answers whatever happens.
  };
  self.onmessage = (event: MessageEvent<JobRequest<Job>>) => {
    waiting.push(event.data);
    startNext();
  };
}
