/**
 * One server of one process, wired from its settings.
 *
 *   lock the data directory ─► meta store ─► engine (replays the logs) ─► facade ─► HTTP ─► ingest threads
 *
 * `stop` goes the other way, as does a start that fails: stop accepting, finish requests, flush, close, unlock.
 */
import { join, resolve } from "node:path";
import { systemClock } from "./base/clock.ts";
import type { Logger, RootLog } from "./base/log.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import type { Settings } from "./config/settings.ts";
import { openAccounts, serveClients } from "./clients.ts";
import { type DataFiles, openDataFiles } from "./data-files.ts";
import type { LocalDb } from "./db/local-db.ts";
import { Engine } from "./engine/engine.ts";
import type { BackupPlaces, EngineParts } from "./engine/engine-parts.ts";
import { systemFreeBytes } from "./engine/health/disk-watch.ts";
import { LOG_KEY } from "./engine/schema/meta-codec.ts";
import { SharedState } from "./engine/threads/shared-state.ts";
import { type Foundation, layFoundation, toldOfWork, useTimeZone } from "./foundation.ts";
import { ingestThreadsOf, startIngestThreads } from "./ingest-workers.ts";
import { openQueryThreads } from "./query-threads.ts";
import type { RunningServer } from "./running-server.ts";
import { probeAddresses } from "./servers.ts";
import { openStatements } from "./statements.ts";
import { lockDataDirectory, lockFile, lockLogFolder } from "./storage/data-directory.ts";
import { openSqliteMetaStore } from "./storage/meta-store/sqlite-meta-store.ts";
import { ENDS_NAME } from "./storage/wal/ends-file.ts";
import { LogMetrics } from "./storage/wal/log-metrics.ts";
import { ThreadLogNames } from "./storage/wal/thread-log-names.ts";
import { nameThreadLogs, openThreadLog, openThreadLogs } from "./thread-parts.ts";
import { VERSION } from "./version.ts";

/** Log bytes, as a multiple of the memtable limit, at which the tables that hold the oldest segment are flushed. */
const LOG_BYTES_PER_MEMTABLE_BYTE = 4;

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
  const accounts = openAccounts(settings, log, opened);
  probeAddresses(settings);
  const database = await openDatabase(settings, log, onBug, opened);
  const { memory, shared, queryThreads, scheduler } = database;
  const clients = await serveClients(
    settings,
    log,
    { ...database, ...accounts, role: "standalone", ingestThreads: shared.threads, onBug },
    opened,
  );
  const { http, control } = clients;
  const threads = await startIngestThreads({ ...database, ...clients, settings, log, script: threadScript, onBug });
  database.afterEngine.defer(() => threads.end());
  clients.addListener({ stop: (graceMs) => threads.stopListening(graceMs) });
  control.follow(threads);
  if (accounts.userProvider !== undefined && shared.threads > 0) accounts.reloads.add("accounts of ingest threads", () => threads.reload());
  const counts = {
    ingestThreads: shared.threads + 1,
    queryThreads: queryThreads.threads,
    memoryLimit: memory.bytesMax,
    millis: millisSince(started),
  };
  logger.info({ address: http.url, ...clients.addresses, data: settings.storage.dataHome, version: VERSION, ...counts }, "ready");
  const running = opened.move();
  return {
    url: http.url,
    reload: () => accounts.reloads.run(),
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
interface OpenDatabase extends Foundation {
  readonly engine: Engine;
  readonly db: LocalDb;
  readonly shared: SharedState;
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
  const shared = new SharedState(ingestThreadsOf(settings) - 1);
  const foundation = layFoundation(settings, log, opened);
  const { memory, scheduler, metrics, tracer, pages } = foundation;
  const kept = { metrics, memory, shared, scheduler, pageCacheBytes: pages.here, onWork: toldOfWork(tracer, metrics) };
  const afterEngine = opened.use(new DisposableStack());
  const dataFiles = await openDataFiles(settings.storage, directory.dataFolder, kept, log.logger("storage"));
  const { engine, recovery } = await openEngine(settings, log, { ...kept, dataFiles, onBug }, directory.metaFile, directory.dataFolder);
  opened.defer(() => engine.close());
  opened.defer(dataFiles.uploadLeft());
  tellRecovery(recovery, log.logger("main"));
  const workers = openQueryThreads({ ...foundation, dataFolder: directory.dataFolder, logger: log.logger("query") });
  const db = await openStatements(settings, log, engine, { ...foundation, workers }, opened);
  return { ...foundation, engine, db, shared, afterEngine };
}

function millisSince(monotonicMillis: number): number {
  return Math.round(systemClock.monotonicMillis() - monotonicMillis);
}

/** Says what the start read back from the log. */
function tellRecovery(recovery: Awaited<ReturnType<typeof Engine.open>>["recovery"], logger: Logger): void {
  if (recovery.gaps.length > 0)
    logger.warn({ ...recovery }, "replayed the log without records that are damaged or missing: their rows are lost");
  else if (recovery.records > 0 || recovery.tornTailBytes > 0) logger.info({ ...recovery }, "replayed the log");
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

/** For a tool that runs in another folder. */
function backupPlaces({ storage, wal }: Settings, dataFolder: string): BackupPlaces {
  return { dataFolder: resolve(dataFolder), logFolder: resolve(wal.dir), copyFolder: resolve(storage.dataHome, "backup-copies") };
}
