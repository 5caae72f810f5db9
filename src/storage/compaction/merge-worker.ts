/** The compaction worker's thread: jobs in, file descriptions out. */
import { serveJobs } from "../worker/serve-jobs.ts";
import type { MergeAnswer } from "./merge-executor.ts";
import { type MergeJob, mergeFiles } from "./merge.ts";

serveJobs(async (job: MergeJob, store): Promise<MergeAnswer> => ({ file: await mergeFiles(job, store) }));
