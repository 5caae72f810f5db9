/**
 * One server of one process, wired from its settings. The only file besides `main.ts` that sees every layer.
 *
 *   lock the data directory ─► meta store ─► engine (replays the logs) ─► facade ─► HTTP ─► ingest threads
 *
 * `stop` goes the other way: stop accepting, finish requests, flush, close, unlock.
 */
import { hostname } from "node:os";
import { systemClock } from "./base/clock.ts";
import type { LogFilter, RootLog } from "./base/log.ts";
import { registerMemoryMetrics } from "./base/memory-metrics.ts";
import { MetricRegistry } from "./base/metrics.ts";
import { MemoryPool, ServerMemory } from "./base/server-memory.ts";
import { bodiesLimitOf, memoryLimitOf } from "./config/memory-limit.ts";
import { renderConfig } from "./config/render.ts";
import type { Settings } from "./config/settings.ts";
import { createUserProvider } from "./db/auth/user-provider.ts";
import { LocalDb } from "./db/local-db.ts";
import { registerCompactionMetrics } from "./engine/compaction-metrics.ts";
import { systemFreeBytes } from "./engine/health/disk-watch.ts";
import { Engine } from "./engine/engine.ts";
import { registerHealthMetrics } from "./engine/health/health-metrics.ts";
import { LimitWatch } from "./engine/health/limit-watch.ts";
import type { ThreadLog } from "./engine/log-stream.ts";
import { SharedState } from "./engine/threads/shared-state.ts";
import { InfluxDecoder } from "./ingest/influx/decode.ts";
import type { BuildInfo } from "./server/http/options.ts";
import { ingestThreadsOf, IngestWorkers, ownerSocket } from "./ingest-workers.ts";
import { probeAddress } from "./server/http/listener.ts";
import { type HttpServer, startHttpServer } from "./server/http/server.ts";
import { lockDataDirectory } from "./storage/data-directory.ts";
import { localFileStore } from "./storage/file-store/local-file-store.ts";
import { openSqliteMetaStore } from "./storage/meta-store/sqlite-meta-store.ts";
import { workerMergeExecutor } from "./storage/compaction/merge-executor.ts";
import { workerFlushExecutor } from "./storage/sst/flush-executor.ts";
import { openLocalWal } from "./storage/wal/local-wal.ts";
import { listThreadLogs, removeThreadLog, threadLogFolder } from "./storage/wal/thread-logs.ts";
import type { Wal } from "./storage/wal/wal.ts";
import { VERSION } from "./version.ts";

/** Log bytes, as a multiple of the memtable limit, at which the tables that hold the oldest segment are flushed. */
const LOG_BYTES_PER_MEMTABLE_BYTE = 4;
/** Decoded pages kept in memory: ten fields and the time of 8.6M rows are 155 MiB. */
const PAGE_CACHE_BYTES = 256 * 1024 * 1024;
/** Part of the memory limit that is used where the limit is small: pages, all queries together. */
const PAGE_CACHE_PART = 1 / 4;
const QUERIES_PART = 1 / 2;
/** Largest file that compaction makes of smaller ones: 1 GiB is minutes of merging at most. */
const COMPACTION_OUTPUT_BYTES_MAX = 1024 * 1024 * 1024;
/** How long requests in flight may take at shutdown. */
const STOP_GRACE_MILLIS = 10_000;
/** Name of the time index of tables that writes make. */
const TIME_COLUMN = "greptime_timestamp";

/** A running server. */
export interface Standalone {
  /** `http://host:port`. */
  readonly url: string;
  /** Ends in the order of the file header. */
  stop(): Promise<void>;
}

/** The program of an ingest thread. */
const THREAD_SCRIPT: string = new URL("./ingest-worker.ts", import.meta.url).href;

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
  threadScript: string = THREAD_SCRIPT,
): Promise<Standalone> {
  const started = systemClock.monotonicMillis();
  const logger = log.logger("main");
  const zone = settings.general.defaultTimezone;
  if (zone !== undefined && zone.toUpperCase() !== "SYSTEM") process.env["TZ"] = zone; // What SYSTEM means in SQL.
  const provider = settings.general.userProvider;
  const userProvider = provider === undefined ? undefined : createUserProvider(provider, log.logger("auth"));
  probeAddress(settings.http.addr.host, settings.http.addr.port);
  const directory = lockDataDirectory(settings.storage.dataHome);
  const memory = new ServerMemory(memoryLimitOf(settings));
  const shared = new SharedState(ingestThreadsOf(settings) - 1);
  const { engine, recovery } = await openEngine(settings, log, { memory, shared }, directory.metaFile, directory.dataFolder);
  if (recovery.lostBytes > 0) logger.warn({ ...recovery }, "replayed the log without its damaged records: their rows are lost");
  else if (recovery.records > 0 || recovery.tornTailBytes > 0) logger.info({ ...recovery }, "replayed the log");
  const db = new LocalDb(engine, systemClock, {
    timeoutMillis: settings.query.timeoutMs,
    memoryBytesMax: settings.query.memoryBytesMax === 0 ? Number.POSITIVE_INFINITY : settings.query.memoryBytesMax,
    pool: new MemoryPool(memory, "queries", memory.bytesMax * QUERIES_PART),
  });
  const metrics = new MetricRegistry().withProcessMetrics();
  registerCompactionMetrics(metrics, () => engine.compactionTotals);
  registerMemoryMetrics(metrics, memory);
  registerHealthMetrics(metrics, engine);
  const limits = new LimitWatch(engine, systemClock, log.logger("limits"));
  limits.start(metrics);
  let threads: Threads | undefined;
  const http = await startHttpServer({
    hostname: settings.http.addr.host,
    port: settings.http.addr.port,
    sharesPort: shared.threads > 0,
    surface: "all",
    db,
    userProvider,
    logger: log.logger("http"),
    clock: systemClock,
    metrics,
    bodyBytesMax: settings.http.bodyBytesMax,
    inFlightBytesMax: bodiesLimitOf(settings, shared.threads + 1),
    inFlightWaitMs: settings.general.inFlightPolicy,
    memory,
    timeoutMs: settings.http.timeoutMs,
    publicAdmin: settings.http.publicAdmin,
    cors: { enabled: settings.http.enableCors, origins: settings.http.corsAllowedOrigins },
    autoCreateTable: settings.general.autoCreateTable,
    influx: {
      enabled: settings.influxdb.enable,
      defaultMergeMode: settings.influxdb.defaultMergeMode,
      timeColumn: TIME_COLUMN,
      createDecoder: () => new InfluxDecoder(),
    },
    build: buildInfo(),
    configText: () => renderConfig(settings),
    log: {
      get filter() {
        return log.filter;
      },
      setFilter(filter) {
        log.setFilter(filter);
        threads?.setFilter(filter);
      },
    },
    onBug,
  });
  threads = await startThreads({ engine, shared, settings, log, http, metrics, script: threadScript, onBug });
  const millis = Math.round(systemClock.monotonicMillis() - started);
  const facts = { address: http.url, data: settings.storage.dataHome, version: VERSION, ingestThreads: shared.threads + 1 };
  logger.info({ ...facts, memoryLimit: memory.bytesMax, millis }, "ready");
  return {
    url: http.url,
    async stop() {
      limits.close();
      await Promise.all([http.stop(STOP_GRACE_MILLIS), threads?.stopListening(STOP_GRACE_MILLIS)]);
      await engine.close();
      await threads?.end();
      userProvider?.close();
      directory.unlock();
      logger.info({}, "stopped");
    },
  };
}

interface ThreadParts {
  readonly engine: Engine;
  readonly shared: SharedState;
  readonly settings: Settings;
  readonly log: RootLog;
  readonly http: HttpServer;
  readonly metrics: MetricRegistry;
  readonly script: string;
  onBug(error: Error): void;
}

/** Starts the ingest threads beside this one; undefined when there are none. */
async function startThreads({ http, metrics, log, ...parts }: ThreadParts): Promise<Threads | undefined> {
  if (parts.shared.threads === 0) return undefined;
  const socket = ownerSocket(parts.settings.storage.dataHome);
  const forwarded = http.listenForForwarded(socket.path);
  const { port } = http;
  const workers = await IngestWorkers.start({ ...parts, logFilter: log.filter, timeColumn: TIME_COLUMN, port, socket: socket.path });
  metrics.addThreads(() => workers.metrics());
  return {
    setFilter: (filter) => workers.setFilter(filter),
    // Requests that were passed on end before the socket that they came over.
    stopListening: async (graceMs) => {
      await workers.stopListening(graceMs);
      await forwarded.stop(graceMs);
    },
    end: async () => {
      parts.shared.close();
      workers.end();
      socket.remove();
    },
  };
}

/** The ingest threads as the server drives them. */
interface Threads {
  setFilter(filter: LogFilter): void;
  stopListening(graceMs: number): Promise<void>;
  end(): Promise<void>;
}

async function openEngine(
  settings: Settings,
  log: RootLog,
  { memory, shared }: { readonly memory: ServerMemory; readonly shared: SharedState },
  metaFile: string,
  dataFolder: string,
): ReturnType<typeof Engine.open> {
  const { storage, wal } = settings;
  return Engine.open({
    wal: await openLog(settings, log, wal.dir),
    shared,
    threadLogs: await openThreadLogs(settings, log),
    meta: openSqliteMetaStore(metaFile),
    files: localFileStore(dataFolder),
    flusher: workerFlushExecutor(dataFolder),
    merger: workerMergeExecutor(dataFolder),
    compaction: {
      isAutomatic: storage.compaction,
      triggerFiles: storage.compactionTriggerFiles,
      outputBytesMax: COMPACTION_OUTPUT_BYTES_MAX,
    },
    clock: systemClock,
    logger: log.logger("engine"),
    pageCacheBytes: Math.min(PAGE_CACHE_BYTES, Math.floor(memory.bytesMax * PAGE_CACHE_PART)),
    memory,
    disk: { paths: [storage.dataHome, wal.dir], freeBytesMin: storage.freeBytesMin, freeBytesOf: systemFreeBytes },
    limits: {
      memtableBytes: storage.memtableBytes,
      writeBufferBytes: storage.writeBufferBytesMax,
      logBytesMax: storage.memtableBytes * LOG_BYTES_PER_MEMTABLE_BYTE,
      idleMillis: storage.flushIntervalMs === 0 ? Number.POSITIVE_INFINITY : storage.flushIntervalMs,
      stallMillis: settings.write.stallTimeoutMs,
    },
  });
}

function openLog({ wal }: Settings, log: RootLog, directory: string): Promise<Wal> {
  const { sync, syncIntervalMs, segmentBytes, recovery } = wal;
  return openLocalWal({ directory, sync, syncIntervalMs, segmentBytes, recovery, logger: log.logger("wal") });
}

/** The logs that ingest threads of earlier processes left, whether or not there are such threads now. */
async function openThreadLogs(settings: Settings, log: RootLog): Promise<ThreadLog[]> {
  const { dir } = settings.wal;
  const logs: ThreadLog[] = [];
  for (const id of listThreadLogs(dir)) {
    const wal = await openLog(settings, log, threadLogFolder(dir, id));
    const remove = async (): Promise<void> => {
      try {
        await removeThreadLog(dir, id);
      } catch (error) {
        // Nothing of ours is in it any more; the next start finds it empty and tries again.
        log.logger("wal").warn({ thread: id, error: error instanceof Error ? error.message : String(error) }, "a log folder stays");
      }
    };
    logs.push({ id, wal, remove });
  }
  return logs;
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
