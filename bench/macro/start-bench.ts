/**
 * Measures how Varve starts and rests: an empty store, small writes on an idle server, replay of a log after a SIGKILL, a clean start.
 * Memtables are as large as it takes, so that every row is still in the log when the server is killed.
 */
import { join } from "node:path";
import { TABLE } from "./dataset.ts";
import { diskUsage } from "./disk-usage.ts";
import type { Generated } from "./generator.ts";
import { loadFile, type Shape } from "./ingest-bench.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { percentile } from "./statistics.ts";
import { type Durability, expectRows, restarted, type RunningTarget, varveTarget } from "./target.ts";

/** What was measured. */
export interface StartResult {
  readonly emptyReadyMs: number;
  readonly idleRssBytes: number;
  /** Acknowledgement of a 10-row write on an idle server. */
  readonly smallWriteMsP50: number;
  readonly smallWriteMsP99: number;
  readonly rows: number;
  readonly logBytes: number;
  /** Milliseconds from the start of the process to the first good `/ready` after a SIGKILL. */
  readonly replayReadyMs: number;
  readonly replayRssBytesPeak: number;
  readonly flushSeconds: number;
  readonly stopMs: number;
  /** The same on the flushed and cleanly stopped store. */
  readonly cleanReadyMs: number;
}

const SMALL_WRITES = 1000;
const SMALL_WRITE_ROWS = 10;
/** Larger than any run's memtables: nothing is flushed before the kill. */
const UNFLUSHED = new Map([
  ["storage.memtable_size", '"8GiB"'],
  ["storage.write_buffer_limit", '"16GiB"'],
]);

/** Runs all measurements in `workDirectory`. @throws Error when a row is missing after a start */
export async function runStarts(
  input: Generated,
  shape: Shape,
  durability: Durability,
  workDirectory: string,
  progress: Progress,
): Promise<StartResult> {
  const directory = join(workDirectory, "start");
  progress("an empty store, and small writes on an idle server");
  const running = await varveTarget(durability, UNFLUSHED).start(directory);
  await waitUntilIdle(running.server.pid);
  const idleRssBytes = readProcess(running.server.pid).rssBytes;
  const small = await smallWrites(running);
  progress(`${input.rows} rows into the log, then a SIGKILL`);
  await loadFile(running, shape, input);
  const { logBytes } = await diskUsage(running.dataDirectory);
  await running.server.kill();

  progress(`replay of ${(logBytes / 2 ** 20).toFixed(0)} MiB of log`);
  const replayed = await restarted(directory, running, { storage: { memtable_size: '"8GiB"', write_buffer_limit: '"16GiB"' } });
  await expectRows(replayed, TABLE, input.rows);
  const replayRssBytesPeak = readProcess(replayed.server.pid).rssBytesPeak;
  progress("flush, clean stop, clean start");
  const flushStarted = performance.now();
  await replayed.flush();
  const flushSeconds = (performance.now() - flushStarted) / 1000;
  const stopMs = await replayed.server.stop();
  const clean = await restarted(directory, running);
  await expectRows(clean, TABLE, input.rows);
  await clean.server.stop();
  return {
    emptyReadyMs: running.server.readyMs,
    idleRssBytes,
    smallWriteMsP50: percentile(small, 0.5),
    smallWriteMsP99: percentile(small, 0.99),
    rows: input.rows,
    logBytes,
    replayReadyMs: replayed.server.readyMs,
    replayRssBytesPeak,
    flushSeconds,
    stopMs,
    cleanReadyMs: clean.server.readyMs,
  };
}

/** Milliseconds of each of many small writes, one after the other. They go to a table of their own. */
async function smallWrites(running: RunningTarget): Promise<readonly number[]> {
  const milliseconds: number[] = [];
  for (let i = 0; i < SMALL_WRITES; i++) {
    const rows = Array.from({ length: SMALL_WRITE_ROWS }, (_, row) => `idle,probe=p${row} value=${i}i ${1_686_441_600 + i}000000000\n`);
    const started = performance.now();
    const response = await fetch(running.writeUrl, { method: "POST", body: rows.join("") });
    const text = await response.text();
    milliseconds.push(performance.now() - started);
    if (response.status !== 204) throw new Error(`cannot write ${SMALL_WRITE_ROWS} rows: ${response.status} ${text.slice(0, 300)}`);
  }
  return milliseconds;
}
