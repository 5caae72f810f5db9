/**
 * A rehearsal after the start: statements of a client on an engine of its own in memory, then points of clients' tables, so that the
 * first of a user meets code that has run before, and files that are open.
 *
 *   ready ─► an engine in memory, some metrics written ─► rounds of requests, with pauses ─► all of it thrown away
 *         ─► the newest data files are opened ─► points of some tables that are wholly open
 *
 * Why: functions are compiled when they are first called, and better when they are called often. First of each after a start, ms of two
 * runs in a row without and with a rehearsal before them (`bun bench promql --hosts 10`, a quiet machine): last value of one series 51 and
 * 26, rate of 1,000 series 182 and 108, histogram_quantile 96 and 63, topk 48 and 30, label values 48 and 17; warm ones do not differ. It
 * takes 0.8 s of processor time and 40 MiB, most of it code.
 *
 * Clients' tables: the first query of one machine spent half of its time to open its file, and most of the rest in code that reads files
 * and had never run, on pages like its own; and of eight machines, half of the rest to decode its 88 pages. Their numbers are read into
 * the cache, too, and points asked often enough that planner and operators are compiled. First query after a rest, ms, medians of 7
 * processes in turn (2M rows of 4,000 machines): single-groupby-1-1-1 21 without, 11 with open files, 5.8 with points asked, 4.4 with pages
 * and as many points; cpu-max-all-8 37, 21, 20, 7; double-groupby-all 220, –, 180, 85. Second queries take 1.3, 2.6 and 45.
 *
 * It waits while clients ask (`rehearsed-asker.ts`), and ends where they go on asking.
 *
 * Nothing here changes the server's data, or touches its metrics, list of statements or log: requests go through an HTTP service that
 * listens nowhere, counts in a registry of its own and has no slow log. Nothing is flushed. With the machines' rows in files a first
 * query of one machine took 15 ms of the main thread instead of 23, but double-groupby-all 367 to 533 in 11 of 16 processes, instead of
 * 220 to 290: the generated loops of `bit-pack.ts`, which a rehearsal calls some hundred times, are compiled then to code that leaves
 * itself at the first value, ten times over (416 bytes instead of 2,400, an exit "Uncountable"; Bun 1.4.5 with BUN_JSC_reportCompileTimes
 * and BUN_JSC_printEachOSRExit). It does not depend on where files lie or who writes them, and queries of clients do not bring it about.
 */
import { assert } from "./base/assert.ts";
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
import { KnownPlans } from "./query/known-plans/known-plans.ts";
import { type Answer, RehearsedAsker, TurnsBesideClients, sent } from "./rehearsed-asker.ts";
import { rehearsedRequests, type RehearsedRequest } from "./rehearsed-requests.ts";
import { newestRowsOf, newestRowsRequest, seriesReads } from "./rehearsed-tables.ts";
import { routedService } from "./server/http/server.ts";
import type { HttpService } from "./server/http/service.ts";
import { inlineMergeExecutor } from "./storage/compaction/merge-executor.ts";
import { memoryFileStore } from "./storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "./storage/meta-store/memory-meta-store.ts";
import { inlineFlushExecutor } from "./storage/sst/write/flush-executor.ts";
import { memoryWal } from "./storage/wal/memory-wal.ts";
import { listening } from "./thread-parts.ts";
import { VERSION } from "./version.ts";

/** Rounds over all requests that read, in each half: code that was called so often is compiled well. */
const ROUNDS = 2;
/** Milliseconds of work, pauses apart, after which nothing is read any more: a machine that is so busy has better to do. */
const WORK_MS_MAX = 5000;
const CACHE_BYTES = 8 * 1024 * 1024;
const MEMTABLE_BYTES = 64 * 1024 * 1024;

/** What is kept of plans in the first half of a rehearsal and in the second: statements are planned each time, and then found again. */
const PLAN_BYTES: readonly number[] = [0, 1024 * 1024];
/** Tables of clients that are asked at most, and how often the first is: code is as good after that. */
const TABLES_MAX = 4;
const TABLE_ROUNDS = 6;
/** Milliseconds of such work after which no more is asked. */
const TABLES_WORK_MS_MAX = 2000;

/** What a statement may take. */
interface Limits {
  readonly timeoutMillis: number;
  readonly memoryBytesMax: number;
}
const LIMITS: Limits = { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY };
/** A series of a table may have any number of rows: those that take long are not worth it. */
const TABLE_LIMITS: Limits = { timeoutMillis: 100, memoryBytesMax: 16 * 1024 * 1024 };

/** The server in which it is. */
export interface RehearsedServer {
  /** Queries of clients so far. */
  asked(): number;
  /** Undefined: there are no tables of clients. */
  readonly engine: Engine | undefined;
}

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
export function rehearse(settings: Settings, logger: Logger, server: RehearsedServer): Rehearsal {
  const stopping = new AbortController();
  const turns = new TurnsBesideClients(stopping.signal, () => server.asked());
  const over = performAll(settings, turns, server.engine).then(
    (done) => logger.debug({ ...done }, "rehearsed"),
    (error: unknown) => logger.warn({ error: errorText(error) }, "cannot rehearse: first queries take longer"),
  );
  return { over, stop: () => stopping.abort() };
}

/** What was done. */
interface Performed {
  readonly requests: number;
  /** Data files that are open afterwards, and what was asked of tables of clients and not answered. */
  readonly files?: number;
  /** Pages of them that are in the cache. */
  readonly pages?: number;
  readonly asked?: number;
  readonly refused?: number;
}

async function performAll(settings: Settings, turns: TurnsBesideClients, engine: Engine | undefined): Promise<Performed> {
  const performed = await perform(settings, turns);
  if (engine === undefined) return performed;
  return { ...performed, ...(await performOnTables(settings, turns, engine)) };
}

async function perform(settings: Settings, turns: TurnsBesideClients): Promise<Performed> {
  const scheduler = new Scheduler();
  const engine = await engineInMemory(scheduler);
  try {
    const services = PLAN_BYTES.map((planBytes) => serviceOn(engine, scheduler, settings, { ...LIMITS, planBytes }));
    const { writes, reads, drops } = rehearsedRequests(Number(systemClock.nowNanos() / 1_000_000n), settings.prom_store.enable);
    const asker = new RehearsedAsker(turns, WORK_MS_MAX);
    const ask = async (all: readonly RehearsedRequest[], service: HttpService): Promise<void> => {
      for (const request of all) {
        const answer = await asker.ask(request, service);
        if (answer === undefined) return;
        assertGood(answer, request);
      }
    };
    const [first] = services;
    assert(first !== undefined, "a service at least");
    await ask(writes, first);
    for (const service of services) for (let round = 0; round < ROUNDS; round++) await ask(reads, service);
    for (const request of drops) assertGood(await sent(request, first), request);
    return { requests: asker.asked };
  } finally {
    await engine.close();
  }
}

/** @throws Error when the request was refused: all of a rehearsal's own are right */
function assertGood({ isGood, text }: Answer, { path }: RehearsedRequest): void {
  if (!isGood) throw new Error(`refused: ${path.slice(0, 200)}: ${text.slice(0, 200)}`);
}

/** Opens the newest files, and asks the tables that are then wholly open. */
async function performOnTables(settings: Settings, turns: TurnsBesideClients, engine: Engine): Promise<Omit<Performed, "requests">> {
  const { files, tables, pages } = await engine.openAhead(async () => {
    await Bun.sleep(1);
    return await turns.next();
  });
  const scheduler = new Scheduler();
  const services = PLAN_BYTES.map((planBytes) => serviceOn(engine, scheduler, settings, { ...TABLE_LIMITS, planBytes }));
  const asker = new RehearsedAsker(turns, TABLES_WORK_MS_MAX);
  let refused = 0;
  /** Undefined: it took too long, or the table is gone, or a file damaged: whose query wants it is told. Or it is over. */
  const ask = async (request: RehearsedRequest, service = services[0]): Promise<string | undefined> => {
    const answer = service && (await asker.ask(request, service));
    if (answer?.isGood === false) refused++;
    return answer?.isGood === true ? answer.text : undefined;
  };
  let rounds = TABLE_ROUNDS;
  for (const table of tables.slice(0, TABLES_MAX)) {
    const newest = newestRowsRequest(table);
    const answer = newest === undefined ? undefined : await ask(newest);
    const rows = answer === undefined ? undefined : newestRowsOf(answer);
    if (rows === undefined) continue;
    const reads = seriesReads(table, rows);
    for (; rounds > 0; rounds--) for (const service of services) for (const request of reads) await ask(request, service);
    rounds = 1;
  }
  return { files, pages, asked: asker.asked, refused };
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

function serviceOn(
  engine: Engine,
  scheduler: Scheduler,
  settings: Settings,
  { planBytes, ...limits }: Limits & { readonly planBytes: number },
): HttpService {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  const build = { product: "", app: "", version: VERSION, commit: "", branch: "", runtime: "", hostname: "" };
  return routedService({
    ...listening(settings, false, 1),
    hostname: "127.0.0.1",
    timeoutMs: 0,
    bodyBytesMax: 0,
    autoCreateTable: true,
    analyzeStream: false,
    jaeger: { enabled: false },
    db: new LocalDb(engine, scheduler, { ...limits, plans: new KnownPlans(planBytes) }, build),
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
