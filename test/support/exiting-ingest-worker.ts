/** An ingest thread that works for a while and then is gone without a word. */
import "../../src/ingest-worker.ts";

const WORKING_MS = 700;
setTimeout(() => process.exit(0), WORKING_MS);
