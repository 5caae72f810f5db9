/** The flush worker's thread: jobs in, file descriptions out. */
import { serveJobs } from "../../worker/serve-jobs.ts";
import { flushChunks } from "./flush.ts";

/**
 * Flushes that run beside each other. Reason: a small one waits for the disk most of its time, twice. Whoever asks for flushes sees to it
 * that only small ones run together.
 */
const RUNNING_MAX = 16;

serveJobs(flushChunks, RUNNING_MAX);
