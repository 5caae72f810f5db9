/**
 * One server of one process, wired from its settings. The only file besides `main.ts` that sees every layer.
 *
 *   lock the data directory ─► meta store ─► engine (replays the logs) ─► facade ─► HTTP ─► ingest threads
 *
 * `stop` goes the other way, as does a start that fails: stop accepting, finish requests, flush, close, unlock.
 */
import { Scheduler } from "./base/scheduler/scheduler.ts";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "./base/clock.ts";
import { startThread } from "./base/process/descriptors.ts";
import { Reloads } from "./base/process/reloads.ts";
import { registerKernelMetrics } from "./base/process/process-metrics.ts";
import { threadScript } from "./base/process/thread-script.ts";
import { HeapWatch } from "./base/memory/heap-watch.ts";
import type { Logger, RootLog } from "./base/log.ts";
import { registerMemoryMetrics } from "./base/memory/memory-metrics.ts";
import { watchLoop } from "./base/scheduler/loop-watch.ts";
import { MetricRegistry } from "./base/metrics.ts";
import { ProfiledThreads } from "./base/profile/thread-profiles.ts";
import { MemoryPool, ServerMemory } from "./base/memory/server-memory.ts";
import { memoryLimitOf } from "./config/memory-limit.ts";
import { renderConfig } from "./config/render.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import type { OnBackgroundWork } from "./engine/background-work.ts";
import type { Settings } from "./config/settings.ts";
import { createUserProvider } from "./db/auth/user-provider.ts";
import { LocalDb, type StatementLimits } from "./db/local-db.ts";
import { printHumanDuration } from "./base/text/human-duration.ts";
import { SlowQueryTable } from "./db/slow-queries/slow-query-table.ts";
import { StatementWatch } from "./db/statement-watch.ts";
import { registerCompactionMetrics, registerExpiryMetric } from "./engine/compaction/compaction-metrics.ts";
import { systemFreeBytes } from "./engine/health/disk-watch.ts";
import { Engine } from "./engine/engine.ts";
import { LOG_KEY } from "./engine/schema/meta-codec.ts";
import type { BackupPlaces, EngineParts } from "./engine/engine-parts.ts";
import { registerDiskFloor, registerHealthMetrics } from "./engine/health/health-metrics.ts";
import { flushCounter } from "./engine/flush/flush-metrics.ts";
import { LimitWatch } from "./engine/health/limit-watch.ts";
import { SharedState } from "./engine/threads/shared-state.ts";
import type { BuildInfo, LogControl } from "./server/http/options.ts";
import { type DataFiles, openDataFiles } from "./data-files.ts";
import { ingestThreadsOf, startIngestThreads } from "./ingest-workers.ts";
import { registerPlanMetrics } from "./query/known-plans/plan-metrics.ts";
import { KnownPlans } from "./query/known-plans/known-plans.ts";
import { prepareParser } from "./query/sql/parse.ts";
import { CallThreads } from "./query/workers/call-threads.ts";
import { openQueryThreads, pageMemoryOf, type QueryThreads, queryThreadsOf } from "./query-threads.ts";
import { ConnectionGuard } from "./server/connections/connection-guard.ts";
import { ConnectionMarks } from "./server/connections/marks.ts";
import type { RunningServer } from "./running-server.ts";
import { startHttpServer } from "./server/http/server.ts";
import { openServers, probeAddresses } from "./servers.ts";
import { lockDataDirectory, lockFile, lockLogFolder } from "./storage/data-directory.ts";
import { externalFiles } from "./storage/external/external-files.ts";
import { keepPrivate } from "./storage/private-folder.ts";
import { openSqliteMetaStore } from "./storage/meta-store/sqlite-meta-store.ts";
import { SpillFolder } from "./storage/spill/spill-folder.ts";
import { registerSpillMetrics } from "./storage/spill/spill-metrics.ts";
import { LogMetrics } from "./storage/wal/log-metrics.ts";
import { ENDS_NAME } from "./storage/wal/ends-file.ts";
import { ThreadLogNames } from "./storage/wal/thread-log-names.ts";
import { listening, nameThreadLogs, openThreadLog, openThreadLogs, openTracer, TRACE_GRACE_MS } from "./thread-parts.ts";
import { VERSION } from "./version.ts";

/** Log bytes, as a multiple of the memtable limit, at which the tables that hold the oldest segment are flushed. */
const LOG_BYTES_PER_MEMTABLE_BYTE = 4;
/** Decoded pages kept in memory: ten fields and the time of 8.6M rows are 155 MiB; more where the memory limit is large. */
const PAGE_CACHE_BYTES = 256 * 1024 * 1024;
const PAGE_CACHE_PART_LARGE = 1 / 8;
/** Part of the memory limit that is used where the limit is small: pages, all queries together. */
const PAGE_CACHE_PART = 1 / 3;
const QUERIES_PART = 1 / 2;
/** What queries leave free of it: garbage comes between two looks at the process, and arrays are copied before they are let go. */
const FREE_PART = 1 / 16;
/** How long requests in flight may take at shutdown. */
const STOP_GRACE_MILLIS = 10_000;

/** A running server. */
export interface Standalone extends RunningServer {
  /** Queries of clients so far. */
  asked(): number;
  /** For who asks it past all servers. */
  readonly engine: Engine;
}

/**
 * Starts a server and resolves when it is ready.
 *
 * @param onBug called when a broken invariant was met: the process should end
 * @param threadScript the program of an ingest thread; tests give it one that misbehaves
 * @throws DbError with one line for the operator
 */
export async function startStandalone(
  settings: Settings,
  log: RootLog,
  onBug: (error: Error) => void,
  threadScript?: string,
): Promise<Standalone> {
  await using opened = new AsyncDisposableStack();
  const started = systemClock.monotonicMillis();
  const logger = log.logger("main");
  useTimeZone(settings);
  const { userProvider: provider } = settings.general;
  const userProvider = provider === undefined ? undefined : createUserProvider(provider, log.logger("auth"));
  opened.defer(() => userProvider?.close());
  const reloads = new Reloads(logger);
  if (userProvider !== undefined) reloads.add("accounts", () => userProvider.reload());
  probeAddresses(settings);
  const database = await openDatabase(settings, log, onBug, opened);
  const { db, memory, shared, metrics, tracer, queryThreads, profiledThreads, scheduler } = database;
  const listeners: { stop(graceMs: number): Promise<void> }[] = [];
  opened.defer(async () => void (await Promise.all(listeners.map((each) => each.stop(STOP_GRACE_MILLIS)))));
  const control = sharedControl(log, tracer);
  const marks = new ConnectionMarks();
  prepareParser(); // 25 ms of the start, instead of the first query's.
  // HTTP comes last: who finds it ready goes on to the others.
  const others = await openServers(settings, log, { ...database, marks, userProvider, onBug, reloads }, listeners);
  const http = await startHttpServer({
    ...listening(settings, shared.threads > 0, shared.threads + 1),
    db,
    scheduler,
    userProvider,
    logger: log.logger("http"),
    metrics,
    tracer,
    memory,
    build: buildInfo(),
    configText: () => renderConfig(settings),
    dashboardFolder: fileURLToPath(new URL("./dashboard/gen", import.meta.url)),
    log: control,
    setTracing: (isOn) => control.setTracing(isOn),
    analyzeStream: settings.http.analyzeStream,
    profiledThreads,
    jaeger: { enabled: settings.jaeger.enable },
    marks,
    onBug,
  });
  listeners.push(http);
  const guard = startGuard([http.port, ...others.ports], marks, log, metrics);
  opened.defer(() => guard.close());
  const threads = await startIngestThreads({ ...database, settings, log, http, marks, script: threadScript, onBug });
  database.afterEngine.defer(() => threads.end());
  listeners.push({ stop: (graceMs) => threads.stopListening(graceMs) });
  control.follow(threads);
  if (userProvider !== undefined && shared.threads > 0) reloads.add("accounts of ingest threads", () => threads.reload());
  const counts = {
    ingestThreads: shared.threads + 1,
    queryThreads: queryThreads.threads,
    memoryLimit: memory.bytesMax,
    millis: millisSince(started),
  };
  logger.info({ address: http.url, ...others.addresses, data: settings.storage.dataHome, version: VERSION, ...counts }, "ready");
  const running = opened.move();
  return {
    url: http.url,
    reload: () => reloads.run(),
    asked: () => scheduler.queries.asked,
    engine: database.engine,
    stop: () => stopped(running, logger),
  };
}

async function stopped(running: AsyncDisposableStack, logger: Logger): Promise<void> {
  await running.disposeAsync();
  logger.info({}, "stopped");
}

/** Everything below the servers: what is stored, what statements run on, what counts and limits both. */
interface OpenDatabase {
  readonly engine: Engine;
  readonly db: LocalDb;
  readonly memory: ServerMemory;
  readonly shared: SharedState;
  readonly scheduler: Scheduler;
  readonly metrics: MetricRegistry;
  readonly tracer: Tracer;
  readonly queryThreads: QueryThreads;
  readonly profiledThreads: ProfiledThreads;
  /** What must end after the engine has. */
  readonly afterEngine: DisposableStack;
}

/** Opens the database; `opened` closes it. @throws DbError */
async function openDatabase(
  settings: Settings,
  log: RootLog,
  onBug: (error: Error) => void,
  opened: AsyncDisposableStack,
): Promise<OpenDatabase> {
  const directory = await lockDataDirectory(settings.storage.dataHome);
  opened.defer(() => directory.unlock());
  opened.defer(await lockLogFolder(settings.wal.dir));
  const memory = new ServerMemory(memoryLimitOf(settings));
  const shared = new SharedState(ingestThreadsOf(settings) - 1);
  const queryThreads = queryThreadsOf(settings);
  const wished = Math.max(PAGE_CACHE_BYTES, Math.floor(memory.bytesMax * PAGE_CACHE_PART_LARGE));
  const pages = pageMemoryOf(Math.min(wished, Math.floor(memory.bytesMax * PAGE_CACHE_PART)), queryThreads);
  const scheduler = new Scheduler();
  const metrics = new MetricRegistry().withProcessMetrics();
  const tracer = openTracer(settings, 0, log.logger("trace"), metrics);
  opened.defer(() => tracer.close(TRACE_GRACE_MS));
  opened.defer(watchLoop(metrics, systemClock, "main"));
  const kept = { metrics, memory, shared, scheduler, pageCacheBytes: pages.here, onWork: toldOfWork(tracer, metrics) };
  const afterEngine = opened.use(new DisposableStack());
  const dataFiles = await openDataFiles(settings.storage, directory.dataFolder, kept, log.logger("storage"));
  const { engine, recovery } = await openEngine(settings, log, { ...kept, dataFiles, onBug }, directory.metaFile, directory.dataFolder);
  opened.defer(() => engine.close());
  opened.defer(dataFiles.uploadLeft());
  tellRecovery(recovery, log.logger("main"));
  const spill = await openPrivateSpill(settings, log);
  const profiledThreads = new ProfiledThreads();
  const known = { metrics, profiledThreads, logger: log.logger("query") };
  const queries = { ...known, queryThreads, dataFolder: directory.dataFolder, pages, memory };
  const workers = openQueryThreads(queries);
  const plans = new KnownPlans(settings.query.planCacheBytesMax);
  memory.register("plans", plans);
  registerPlanMetrics(metrics, plans);
  const ofStatements = { ...statementLimits(settings, memory), spill, workers, plans, watch: statementWatch(settings, queries, tracer) };
  for (const each of [workers, ofStatements.calls]) opened.defer(() => each?.close());
  const db = new LocalDb(engine, scheduler, ofStatements, buildInfo(), externalFiles(settings.storage));
  const slow = keepSlowStatements(settings, db, ofStatements.watch, log);
  opened.defer(() => slow?.flush());
  registerTableMetrics(metrics, engine, db, spill);
  registerDiskFloor(metrics, settings.storage.freeBytesMin);
  const heap = startHeapWatch(memory, scheduler, metrics);
  opened.defer(() => heap.close());
  const limits = startLimitWatch(engine, scheduler, log, metrics);
  opened.defer(() => limits.close());
  return { engine, db, memory, shared, metrics, tracer, queryThreads, profiledThreads, scheduler, afterEngine };
}

function millisSince(monotonicMillis: number): number {
  return Math.round(systemClock.monotonicMillis() - monotonicMillis);
}

/** What SYSTEM means in SQL. */
function useTimeZone({ general }: Settings): void {
  const { defaultTimezone: zone } = general;
  if (zone !== undefined && zone.toUpperCase() !== "SYSTEM") process.env["TZ"] = zone;
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
async function keepAllPrivate({ storage, wal, query }: Settings, log: RootLog): Promise<void> {
  const folders = [storage.dataHome, wal.dir, ...(query.spillBytesMax === 0 ? [] : [query.spillDir])];
  for (const folder of new Set(folders)) await keepPrivate(folder, log.logger("storage"));
}

/** `openSpillFolder`, with all folders closed to others before a statement runs. @throws DbError StorageUnavailable */
async function openPrivateSpill(settings: Settings, log: RootLog): Promise<SpillFolder | undefined> {
  const spill = await openSpillFolder(settings);
  await keepAllPrivate(settings, log);
  return spill;
}

/** Says what the start read back from the log. */
function tellRecovery(recovery: Awaited<ReturnType<typeof Engine.open>>["recovery"], logger: Logger): void {
  if (recovery.gaps.length > 0)
    logger.warn({ ...recovery }, "replayed the log without records that are damaged or missing: their rows are lost");
  else if (recovery.records > 0 || recovery.tornTailBytes > 0) logger.info({ ...recovery }, "replayed the log");
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

/** Counts and records flushes and merges. */
function toldOfWork(tracer: Tracer, metrics: MetricRegistry): OnBackgroundWork {
  const count = flushCounter(metrics);
  return (work) => {
    count(work);
    const { kind, table, millis, rows, files, bytes } = work;
    const attributes = { "varve.table": table, "varve.rows": rows, "varve.files": files, "varve.bytes": bytes };
    tracer.record({ name: kind, parent: undefined, millis, attributes });
  };
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

/** Where statements put rows that do not fit in memory, unless they may not. @throws DbError StorageUnavailable */
async function openSpillFolder({ query, storage }: Settings): Promise<SpillFolder | undefined> {
  if (query.spillBytesMax === 0) return undefined;
  return SpillFolder.open({
    folder: query.spillDir,
    bytesMax: query.spillBytesMax,
    freeBytesMin: storage.freeBytesMin,
    freeBytesOf: systemFreeBytes,
  });
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

/** Keeps descriptors free for files, whoever connects to these ports. */
function startGuard(
  ports: readonly (number | undefined)[],
  marks: ConnectionMarks,
  log: RootLog,
  metrics: MetricRegistry,
): ConnectionGuard {
  const known = new Set(ports.filter((port) => port !== undefined));
  const guard = new ConnectionGuard({ ports: known, marks, clock: systemClock, logger: log.logger("connections"), metrics });
  guard.start();
  return guard;
}

/** What is switched on all threads at once. */
type Switches = Pick<LogControl, "setFilter"> & { setTracing(isOn: boolean): void };

/** The log filter, and whether there are traces, of this thread and of those that follow it. */
function sharedControl(log: RootLog, tracer: Tracer): LogControl & Switches & { follow(others: Switches): void } {
  const setTracing = (isOn: boolean): void => {
    tracer.isOn = isOn;
  };
  const followers: Switches[] = [{ setFilter: (filter) => log.setFilter(filter), setTracing }];
  return {
    get filter() {
      return log.filter;
    },
    setFilter(filter) {
      for (const each of followers) each.setFilter(filter);
    },
    setTracing(isOn) {
      for (const each of followers) each.setTracing(isOn);
    },
    follow(others) {
      followers.push(others);
    },
  };
}

async function openEngine(
  settings: Settings,
  log: RootLog,
  parts: Required<Pick<EngineParts, "memory" | "shared" | "scheduler" | "pageCacheBytes" | "onBug" | "onWork">> & {
    readonly metrics: MetricRegistry;
    readonly dataFiles: DataFiles;
  },
  metaFile: string,
  dataFolder: string,
): ReturnType<typeof Engine.open> {
  const { storage } = settings;
  const { metrics, dataFiles, ...given } = parts;
  const { files, flusher, merger, outputBytesMax } = dataFiles;
  const threadLogs = new ThreadLogNames(settings.wal.dir);
  const meta = openSqliteMetaStore(metaFile);
  const mainLog = { isRecovered: false, isExpected: meta.get(LOG_KEY) !== undefined, watch: new LogMetrics(metrics) };
  const opened = await Engine.open({
    wal: await openThreadLog(settings.wal, 0, log.logger("wal"), mainLog),
    ...given,
    threadLogs: await openThreadLogs(settings.wal, threadLogs, log.logger("wal")),
    meta,
    shards: storage.shards,
    files,
    flusher,
    merger,
    compaction: {
      isAutomatic: storage.compaction,
      triggerFiles: storage.compactionTriggerFiles,
      outputBytesMax,
    },
    clock: systemClock,
    logger: log.logger("engine"),
    places: [
      { what: "the meta store", path: metaFile },
      { what: "the lock of the data directory", path: lockFile(storage.dataHome) },
      { what: "the log directory", path: settings.wal.dir },
      { what: "the log", path: join(settings.wal.dir, ENDS_NAME) },
      { what: "the lock of the log directory", path: lockFile(settings.wal.dir) },
      ...(dataFiles.isFolderNeeded ? [{ what: "the folder of the data files", path: dataFolder }] : []),
    ],
    disk: { paths: [storage.dataHome, settings.wal.dir], freeBytesMin: storage.freeBytesMin, freeBytesOf: systemFreeBytes },
    backup: backupPlaces(settings, dataFolder),
    limits: {
      memtableBytes: storage.memtableBytes,
      writeBufferBytes: storage.writeBufferBytesMax,
      logBytesMax: storage.memtableBytes * LOG_BYTES_PER_MEMTABLE_BYTE,
      idleMillis: storage.flushIntervalMs === 0 ? Number.POSITIVE_INFINITY : storage.flushIntervalMs,
      stallMillis: settings.write.stallTimeoutMs,
    },
  });
  await nameThreadLogs(settings.wal, threadLogs, given.shared.threads, log.logger("wal"));
  return opened;
}

function buildInfo(): BuildInfo {
  return {
    product: "Varve",
    app: "greptime-standalone",
    version: VERSION,
    commit: process.env["VARVE_COMMIT"] ?? "unknown",
    branch: "",
    runtime: `bun ${Bun.version}`,
    hostname: hostname(),
  };
}

/** For a tool that runs in another folder. */
function backupPlaces({ storage, wal }: Settings, dataFolder: string): BackupPlaces {
  return { dataFolder: resolve(dataFolder), logFolder: resolve(wal.dir), copyFolder: resolve(storage.dataHome, "backup-copies") };
}
