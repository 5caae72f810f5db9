/**
 * The threads of large scans: how many there are, what they may hold, what `/metrics` says of them.
 *
 * Pages are decoded by the thread that reads them, so each keeps its own: workers, who read all of large tables, have together as much as
 * a server without them, a part of a table always goes to the same one, and this thread, which reads little of many, has half of that.
 */
import { availableParallelism } from "node:os";
import { systemClock } from "./base/clock.ts";
import { openFilesMax, startThread } from "./base/process/descriptors.ts";
import { threadScript } from "./base/process/thread-script.ts";
import type { Logger } from "./base/log.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import type { ProfiledThreads } from "./base/profile/thread-profiles.ts";
import type { ServerMemory } from "./base/memory/server-memory.ts";
import type { Settings } from "./config/settings.ts";
import { ALONE_MS, GROUPS_MIN, SHARE_LIMITS } from "./query/workers/limits.ts";
import { type PoolCounts, WorkerPool } from "./query/workers/worker-pool.ts";

/** Part of what would be enough for all that this thread has beside workers. */
const HERE_PART = 1 / 2;
/** Files that all workers together keep open while they scan. Reason: a process may have 1,024 descriptors. */
const OPEN_FILES_MAX = 256;
const OPEN_FILES_MIN = 8;

/** What a worker is started with. */
export interface QueryWorkerStart {
  readonly kind: "start";
  /** The folder of data files. */
  readonly root: string;
  /** Of pages and what open files hold. */
  readonly cacheBytes: number;
  readonly openFilesMax: number;
}

/** How the memory of pages is divided. */
export interface PageMemory {
  readonly here: number;
  readonly eachWorker: number;
}

/**
 * Cores that are left to threads that take writes, flush and merge. Reason: on two cores (threads of one core) workers make no query
 * faster, and some half as fast. 8.64M rows of ten integers, alone, p50 with 0, 1 and 2 workers: double-groupby-all 196, 298, 253 ms;
 * double-groupby-1 31, 60, 75 ms; high-cpu-all 528, 556, 493 ms.
 */
const OTHER_CORES = 2;

/** Part of the pages' memory that is the worker's where it only helps. Reason: this thread still reads most of what is read. */
const HELPER_PART = 1 / 3;

/** Threads for queries. */
export interface QueryThreads {
  readonly threads: number;
  /** As `QueryWorkers.sharesRows`. */
  readonly sharesRows: boolean;
}

/**
 * Query workers under these settings. Where no core is left for them and the settings want it there is one that takes half of what is long,
 * of which this thread takes the other half. It starts with the first such query.
 *
 * Not by default, as pages of its own leave fewer here. ClickBench over 5M rows on two cores, ms without and with: a regular expression for
 * each row 1,628 and 876, groups of texts 425 and 292; but days 16 and 43, groups of three keys 1,046 and 1,865. Geometric mean of
 * the 43 queries, as parts of DuckDB's times: 1.93 and 2.03.
 */
export function queryThreadsOf({ query }: Settings): QueryThreads {
  const threads = query.workers ?? Math.max(0, availableParallelism() - OTHER_CORES);
  if (query.workers !== undefined || threads > 0 || !query.helps) return { threads, sharesRows: true };
  return { threads: 1, sharesRows: false };
}

/** Divides memory of pages: `bytes` would be enough for one thread. */
export function pageMemoryOf(bytes: number, { threads, sharesRows }: QueryThreads): PageMemory {
  if (threads === 0) return { here: bytes, eachWorker: 0 };
  if (!sharesRows) return { here: bytes - Math.floor(bytes * HELPER_PART), eachWorker: Math.floor((bytes * HELPER_PART) / threads) };
  return { here: Math.floor(bytes * HERE_PART), eachWorker: Math.floor(bytes / threads) };
}

/** What `openQueryThreads` needs. */
export interface QueryThreadsParts {
  readonly queryThreads: QueryThreads;
  readonly dataFolder: string;
  readonly pages: PageMemory;
  readonly memory: ServerMemory;
  readonly metrics: MetricRegistry;
  readonly logger: Logger;
  /** Where threads are known that can be profiled. */
  readonly profiledThreads: ProfiledThreads;
}

/** The pool, or nothing where there are no threads. Workers start with the first large scan. */
export function openQueryThreads(parts: QueryThreadsParts): WorkerPool | undefined {
  const { queryThreads, memory, metrics, logger } = parts;
  const { threads, sharesRows } = queryThreads;
  if (threads === 0) return undefined;
  const start: QueryWorkerStart = {
    kind: "start",
    root: parts.dataFolder,
    cacheBytes: parts.pages.eachWorker,
    openFilesMax: Math.max(OPEN_FILES_MIN, Math.floor(openFilesMax(OPEN_FILES_MAX) / threads)),
  };
  const pool = new WorkerPool({
    threads,
    sharesRows,
    aloneMs: ALONE_MS,
    groupsMin: GROUPS_MIN,
    limits: SHARE_LIMITS,
    clock: systemClock,
    startWorker(name) {
      const worker = startThread(() => new Worker(threadScript("./query-worker.ts", import.meta.url), { name }));
      worker.postMessage(start);
      parts.profiledThreads.add(name, worker);
      return worker;
    },
    onWarning: (text) => logger.warn({}, text),
  });
  memory.register("page_cache", {
    bytes: () => pool.cacheBytes,
    giveBack: (bytes) => pool.giveBack(bytes),
    mayGrow: () => pool.mayGrow(),
  });
  registerPoolMetrics(metrics, () => pool.counts);
  return pool;
}

/** Families that only grow: which figure they show, and what it is. */
const COUNTERS: readonly (readonly [name: string, figure: keyof PoolCounts, help: string])[] = [
  ["varve_query_worker_tasks_total", "pulls", "Answers of query workers to the queries they ran parts of"],
  ["varve_query_worker_busy_seconds_total", "busySeconds", "Time that query workers worked"],
  ["varve_query_worker_deaths_total", "deaths", "Query workers that died"],
];
const GAUGES: readonly (readonly [name: string, figure: keyof PoolCounts, help: string])[] = [
  ["varve_query_worker_running", "running", "Query workers at work"],
  ["varve_query_worker_queue", "waiting", "Parts of queries that wait for a worker"],
];

function registerPoolMetrics(metrics: MetricRegistry, figures: () => PoolCounts): void {
  for (const [name, figure, help] of COUNTERS) metrics.shownCounter(name, help, () => figures()[figure]);
  for (const [name, figure, help] of GAUGES) metrics.shownGauge(name, help, () => figures()[figure]);
}
