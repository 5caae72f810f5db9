/**
 * One server of one process, wired from its settings. The only file besides `main.ts` that sees every layer.
 *
 *   lock the data directory ─► meta store ─► engine (replays the log) ─► facade ─► HTTP
 *
 * `stop` goes the other way: stop accepting, finish requests, flush, close, unlock.
 */
import { hostname } from "node:os";
import { join } from "node:path";
import { systemClock } from "./base/clock.ts";
import type { RootLog } from "./base/log.ts";
import { MetricRegistry } from "./base/metrics.ts";
import { renderConfig } from "./config/render.ts";
import type { Settings } from "./config/settings.ts";
import { createUserProvider } from "./db/auth/user-provider.ts";
import { LocalDb } from "./db/local-db.ts";
import { registerCompactionMetrics } from "./engine/compaction-metrics.ts";
import { Engine } from "./engine/engine.ts";
import { InfluxDecoder } from "./ingest/influx/decode.ts";
import type { BuildInfo } from "./server/http/options.ts";
import { probeAddress, startHttpServer } from "./server/http/server.ts";
import { lockDataDirectory, lockLogFolder } from "./storage/data-directory.ts";
import { localFileStore } from "./storage/file-store/local-file-store.ts";
import { openSqliteMetaStore } from "./storage/meta-store/sqlite-meta-store.ts";
import { workerMergeExecutor } from "./storage/compaction/merge-executor.ts";
import { workerFlushExecutor } from "./storage/sst/flush-executor.ts";
import { openLocalWal } from "./storage/wal/local-wal.ts";
import { VERSION } from "./version.ts";

/** Log bytes, as a multiple of the memtable limit, at which the tables that hold the oldest segment are flushed. */
const LOG_BYTES_PER_MEMTABLE_BYTE = 4;
/** Decoded pages kept in memory: ten fields and the time of 8.6M rows are 155 MiB. */
const PAGE_CACHE_BYTES = 256 * 1024 * 1024;
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

/**
 * Starts a server and resolves when it is ready.
 *
 * @param onBug called when a broken invariant was met: the process should end
 * @throws DbError with one line for the operator
 */
export async function startStandalone(settings: Settings, log: RootLog, onBug: (error: Error) => void): Promise<Standalone> {
  const started = systemClock.monotonicMillis();
  const logger = log.logger("main");
  const zone = settings.general.defaultTimezone;
  if (zone !== undefined && zone.toUpperCase() !== "SYSTEM") process.env["TZ"] = zone; // What SYSTEM means in SQL.
  const provider = settings.general.userProvider;
  const userProvider = provider === undefined ? undefined : createUserProvider(provider, log.logger("auth"));
  probeAddress(settings.http.addr.host, settings.http.addr.port);
  const directory = lockDataDirectory(settings.storage.dataHome);
  const unlockLog = lockLogFolder(settings.wal.dir);
  const { engine, recovery } = await openEngine(settings, log, directory.metaFile, directory.dataFolder);
  if (recovery.lostBytes > 0) logger.warn({ ...recovery }, "replayed the log without its damaged records: their rows are lost");
  else if (recovery.records > 0 || recovery.tornTailBytes > 0) logger.info({ ...recovery }, "replayed the log");
  const db = new LocalDb(engine, systemClock, {
    timeoutMillis: settings.query.timeoutMs,
    memoryBytesMax: settings.query.memoryBytesMax === 0 ? Number.POSITIVE_INFINITY : settings.query.memoryBytesMax,
  });
  const metrics = new MetricRegistry().withProcessMetrics();
  registerCompactionMetrics(metrics, () => engine.compactionTotals);
  const http = await startHttpServer({
    hostname: settings.http.addr.host,
    port: settings.http.addr.port,
    surface: "all",
    db,
    userProvider,
    logger: log.logger("http"),
    clock: systemClock,
    metrics,
    bodyBytesMax: settings.http.bodyBytesMax,
    inFlightBytesMax: 0,
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
    log,
    onBug,
  });
  const millis = Math.round(systemClock.monotonicMillis() - started);
  logger.info({ address: http.url, data: settings.storage.dataHome, version: VERSION, millis }, "ready");
  return {
    url: http.url,
    async stop() {
      await http.stop(STOP_GRACE_MILLIS);
      await engine.close();
      userProvider?.close();
      unlockLog();
      directory.unlock();
      logger.info({}, "stopped");
    },
  };
}

async function openEngine(settings: Settings, log: RootLog, metaFile: string, dataFolder: string): ReturnType<typeof Engine.open> {
  const { wal, storage } = settings;
  return Engine.open({
    wal: await openLocalWal({
      directory: join(wal.dir),
      sync: wal.sync,
      syncIntervalMs: wal.syncIntervalMs,
      segmentBytes: wal.segmentBytes,
      recovery: wal.recovery,
      logger: log.logger("wal"),
    }),
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
    pageCacheBytes: PAGE_CACHE_BYTES,
    limits: {
      memtableBytes: storage.memtableBytes,
      writeBufferBytes: storage.writeBufferBytesMax,
      logBytesMax: storage.memtableBytes * LOG_BYTES_PER_MEMTABLE_BYTE,
      idleMillis: storage.flushIntervalMs === 0 ? Number.POSITIVE_INFINITY : storage.flushIntervalMs,
      stallMillis: settings.write.stallTimeoutMs,
    },
  });
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
