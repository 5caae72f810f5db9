/**
 * A rehearsal after the start: statements of a client on an engine of its own in memory, so that the first of a user meets code that has
 * run before.
 *
 *   ready ─► an engine in memory, some metrics written ─► rounds of requests, with pauses ─► all of it thrown away
 *
 * Why: functions are compiled when they are first called, and better when they are called often. First of each after a start, ms of two
 * runs in a row without and with a rehearsal before them (`bun bench promql --hosts 10`, a quiet machine): last value of one series 51 and
 * 26, rate of 1,000 series 182 and 108, histogram_quantile 96 and 63, topk 48 and 30, label values 48 and 17; warm ones do not differ. It
 * takes 0.8 s of processor time and 40 MiB, most of it code.
 *
 * It ends with the first query of a client: queries of a client that asked meanwhile took 1.3 to 2 x as long.
 *
 * Nothing here touches the server's data, metrics, list of statements or log: requests go through an HTTP service that listens nowhere,
 * counts in a registry of its own and has no slow log. Nothing is flushed. With the machines' rows in files a first query of one machine
 * took 15 ms of the main thread instead of 23, but double-groupby-all 367 to 533 in 11 of 16 processes, instead of 220 to 290: the
 * generated loops of `bit-pack.ts`, which a rehearsal calls some hundred times, are compiled then to code that leaves itself at the first
 * value, ten times over (416 bytes instead of 2,400, an exit "Uncountable"; Bun 1.4.5 with BUN_JSC_reportCompileTimes and
 * BUN_JSC_printEachOSRExit). It does not depend on where files lie or who writes them, and queries of clients do not bring it about.
 */
import { errorText } from "./base/error.ts";
import type { Logger } from "./base/log.ts";
import { silentLogger } from "./base/log.ts";
import { systemClock } from "./base/clock.ts";
import { MetricRegistry } from "./base/metrics.ts";
import { ServerMemory } from "./base/memory/server-memory.ts";
import { Scheduler } from "./base/scheduler/scheduler.ts";
import type { Settings } from "./config/settings.ts";
import { LocalDb } from "./db/local-db.ts";
import { Engine } from "./engine/engine.ts";
import { rehearsedRequests, type RehearsedRequest } from "./rehearsed-requests.ts";
import { routedService } from "./server/http/server.ts";
import type { HttpService } from "./server/http/service.ts";
import { inlineMergeExecutor } from "./storage/compaction/merge-executor.ts";
import { memoryFileStore } from "./storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "./storage/meta-store/memory-meta-store.ts";
import { inlineFlushExecutor } from "./storage/sst/write/flush-executor.ts";
import { memoryWal } from "./storage/wal/memory-wal.ts";
import { listening } from "./thread-parts.ts";
import type { Standalone } from "./standalone.ts";
import { VERSION } from "./version.ts";

/** Rounds over all requests that read: code that was called so often is compiled well. */
const ROUNDS = 3;
/** Milliseconds of work, pauses apart, after which nothing is read any more: a machine that is so busy has better to do. */
const WORK_MS_MAX = 5000;
/** Between two requests the thread is others' for as long as the last one took, and this many milliseconds at least. */
const PAUSE_MS_MIN = 1;
const CACHE_BYTES = 8 * 1024 * 1024;
const MEMTABLE_BYTES = 64 * 1024 * 1024;

/** A rehearsal under way. */
export interface Rehearsal {
  /** Resolves when it is over. Never rejects. */
  readonly over: Promise<void>;
  /** Ends it after the request that runs: tens of milliseconds. */
  stop(): void;
}

/**
 * Begins one. What goes wrong is logged: it says nothing of the server's data.
 *
 * @param server whose clients may ask already: their own queries have what they need compiled, and it would slow them
 */
export function rehearse(settings: Settings, logger: Logger, server: Pick<Standalone, "isAsked" | "openAhead">): Rehearsal {
  const stopping = new AbortController();
  const isOver = (): boolean => stopping.signal.aborted || server.isAsked();
  const turn = async (): Promise<boolean> => {
    await Bun.sleep(PAUSE_MS_MIN);
    return !isOver();
  };
  const over = (async () => ({ ...(await perform(settings, isOver)), files: await server.openAhead(turn) }))().then(
    (done) => logger.debug({ ...done }, "rehearsed"),
    (error: unknown) => logger.warn({ error: errorText(error) }, "cannot rehearse: first queries take longer"),
  );
  return { over, stop: () => stopping.abort() };
}

/** What was done. */
interface Performed {
  readonly requests: number;
  readonly millis: number;
}

async function perform(settings: Settings, isOver: () => boolean): Promise<Performed> {
  const scheduler = new Scheduler();
  const engine = await engineInMemory(scheduler);
  try {
    const service = serviceOn(engine, scheduler, settings);
    const { writes, reads, drops } = rehearsedRequests(Number(systemClock.nowNanos() / 1_000_000n), settings.prom_store.enable);
    let requests = 0;
    let millis = 0;
    for (const request of [...writes, ...Array.from({ length: ROUNDS }, () => reads).flat()]) {
      if (isOver() || millis > WORK_MS_MAX) break;
      const taken = await answer(request, service);
      requests++;
      millis += taken;
      await Bun.sleep(Math.max(PAUSE_MS_MIN, taken));
    }
    for (const request of drops) await answer(request, service);
    return { requests, millis };
  } finally {
    await engine.close();
  }
}

/** Milliseconds that a request took. @throws Error when it was refused */
async function answer({ path, body }: RehearsedRequest, service: HttpService): Promise<number> {
  const began = systemClock.monotonicMillis();
  const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": String(body?.length ?? 0) };
  const sent = new Request(`http://127.0.0.1${path}`, body === undefined ? {} : { method: "POST", body, headers });
  const response = await service.handle(sent, { requestIP: () => null, timeout: () => undefined });
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} to ${path.slice(0, 200)}: ${text.slice(0, 200)}`);
  return systemClock.monotonicMillis() - began;
}

async function engineInMemory(scheduler: Scheduler): Promise<Engine> {
  const files = memoryFileStore();
  const { engine } = await Engine.open({
    wal: memoryWal(),
    meta: memoryMetaStore(),
    files,
    flusher: inlineFlushExecutor(files),
    merger: inlineMergeExecutor(files),
    clock: systemClock,
    scheduler,
    logger: silentLogger,
    limits: {
      memtableBytes: MEMTABLE_BYTES,
      writeBufferBytes: MEMTABLE_BYTES,
      logBytesMax: MEMTABLE_BYTES,
      idleMillis: Number.POSITIVE_INFINITY,
      stallMillis: 0,
    },
    compaction: { isAutomatic: false, triggerFiles: Number.POSITIVE_INFINITY, outputBytesMax: MEMTABLE_BYTES },
    onBug: () => undefined, // A request fails then, and with it the rehearsal.
    pageCacheBytes: CACHE_BYTES,
  });
  return engine;
}

function serviceOn(engine: Engine, scheduler: Scheduler, settings: Settings): HttpService {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  const limits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY };
  const build = { product: "", app: "", version: VERSION, commit: "", branch: "", runtime: "", hostname: "" };
  return routedService({
    ...listening(settings, false, 1),
    hostname: "127.0.0.1",
    timeoutMs: 0,
    bodyBytesMax: 0,
    autoCreateTable: true,
    analyzeStream: false,
    jaeger: { enabled: false },
    db: new LocalDb(engine, scheduler, limits, build),
    scheduler,
    userProvider: undefined,
    logger: silentLogger,
    metrics: new MetricRegistry(),
    memory,
    build,
    configText: () => "",
    dashboardFolder: "", // Nobody looks at it.
    log: { filter: settings.logging.level, setFilter: () => undefined },
    onBug: (error) => {
      throw error;
    },
  });
}
