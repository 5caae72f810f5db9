/** What statements run on, over an engine: the facade that all servers for clients call, its threads, what it may hold and put on disk. */
import { systemClock } from "./base/clock.ts";
import type { Logger, RootLog } from "./base/log.ts";
import { HeapWatch } from "./base/memory/heap-watch.ts";
import { registerMemoryMetrics } from "./base/memory/memory-metrics.ts";
import { MemoryPool, type ServerMemory } from "./base/memory/server-memory.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import { startThread } from "./base/process/descriptors.ts";
import { registerKernelMetrics } from "./base/process/process-metrics.ts";
import { threadScript } from "./base/process/thread-script.ts";
import type { Scheduler } from "./base/scheduler/scheduler.ts";
import { printHumanDuration } from "./base/text/human-duration.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import { buildInfo } from "./build-info.ts";
import type { Settings } from "./config/settings.ts";
import { LocalDb, type StatementLimits } from "./db/local-db.ts";
import type { OtherFrontends } from "./db/other-frontends.ts";
import { SlowQueryTable } from "./db/slow-queries/slow-query-table.ts";
import { StatementWatch } from "./db/statement-watch.ts";
import { registerCompactionMetrics, registerExpiryMetric } from "./engine/compaction/compaction-metrics.ts";
import type { Engine } from "./engine/engine.ts";
import { registerDiskFloor, registerHealthMetrics } from "./engine/health/health-metrics.ts";
import { LimitWatch } from "./engine/health/limit-watch.ts";
import { type Foundation, openSpillFolder } from "./foundation.ts";
import { KnownPlans } from "./query/known-plans/known-plans.ts";
import { registerPlanMetrics } from "./query/known-plans/plan-metrics.ts";
import type { ClusterFacts } from "./query/system-facts.ts";
import type { QueryWorkers } from "./query/operator/contract/query-workers.ts";
import { CallThreads } from "./query/workers/call-threads.ts";
import { externalFiles } from "./storage/external/external-files.ts";
import { keepPrivate } from "./storage/private-folder.ts";
import type { SpillFolder } from "./storage/spill/spill-folder.ts";
import { registerSpillMetrics } from "./storage/spill/spill-metrics.ts";

/** Parts of the memory limit: all queries together, and what they leave free: garbage comes between two looks, arrays are copied first. */
const QUERIES_PART = 1 / 2;
const FREE_PART = 1 / 16;

/** What runs parts of large scans; closed with the statements. */
type Workers = QueryWorkers & { close?(): void };

/** What statements need beside the settings. */
interface StatementParts extends Omit<Foundation, "pages"> {
  readonly workers: Workers | undefined;
  /** Of a frontend. */
  readonly cluster?: () => ClusterFacts;
  /** Of a frontend. */
  readonly others?: OtherFrontends;
}

/** Opens the facade; `opened` closes it. @throws DbError StorageUnavailable */
export async function openStatements(
  settings: Settings,
  log: RootLog,
  engine: Engine,
  { memory, metrics, tracer, scheduler, workers, cluster, others }: StatementParts,
  opened: AsyncDisposableStack,
): Promise<LocalDb> {
  const spill = await openPrivateSpill(settings, log, cluster === undefined);
  const plans = new KnownPlans(settings.query.planCacheBytesMax);
  memory.register("plans", plans);
  registerPlanMetrics(metrics, plans);
  const watch = statementWatch(settings, { metrics, logger: log.logger("query") }, tracer);
  const limits = { ...statementLimits(settings, memory), spill, workers, plans, watch };
  for (const each of [workers, limits.calls]) opened.defer(() => each?.close?.());
  const known = { ...buildInfo(), ...(cluster === undefined ? {} : { cluster }), others };
  const db = new LocalDb(engine, scheduler, limits, known, externalFiles(settings.storage));
  const slow = keepSlowStatements(settings, db, watch, log);
  opened.defer(() => slow?.flush());
  registerTableMetrics(metrics, engine, db, spill);
  registerDiskFloor(metrics, settings.storage.freeBytesMin);
  const heap = startHeapWatch(memory, scheduler, metrics);
  opened.defer(() => heap.close());
  const watchedLimits = startLimitWatch(engine, scheduler, log, metrics);
  opened.defer(() => watchedLimits.close());
  return db;
}

function registerTableMetrics(metrics: MetricRegistry, engine: Engine, db: LocalDb, spill: SpillFolder | undefined): void {
  registerKernelMetrics(metrics);
  registerSpillMetrics(metrics, spill);
  db.showRunning(metrics);
  registerCompactionMetrics(metrics, () => engine.compactionTotals);
  registerExpiryMetric(metrics, () => engine.expiredRows);
  registerHealthMetrics(metrics, engine);
}

/** Closes the server's folders to other users. That of COPY is the operator's where it lies elsewhere: others may put files there. */
async function keepAllPrivate({ storage, wal, query }: Settings, log: RootLog, hasLog: boolean): Promise<void> {
  const folders = [storage.dataHome, ...(hasLog ? [wal.dir] : []), ...(query.spillBytesMax === 0 ? [] : [query.spillDir])];
  for (const folder of new Set(folders)) await keepPrivate(folder, log.logger("storage"));
}

/** `openSpillFolder`, with all folders closed to others before a statement runs. @throws DbError StorageUnavailable */
async function openPrivateSpill(settings: Settings, log: RootLog, hasLog: boolean): Promise<SpillFolder | undefined> {
  const spill = await openSpillFolder(settings);
  await keepAllPrivate(settings, log, hasLog);
  return spill;
}

/** Who is told of statements that ended. */
function statementWatch(
  { slow_query: slow }: Settings,
  { metrics, logger }: { readonly metrics: MetricRegistry; readonly logger: Logger },
  tracer: Tracer,
): StatementWatch {
  const thresholdMillis = slow.enable ? slow.thresholdMs : Number.POSITIVE_INFINITY;
  return new StatementWatch(metrics, logger, { thresholdMillis, sampleRatio: slow.sampleRatio }, tracer);
}

/** Keeps slow statements in a table, unless lines of the log are enough. */
function keepSlowStatements({ slow_query: slow }: Settings, db: LocalDb, watch: StatementWatch, log: RootLog): SlowQueryTable | undefined {
  if (!slow.enable || slow.recordType === "log") return undefined;
  const ttl = slow.ttlMs === 0 ? "forever" : printHumanDuration(BigInt(slow.ttlMs) * 1_000_000n);
  const table = new SlowQueryTable({ db, clock: systemClock, logger: log.logger("slow_query"), thresholdMillis: slow.thresholdMs, ttl });
  watch.onSlow = (statement) => table.add(statement);
  return table;
}

/** What one statement may take. */
function statementLimits({ query }: Settings, memory: ServerMemory): StatementLimits & { readonly calls: CallThreads } {
  return {
    calls: new CallThreads(() =>
      startThread(() => new Worker(threadScript("./query/workers/call-worker.ts", import.meta.url), { name: "calls" })),
    ),
    timeoutMillis: query.timeoutMs,
    memoryBytesMax: query.memoryBytesMax === 0 ? Number.POSITIVE_INFINITY : query.memoryBytesMax,
    pool: new MemoryPool(memory, "queries", memory.bytesMax * QUERIES_PART, memory.bytesMax * FREE_PART),
    promql: {
      samplesMax: query.promqlSamplesMax,
      seriesMax: query.promqlSeriesMax,
      pointsMax: query.promqlPointsMax,
      timeoutMillis: query.promqlTimeoutMs,
      lookbackMillis: query.promqlLookbackMs,
    },
  };
}

function startHeapWatch(memory: ServerMemory, scheduler: Scheduler, metrics: MetricRegistry): HeapWatch {
  const heap = new HeapWatch(memory, scheduler);
  heap.start();
  registerMemoryMetrics(metrics, memory, heap);
  return heap;
}

function startLimitWatch(engine: Engine, scheduler: Scheduler, log: RootLog, metrics: MetricRegistry): LimitWatch {
  const limits = new LimitWatch(engine, systemClock, log.logger("limits"));
  limits.start(metrics, scheduler);
  return limits;
}
