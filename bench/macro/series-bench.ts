/**
 * Measures a table of very many series: ingest beside the same number of rows of 4,000 series, point queries while the rows are in memory
 * and in files, memory, and a start from the log.
 *
 * The first pass writes one row of every series, the later ones are rows of known series. The time at which each pass ends is known, since
 * each is a file of its own.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Dataset, STEP_SECONDS, TABLE, TAGS, timeRange } from "./dataset.ts";
import { diskUsage } from "./disk-usage.ts";
import { countFiles } from "./file-count.ts";
import { type Generated, generateFile } from "./generator.ts";
import { hostTags } from "./hosts.ts";
import { loadFile, type Shape } from "./ingest-bench.ts";
import { readProcess, waitUntilIdle } from "./process-meter.ts";
import type { Progress } from "./progress.ts";
import { seededRandom } from "./random.ts";
import { type SqlTimings, timeSql } from "./sql-timing.ts";
import { expectRows, restarted, type RunningTarget, type Target } from "./target.ts";

/** Point queries of one series, by where the rows are. */
export interface PointTimings {
  /** `SELECT *`, all ten tags and the last hour given. */
  readonly allTags: SqlTimings;
  /** `max` a minute of the last hour, by the one tag that tells the series apart. */
  readonly oneTag: SqlTimings;
}

/** One run. */
export interface SeriesResult {
  readonly run: number;
  readonly series: number;
  readonly rows: number;
  /** Rows a second: of the baseline, of the first pass, of the later ones, and of all. */
  readonly baselineRate: number;
  readonly firstRate: number;
  readonly laterRate: number;
  readonly allRate: number;
  readonly rssBytesLoaded: number;
  readonly rssBytesPeak: number;
  readonly rssBytesRest: number;
  readonly inMemory: PointTimings;
  readonly inFiles: PointTimings;
  readonly flushSeconds: number;
  readonly mergeSeconds: number;
  readonly diskBytes: number;
  readonly files: number;
  /** After a SIGKILL with nothing but the log. */
  readonly logBytes: number;
  readonly replaySeconds: number;
  readonly replayRssBytes: number;
  /** After a clean stop. */
  readonly readySeconds: number;
  /** The first point query after it, which opens files. */
  readonly firstQueryMs: number;
}

const BASELINE_HOSTS = 4000;
const POINTS = 20;
const REPEATS = 3;
const REST_SECONDS_MAX = 300;

/** What to measure. */
export interface SeriesPlan {
  /** `hosts` series; `rows` of them all told. */
  readonly dataset: Dataset;
  readonly target: Target;
  readonly shape: Shape;
  readonly runs: number;
  readonly workDirectory: string;
  readonly progress: Progress;
}

interface Inputs {
  readonly baseline: Generated;
  readonly first: Generated;
  readonly later: Generated;
}

/** Runs everything. @throws Error when a row is missing or a query finds another number of rows */
export async function runSeries(plan: SeriesPlan): Promise<readonly SeriesResult[]> {
  const inputs = makeInputs(plan);
  const results: SeriesResult[] = [];
  for (let run = 1; run <= plan.runs; run++) {
    const baselineRate = await measureBaseline(plan, inputs.baseline);
    results.push(await measureRun(plan, inputs, run, baselineRate));
  }
  return results;
}

function makeInputs({ dataset, workDirectory, progress }: SeriesPlan): Inputs {
  progress(`${dataset.rows} rows of ${dataset.hosts} series, and as many of ${BASELINE_HOSTS}`);
  const inWork = (name: string): string => join(workDirectory, name);
  const later: Dataset = { ...dataset, rows: dataset.rows - dataset.hosts, startSeconds: dataset.startSeconds + STEP_SECONDS };
  return {
    baseline: generateFile({ ...dataset, hosts: Math.min(BASELINE_HOSTS, dataset.hosts) }, inWork("baseline.lp")),
    first: generateFile({ ...dataset, rows: dataset.hosts }, inWork("first.lp")),
    later: generateFile(later, inWork("later.lp")),
  };
}

async function measureBaseline({ target, shape, workDirectory, progress }: SeriesPlan, input: Generated): Promise<number> {
  progress("the baseline");
  const directory = join(workDirectory, "baseline");
  const running = await target.start(directory);
  const load = await loadFile(running, shape, input);
  await running.server.stop();
  await rm(directory, { recursive: true });
  return load.rows / load.seconds;
}

async function measureRun(plan: SeriesPlan, inputs: Inputs, run: number, baselineRate: number): Promise<SeriesResult> {
  const { dataset, target, shape, workDirectory, progress } = plan;
  const directory = join(workDirectory, `series-${run}`);
  await mkdir(directory, { recursive: true });
  const running = await target.start(directory);
  const { pid } = running.server;
  progress(`${dataset.hosts} new series`);
  const first = await loadFile(running, shape, inputs.first);
  progress("rows of known series");
  const later = await loadFile(running, shape, inputs.later);
  const rssBytesLoaded = readProcess(pid).rssBytes;
  progress("point queries beside the memtable");
  const inMemory = await timePoints(running, dataset);
  progress("flush, merge");
  const flushStarted = performance.now();
  await running.flush();
  const flushSeconds = (performance.now() - flushStarted) / 1000;
  const mergeSeconds = await waitUntilIdle(pid, REST_SECONDS_MAX);
  await expectRows(running, TABLE, dataset.rows);
  const inFiles = await timePoints(running, dataset);
  const { rssBytes: rssBytesRest, rssBytesPeak } = readProcess(pid);
  const disk = await diskUsage(running.dataDirectory);
  const files = await countFiles(running.dataDirectory, ".parquet");
  await running.server.stop();
  const clean = await restarted(directory, running);
  const firstQueryMs = (await timeSql(clean.baseUrl, pointQueries(dataset, 1).oneTag, 0, undefined)).firstMs[0] ?? Number.NaN;
  await clean.server.stop();
  await rm(directory, { recursive: true });
  return {
    run,
    series: dataset.hosts,
    rows: dataset.rows,
    baselineRate,
    firstRate: first.rows / first.seconds,
    laterRate: later.rows / later.seconds,
    allRate: (first.rows + later.rows) / (first.seconds + later.seconds),
    rssBytesLoaded,
    rssBytesPeak,
    rssBytesRest,
    inMemory,
    inFiles,
    flushSeconds,
    mergeSeconds,
    diskBytes: disk.bytes - disk.logBytes,
    files,
    ...(await measureReplay(plan, inputs)),
    readySeconds: clean.server.readyMs / 1000,
    firstQueryMs,
  };
}

/** One pass into the log, a SIGKILL, a start. */
async function measureReplay(
  plan: SeriesPlan,
  { first }: Inputs,
): Promise<Pick<SeriesResult, "logBytes" | "replaySeconds" | "replayRssBytes">> {
  const { shape, target, workDirectory, progress } = plan;
  progress("one pass into the log, SIGKILL, replay");
  const directory = join(workDirectory, "series-replay");
  const running = await target.start(directory);
  await loadFile(running, shape, first);
  await running.server.kill();
  const { logBytes } = await diskUsage(running.dataDirectory);
  const replayed = await restarted(directory, running);
  await expectRows(replayed, TABLE, first.rows);
  const { rssBytesPeak } = readProcess(replayed.server.pid);
  await replayed.server.stop();
  await rm(directory, { recursive: true });
  return { logBytes, replaySeconds: replayed.server.readyMs / 1000, replayRssBytes: rssBytesPeak };
}

async function timePoints(running: RunningTarget, dataset: Dataset): Promise<PointTimings> {
  const { allTags, oneTag } = pointQueries(dataset, POINTS);
  const passes = Math.floor(dataset.rows / dataset.hosts);
  return {
    allTags: await timeSql(running.baseUrl, allTags, REPEATS, passes),
    oneTag: await timeSql(running.baseUrl, oneTag, REPEATS, undefined),
  };
}

function pointQueries(dataset: Dataset, count: number): { readonly allTags: readonly string[]; readonly oneTag: readonly string[] } {
  const random = seededRandom(dataset.seed + 77);
  const tags = hostTags(dataset);
  const { end } = timeRange(dataset);
  const window = `greptime_timestamp >= '${timeText(end - 3600)}' AND greptime_timestamp < '${timeText(end)}'`;
  const hosts = random.sample(count, dataset.hosts);
  return {
    allTags: hosts.map((host) => {
      const conditions = TAGS.map((tag, i) => `${tag} = '${tags[host]?.[i]}'`);
      return `SELECT * FROM ${TABLE} WHERE ${conditions.join(" AND ")} AND ${window}`;
    }),
    oneTag: hosts.map(
      (host) =>
        `SELECT date_trunc('minute', greptime_timestamp), max(usage_user) FROM ${TABLE} WHERE hostname = 'host_${host}' AND ${window} ` +
        "GROUP BY date_trunc('minute', greptime_timestamp)",
    ),
  };
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
