/** The flush worker's thread: jobs in, file descriptions out. */
import { serveJobs } from "../worker/serve-jobs.ts";
import { flushChunks } from "./flush.ts";

serveJobs(flushChunks);
