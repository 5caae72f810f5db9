/** Measures a table of very many columns beside one of ten with the same number of values: ingest, flush, queries of three columns. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { diskUsage } from "./disk-usage.ts";
import type { Generated } from "./generator.ts";
import { loadFile } from "./ingest-bench.ts";
import { writeLines } from "./lines-file.ts";
import { readProcess } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { seededRandom } from "./random.ts";
import { type SqlTimings, timeSql } from "./sql-timing.ts";
import { sqlTable } from "./sql-client.ts";
import { expectRows, restarted, type Target } from "./target.ts";

/** One table of one run. */
export interface ColumnsResult {
  readonly run: number;
  readonly columns: number;
  readonly rows: number;
  /** Values a second. */
  readonly valueRate: number;
  readonly rssBytesLoaded: number;
  readonly rssBytesPeak: number;
  readonly logBytes: number;
  readonly replaySeconds: number;
  readonly oneInMemory: SqlTimings;
  readonly allInMemory: SqlTimings;
  readonly flushSeconds: number;
  readonly diskBytes: number;
  /** Three columns of one series, and of all; the first includes opening the file. */
  readonly oneInFile: SqlTimings;
  readonly allInFile: SqlTimings;
}

const HOSTS = 100;
const STEP_SECONDS = 10;
const POINTS = 10;
const REPEATS = 3;
const TABLE = "wide";

/** What to measure. */
export interface ColumnsPlan {
  readonly columns: number;
  /** Values all told: rows times columns, for every table. */
  readonly values: number;
  readonly startSeconds: number;
  readonly seed: number;
  readonly target: Target;
  readonly connections: number;
  readonly runs: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

const BASELINE_COLUMNS = 10;
/** Values of a request, so that requests of both tables are of like size. */
const VALUES_PER_BATCH = 100_000;

/** Runs everything, the table of ten columns first in each run. @throws Error when a row is missing */
export async function runColumns(plan: ColumnsPlan): Promise<readonly ColumnsResult[]> {
  const inputs = new Map<number, Generated>();
  for (const columns of [BASELINE_COLUMNS, plan.columns]) {
    plan.progress(`${plan.values} values in ${columns} columns`);
    inputs.set(columns, writeLines(join(plan.workDirectory, `columns-${columns}.lp`), lines(plan, columns)));
  }
  const results: ColumnsResult[] = [];
  for (let run = 1; run <= plan.runs; run++) {
    for (const [columns, input] of inputs) results.push(await measure(plan, columns, input, run));
  }
  return results;
}

function* lines({ values, seed, startSeconds }: ColumnsPlan, columns: number): Generator<string> {
  const random = seededRandom(seed);
  const rows = Math.max(HOSTS, Math.floor(values / columns));
  for (let row = 0; row < rows; row++) {
    const fields: string[] = [];
    for (let c = 0; c < columns; c++) fields.push(`c${c}=${random.below(1000)}${c % 2 === 0 ? "i" : ".5"}`);
    const time = startSeconds + Math.floor(row / HOSTS) * STEP_SECONDS;
    yield `${TABLE},host=host_${row % HOSTS} ${fields.join(",")} ${time}000000000\n`;
  }
}

async function measure(plan: ColumnsPlan, columns: number, input: Generated, run: number): Promise<ColumnsResult> {
  const { target, connections, workDirectory, progress } = plan;
  progress(`run ${run}: ${columns} columns`);
  const directory = join(workDirectory, `columns-${run}-${columns}`);
  await mkdir(directory, { recursive: true });
  const running = await target.start(directory);
  const load = await loadFile(running, { rowsPerBatch: Math.max(1, Math.floor(VALUES_PER_BATCH / columns)), connections }, input);
  const rssBytesLoaded = readProcess(running.server.pid).rssBytes;
  await running.server.kill();
  const { logBytes } = await diskUsage(running.dataDirectory);
  const replayed = await restarted(directory, running);
  await expectRows(replayed, TABLE, input.rows);
  const hosts = seededRandom(plan.seed + 1).sample(POINTS, HOSTS);
  const three = `c0, c${columns >> 1}, c${columns - 1}`;
  const one = hosts.map((host) => `SELECT ${three} FROM ${TABLE} WHERE host = 'host_${host}'`);
  const all = [`SELECT host, max(c0), max(c${columns >> 1}), max(c${columns - 1}) FROM ${TABLE} GROUP BY host`];
  const oneInMemory = await timeSql(replayed.baseUrl, one, REPEATS, undefined);
  const allInMemory = await timeSql(replayed.baseUrl, all, REPEATS, HOSTS);
  const started = performance.now();
  await sqlTable(replayed.baseUrl, `ADMIN flush_table('${TABLE}')`);
  const flushSeconds = (performance.now() - started) / 1000;
  const oneInFile = await timeSql(replayed.baseUrl, one, REPEATS, undefined);
  const allInFile = await timeSql(replayed.baseUrl, all, REPEATS, HOSTS);
  await expectRows(replayed, TABLE, input.rows);
  const { rssBytesPeak } = readProcess(replayed.server.pid);
  await replayed.server.stop();
  const disk = await diskUsage(replayed.dataDirectory);
  await rm(directory, { recursive: true });
  return {
    run,
    columns,
    rows: input.rows,
    valueRate: (load.rows * columns) / load.seconds,
    rssBytesLoaded,
    rssBytesPeak,
    logBytes,
    replaySeconds: replayed.server.readyMs / 1000,
    oneInMemory,
    allInMemory,
    flushSeconds,
    diskBytes: disk.bytes - disk.logBytes,
    oneInFile,
    allInFile,
  };
}
