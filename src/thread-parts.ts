/**
 * What every thread that takes writes has, made from the settings in one place: its log, and how it listens.
 */
import { hostname } from "node:os";
import { errorText } from "./base/error.ts";
import { systemClock } from "./base/clock.ts";
import type { Logger } from "./base/log.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import { otlpSender } from "./base/trace/otlp-sender.ts";
import { Tracer } from "./base/trace/tracer.ts";
import { bodiesLimitOf } from "./config/memory-limit.ts";
import type { Settings, WalSettings } from "./config/settings.ts";
import type { ThreadLog } from "./engine/log/log-stream.ts";
import { InfluxDecoder } from "./ingest/influx/decode.ts";
import type { IngestServerOptions } from "./server/http/options.ts";
import { type LocalWalOptions, openLocalWal } from "./storage/wal/local-wal.ts";
import type { ThreadLogNames } from "./storage/wal/thread-log-names.ts";
import { findThreadLogs, listThreadLogs, removeThreadLog, threadLogFolder } from "./storage/wal/thread-logs.ts";
import type { Wal } from "./storage/wal/wal.ts";
import { VERSION } from "./version.ts";

/** Name of the time index of tables that writes make. */
export const TIME_COLUMN = "greptime_timestamp";
/** Name of the one field of tables of metrics. */
const VALUE_COLUMN = "greptime_value";
const HISTOGRAM_COLUMN = "greptime_native_histogram";

/** Longest that a stop waits for traces to be sent, in milliseconds. */
export const TRACE_GRACE_MS = 1000;

/**
 * Opens the log of a thread; 0 is the main thread.
 *
 * @param known see the fields: `isRecovered` where the main thread has read it back
 * @throws DbError StorageUnavailable
 */
export function openThreadLog(
  wal: WalSettings,
  thread: number,
  logger: Logger,
  known: Pick<LocalWalOptions, "isRecovered" | "isExpected" | "watch">,
): Promise<Wal> {
  const { dir, sync, syncIntervalMs, segmentBytes, recovery } = wal;
  const directory = thread === 0 ? dir : threadLogFolder(dir, thread);
  return openLocalWal({ directory, sync, syncIntervalMs, segmentBytes, recovery, logger, ...known });
}

/** The logs that ingest threads of earlier processes left, whether or not there are such threads now. @throws DbError StorageUnavailable */
export async function openThreadLogs(wal: WalSettings, names: ThreadLogNames, logger: Logger): Promise<ThreadLog[]> {
  const logs: ThreadLog[] = [];
  for (const id of findThreadLogs(wal.dir, names, wal.recovery, logger)) {
    const remove = async (): Promise<void> => {
      try {
        await names.remove(id, () => removeThreadLog(wal.dir, id));
      } catch (error) {
        // Nothing of ours is in it any more; the next start finds it empty and tries again.
        logger.warn({ thread: id, error: errorText(error) }, "a log folder stays");
      }
    };
    logs.push({ id, wal: await openThreadLog(wal, id, logger, {}), remove });
  }
  return logs;
}

/**
 * Gives each ingest thread of this process a log, which begins with a word about its ends, and then says which threads have one: from then
 * on a log that is gone is missed. To be called when the tables are open, before the threads.
 *
 * @throws DbError StorageUnavailable
 */
export async function nameThreadLogs(wal: WalSettings, names: ThreadLogNames, threads: number, logger: Logger): Promise<void> {
  const there = listThreadLogs(wal.dir);
  for (let id = 1; id <= threads; id++) {
    if (there.includes(id)) continue;
    const log = await openThreadLog(wal, id, logger, {});
    await log.recover(() => undefined);
    await log.close();
  }
  if (threads > 0 || names.isThere) await names.set(() => listThreadLogs(wal.dir));
}

/** Records what a thread does. @param thread 0 is the main thread */
export function openTracer({ logging }: Settings, thread: number, logger: Logger, metrics: MetricRegistry): Tracer {
  const attributes = {
    "service.name": "varve",
    "service.version": VERSION,
    "host.name": hostname(),
    "process.pid": process.pid,
    "thread.id": thread,
  };
  const resource = { attributes, scope: { name: "varve", version: VERSION } };
  const { otlpEndpoint, sampleRatio, otlpTracing } = logging;
  const tracer = new Tracer({ send: otlpSender(otlpEndpoint), resource, sampleRatio, clock: systemClock, logger, metrics });
  tracer.isOn = otlpTracing;
  return tracer;
}

/** How a thread listens, but for what it has of its own. `sharesPort`: whether other threads listen on the same address. */
export function listening(
  settings: Settings,
  sharesPort: boolean,
  threads: number,
): Omit<IngestServerOptions, "db" | "scheduler" | "userProvider" | "logger" | "metrics" | "memory" | "onBug"> {
  const { http, influxdb, opentsdb, prom_store: promStore, general } = settings;
  return {
    hostname: http.addr.host,
    port: http.addr.port,
    sharesPort,
    surface: "all",
    clock: systemClock,
    bodyBytesMax: http.bodyBytesMax,
    inFlightBytesMax: bodiesLimitOf(settings, threads),
    inFlightWaitMs: general.inFlightPolicy,
    timeoutMs: http.timeoutMs,
    publicAdmin: http.publicAdmin,
    cors: { enabled: http.enableCors, origins: http.corsAllowedOrigins },
    allowedHosts: http.allowedHosts,
    autoCreateTable: general.autoCreateTable,
    influx: {
      enabled: influxdb.enable,
      defaultMergeMode: influxdb.defaultMergeMode,
      timeColumn: TIME_COLUMN,
      createDecoder: () => new InfluxDecoder(),
    },
    opentsdb: { enabled: opentsdb.enable },
    prometheus: {
      enabled: promStore.enable,
      metricEngine: promStore.withMetricEngine,
      validation: promStore.validationMode,
      timeColumn: TIME_COLUMN,
      valueColumn: VALUE_COLUMN,
      histogramColumn: promStore.nativeHistograms ? HISTOGRAM_COLUMN : undefined,
    },
  };
}
