/** An ingest thread that works for a while and then meets a bug. */
import "../../src/ingest-worker.ts";

const WORKING_MS = 700;
setTimeout(() => {
  throw new Error("broken on purpose");
}, WORKING_MS);
