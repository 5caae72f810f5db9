/**
 * Measures very many small tables: every request has one row of each table, as an agent that reports ten thousand metrics does.
 *
 *   create + write ─► SIGKILL ─► replay ─► flush of every table in the background ─► clean stop ─► clean start ─► scrapes of /metrics
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { diskUsage } from "./disk-usage.ts";
import { countFiles } from "./file-count.ts";
import type { Generated } from "./generator.ts";
import { loadFile } from "./ingest-bench.ts";
import { writeLines } from "./lines-file.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { seededRandom } from "./random.ts";
import { type ScrapeFigures, timeScrapes } from "./scrape-timing.ts";
import { type SqlTimings, timeSql } from "./sql-timing.ts";
import { expectRows, restarted, type RunningTarget, type Target } from "./target.ts";

/** One run. */
export interface TablesResult {
  readonly run: number;
  readonly tables: number;
  readonly rows: number;
  /** The first request, which makes the tables. */
  readonly createSeconds: number;
  /** Rows a second of the requests after it, and of as many rows of one table. */
  readonly rate: number;
  readonly baselineRate: number;
  readonly rssBytesLoaded: number;
  readonly logBytes: number;
  readonly replaySeconds: number;
  readonly rssBytesReplayed: number;
  readonly inMemory: SqlTimings;
  /** From the first flush that is due until no row is only in the log. */
  readonly flushSeconds: number;
  readonly flushBytesWritten: number;
  readonly files: number;
  readonly diskBytes: number;
  readonly rssBytesFlushed: number;
  readonly inFiles: SqlTimings;
  readonly stopSeconds: number;
  readonly readySeconds: number;
  readonly rssBytesReady: number;
  readonly scrapes: ScrapeFigures;
}

const ROWS_PER_TABLE = 10;
const STEP_SECONDS = 10;
const POINTS = 50;
const REPEATS = 3;
/** One request brings so many tables at most; a decoder refuses 65,536. */
const TABLES_A_REQUEST_MAX = 10_000;
const FLUSH_SECONDS_MAX = 900;
/** Below this much log nothing waits for a flush: an empty segment and its header. */
const LOG_BYTES_EMPTY = 64 * 1024;

/** What to measure. */
export interface TablesPlan {
  readonly tables: number;
  readonly startSeconds: number;
  readonly seed: number;
  readonly target: Target;
  readonly connections: number;
  readonly runs: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

interface Inputs {
  readonly first: Generated;
  readonly later: Generated;
  readonly single: Generated;
}

/** Runs everything. @throws Error when a row is missing */
export async function runTables(plan: TablesPlan): Promise<readonly TablesResult[]> {
  const inputs = makeInputs(plan);
  const results: TablesResult[] = [];
  for (let run = 1; run <= plan.runs; run++) results.push(await measureRun(plan, inputs, run));
  return results;
}

function makeInputs({ tables, seed, startSeconds, workDirectory, progress }: TablesPlan): Inputs {
  progress(`${ROWS_PER_TABLE} rows of ${tables} tables`);
  const random = seededRandom(seed);
  function* lines(from: number, to: number, name: (table: number) => string): Generator<string> {
    for (let row = from; row < to; row++) {
      for (let table = 0; table < tables; table++) {
        const tags = `host=host_${table % 100},zone=z${row % 2}`;
        const fields = `value=${random.below(1000)},count=${random.below(100)}i`;
        yield `${name(table)},${tags} ${fields} ${startSeconds + row * STEP_SECONDS}000000000\n`;
      }
    }
  }
  return {
    first: writeLines(join(workDirectory, "first.lp"), lines(0, 1, tableName)),
    later: writeLines(join(workDirectory, "later.lp"), lines(1, ROWS_PER_TABLE, tableName)),
    single: writeLines(
      join(workDirectory, "single.lp"),
      lines(1, ROWS_PER_TABLE, () => "single"),
    ),
  };
}

function tableName(table: number): string {
  return `metric_${String(table).padStart(5, "0")}`;
}

async function measureRun(plan: TablesPlan, inputs: Inputs, run: number): Promise<TablesResult> {
  const { tables, target, connections, workDirectory, progress } = plan;
  const shape = { rowsPerBatch: Math.min(tables, TABLES_A_REQUEST_MAX), connections };
  const baselineDirectory = join(workDirectory, "baseline");
  const baseline = await target.start(baselineDirectory);
  const single = await loadFile(baseline, shape, inputs.single);
  await baseline.server.stop();
  await rm(baselineDirectory, { recursive: true });

  const directory = join(workDirectory, `tables-${run}`);
  await mkdir(directory, { recursive: true });
  const running = await target.start(directory);
  progress(`${tables} new tables`);
  const first = await loadFile(running, shape, inputs.first);
  const later = await loadFile(running, shape, inputs.later);
  const rssBytesLoaded = readProcess(running.server.pid).rssBytes;
  await running.server.kill();
  const { logBytes } = await diskUsage(running.dataDirectory);
  progress("replay, queries in memory");
  const replayed = await restarted(directory, running);
  await expectSomeTables(replayed, plan);
  const rssBytesReplayed = readProcess(replayed.server.pid).rssBytes;
  const inMemory = await timeSql(replayed.baseUrl, pointQueries(plan), REPEATS, ROWS_PER_TABLE);
  await replayed.server.kill();
  const flushed = await measureFlush(plan, directory, replayed);
  return {
    run,
    tables,
    rows: first.rows + later.rows,
    createSeconds: first.seconds,
    rate: later.rows / later.seconds,
    baselineRate: single.rows / single.seconds,
    rssBytesLoaded,
    logBytes,
    replaySeconds: replayed.server.readyMs / 1000,
    rssBytesReplayed,
    inMemory,
    ...flushed,
  };
}

type FlushResult = Pick<
  TablesResult,
  | "flushSeconds"
  | "flushBytesWritten"
  | "files"
  | "diskBytes"
  | "rssBytesFlushed"
  | "inFiles"
  | "stopSeconds"
  | "readySeconds"
  | "rssBytesReady"
  | "scrapes"
>;

async function measureFlush(plan: TablesPlan, directory: string, before: RunningTarget): Promise<FlushResult> {
  const { progress } = plan;
  progress("flush of every table");
  const flushing = await restarted(directory, before, { storage: { flush_interval: '"1s"' } });
  const { pid } = flushing.server;
  const started = performance.now();
  const log = join(flushing.dataDirectory, "wal");
  for (;;) {
    const seconds = (performance.now() - started) / 1000;
    if ((await diskUsage(log)).bytes <= LOG_BYTES_EMPTY) break;
    if (seconds > FLUSH_SECONDS_MAX) throw new Error(`rows are still only in the log after ${seconds.toFixed(0)} s`);
    await Bun.sleep(100);
  }
  const flushSeconds = (performance.now() - started) / 1000;
  await waitUntilIdle(pid);
  const { rssBytes: rssBytesFlushed, diskBytesWritten: flushBytesWritten } = readProcess(pid);
  await expectSomeTables(flushing, plan);
  const inFiles = await timeSql(flushing.baseUrl, pointQueries(plan), REPEATS, ROWS_PER_TABLE);
  const stopSeconds = (await flushing.server.stop()) / 1000;
  const files = await countFiles(flushing.dataDirectory, ".parquet");
  const disk = await diskUsage(flushing.dataDirectory);
  const clean = await restarted(directory, flushing);
  const { rssBytes: rssBytesReady } = readProcess(clean.server.pid);
  progress("scrapes of /metrics");
  await waitUntilIdle(clean.server.pid);
  const scrapes = await timeScrapes(clean.baseUrl, clean.server.pid);
  await expectSomeTables(clean, plan);
  await clean.server.stop();
  await rm(directory, { recursive: true });
  return {
    flushSeconds,
    flushBytesWritten,
    files,
    diskBytes: disk.bytes - disk.logBytes,
    rssBytesFlushed,
    inFiles,
    stopSeconds,
    readySeconds: clean.server.readyMs / 1000,
    rssBytesReady,
    scrapes,
  };
}

function pointQueries({ tables, seed }: TablesPlan): readonly string[] {
  const random = seededRandom(seed + 1);
  return random.sample(POINTS, tables).map((table) => `SELECT * FROM ${tableName(table)} ORDER BY greptime_timestamp`);
}

/** Counts the rows of some tables. */
async function expectSomeTables(running: RunningTarget, { tables, seed }: TablesPlan): Promise<void> {
  const random = seededRandom(seed + 2);
  for (const table of random.sample(POINTS, tables)) {
    await expectRows(running, tableName(table), ROWS_PER_TABLE);
  }
}
