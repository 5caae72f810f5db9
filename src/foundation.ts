/** What every server stands on, whatever its role: memory, time, figures, threads for queries. */
import { systemClock } from "./base/clock.ts";
import type { RootLog } from "./base/log.ts";
import { ServerMemory } from "./base/memory/server-memory.ts";
import { MetricRegistry } from "./base/metrics.ts";
import { ProfiledThreads } from "./base/profile/thread-profiles.ts";
import { watchLoop } from "./base/scheduler/loop-watch.ts";
import { Scheduler } from "./base/scheduler/scheduler.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import { memoryLimitOf } from "./config/memory-limit.ts";
import type { Settings } from "./config/settings.ts";
import type { OnBackgroundWork } from "./engine/background-work.ts";
import { systemFreeBytes } from "./engine/health/disk-watch.ts";
import { flushCounter } from "./engine/flush/flush-metrics.ts";
import { type PageMemory, pageMemoryOf, type QueryThreads, queryThreadsOf } from "./query-threads.ts";
import { SpillFolder } from "./storage/spill/spill-folder.ts";
import { openTracer, TRACE_GRACE_MS } from "./thread-parts.ts";

/** Decoded pages kept in memory: ten fields and the time of 8.6M rows are 155 MiB; more where the memory limit is large. */
const PAGE_CACHE_BYTES = 256 * 1024 * 1024;
const PAGE_CACHE_PART_LARGE = 1 / 8;
/** Part of the memory limit that is used where the limit is small. */
const PAGE_CACHE_PART = 1 / 3;

/** See the file header. */
export interface Foundation {
  readonly memory: ServerMemory;
  readonly scheduler: Scheduler;
  readonly metrics: MetricRegistry;
  readonly tracer: Tracer;
  readonly queryThreads: QueryThreads;
  readonly profiledThreads: ProfiledThreads;
  /** How pages in memory are divided among threads. */
  readonly pages: PageMemory;
}

/** Lays it; `opened` ends it. */
export function layFoundation(settings: Settings, log: RootLog, opened: AsyncDisposableStack): Foundation {
  const memory = new ServerMemory(memoryLimitOf(settings));
  const queryThreads = queryThreadsOf(settings);
  const wished = Math.max(PAGE_CACHE_BYTES, Math.floor(memory.bytesMax * PAGE_CACHE_PART_LARGE));
  const pages = pageMemoryOf(Math.min(wished, Math.floor(memory.bytesMax * PAGE_CACHE_PART)), queryThreads);
  const metrics = new MetricRegistry().withProcessMetrics();
  const tracer = openTracer(settings, 0, log.logger("trace"), metrics);
  opened.defer(() => tracer.close(TRACE_GRACE_MS));
  opened.defer(watchLoop(metrics, systemClock, "main"));
  return { memory, scheduler: new Scheduler(), metrics, tracer, queryThreads, profiledThreads: new ProfiledThreads(), pages };
}

/** Counts and records flushes and merges. */
export function toldOfWork(tracer: Tracer, metrics: MetricRegistry): OnBackgroundWork {
  const count = flushCounter(metrics);
  return (work) => {
    count(work);
    const { kind, table, millis, rows, files, bytes } = work;
    const attributes = { "varve.table": table, "varve.rows": rows, "varve.files": files, "varve.bytes": bytes };
    tracer.record({ name: kind, parent: undefined, millis, attributes });
  };
}

/** What SYSTEM means in SQL. */
export function useTimeZone({ general }: Settings): void {
  const { defaultTimezone: zone } = general;
  if (zone !== undefined && zone.toUpperCase() !== "SYSTEM") process.env["TZ"] = zone;
}

/** Where statements put rows that do not fit in memory, unless they may not. @throws DbError StorageUnavailable */
export async function openSpillFolder({ query, storage }: Settings): Promise<SpillFolder | undefined> {
  if (query.spillBytesMax === 0) return undefined;
  return SpillFolder.open({
    folder: query.spillDir,
    bytesMax: query.spillBytesMax,
    freeBytesMin: storage.freeBytesMin,
    freeBytesOf: systemFreeBytes,
  });
}
