/**
 * The program of an ingest thread: a listener on the server's address, decoders, a log. Wired here as `standalone.ts` wires the main
 * thread.
 */
import { Scheduler } from "./base/scheduler/scheduler.ts";
import { systemClock } from "./base/clock.ts";
import { bugText } from "./base/assert.ts";
import { armFailPoints, FAIL_POINTS_VARIABLE } from "./base/process/fail-point.ts";
import { textLogWriter } from "./base/text-log.ts";
import { RootLog } from "./base/log.ts";
import { watchLoop } from "./base/scheduler/loop-watch.ts";
import { MetricRegistry } from "./base/metrics.ts";
import { answerProfile } from "./base/profile/thread-profiles.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import { ServerMemory } from "./base/memory/server-memory.ts";
import { memoryLimitOf } from "./config/memory-limit.ts";
import type { AccountProvider } from "./db/auth/user.ts";
import { createUserProvider } from "./db/auth/user-provider.ts";
import { ThreadDb } from "./db/thread-db.ts";
import { IngestThread } from "./engine/threads/ingest-thread.ts";
import { toldError } from "./base/told-error.ts";
import { SharedState } from "./engine/threads/shared-state.ts";
import { threadLink } from "./engine/threads/worker-link.ts";
import type { FromWorker, ToWorker, WorkerStart } from "./ingest-workers.ts";
import { ConnectionMarks } from "./server/connections/marks.ts";
import { startIngestServer } from "./server/http/ingest-server.ts";
import type { HttpListener } from "./server/http/listener.ts";
import { LogMetrics } from "./storage/wal/log-metrics.ts";
import { listening, openThreadLog, openTracer, TRACE_GRACE_MS } from "./thread-parts.ts";

declare const self: Worker;

armFailPoints(process.env[FAIL_POINTS_VARIABLE]);

/** How often the thread looks whether its log still takes writes when nothing is written. */
const HEALTH_MILLIS = 1000;

/** How often decoders that are idle are asked to forget what they learnt. */
const MEMORY_MILLIS = 1000;

/** A thread that listens. */
interface Running {
  readonly log: RootLog;
  readonly metrics: MetricRegistry;
  readonly tracer: Tracer;
  readonly http: HttpListener;
  readonly accounts: AccountProvider | undefined;
}

/** A bug: the main thread ends the process. This one stands still from here on, so that no acknowledgement leaves meanwhile. */
function bug(error: unknown): void {
  tell({ kind: "bug", text: bugText(error) });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function tell(message: FromWorker): void {
  self.postMessage(message);
}

async function start(options: WorkerStart): Promise<Running> {
  const { id, threads, settings, logFilter, isTracing, port, socket } = options;
  const log = new RootLog(logFilter, await textLogWriter(settings.logging.format));
  const shared = new SharedState(threads, options.sharedMemory);
  const metrics = new MetricRegistry();
  watchLoop(metrics, systemClock, `ingest-${id}`);
  const known = { isRecovered: true, watch: new LogMetrics(metrics) };
  const wal = await openThreadLog(settings.wal, id, log.logger("wal"), known);
  await wal.recover(() => undefined);
  const thread = new IngestThread({
    id,
    shared,
    link: threadLink(options.ports, shared, id),
    wal,
    clock: systemClock,
    news: options.news,
    shards: settings.storage.shards,
    writeBufferBytes: settings.storage.writeBufferBytesMax,
    pooledBytes: Math.ceil(settings.storage.memtableBytes / (threads + 1)),
    onBug: bug,
  });
  setInterval(() => thread.tellHealth(), HEALTH_MILLIS);
  const provider = settings.general.userProvider;
  const accounts = provider === undefined ? undefined : createUserProvider(provider, log.logger("auth"));
  const tracer = openTracer(settings, id, log.logger("trace"), metrics);
  tracer.isOn = isTracing;
  const memory = new ServerMemory(Math.floor(memoryLimitOf(settings) / (threads + 1)));
  setInterval(() => {
    memory.tick();
    thread.countSeries();
  }, MEMORY_MILLIS);
  const http = startIngestServer(
    {
      ...listening(settings, true, threads + 1),
      port,
      db: new ThreadDb(thread),
      scheduler: new Scheduler(),
      userProvider: accounts,
      logger: log.logger("http"),
      metrics,
      tracer,
      memory,
      marks: new ConnectionMarks(options.marks),
      onBug: bug,
    },
    socket,
    threads,
  );
  return { log, metrics, tracer, http, accounts };
}

let running: Running | undefined;

async function take(message: ToWorker): Promise<void> {
  switch (message.kind) {
    case "start":
      try {
        running = await start(message);
        return tell({ kind: "listening" });
      } catch (error) {
        return tell({ kind: "refused", error: toldError(error) });
      }
    case "filter":
      running?.log.setFilter(message.filter);
      return;
    case "trace":
      if (running !== undefined) running.tracer.isOn = message.isOn;
      return;
    case "metrics":
      return tell({ kind: "metrics", families: (await running?.metrics.countedHere()) ?? [] });
    case "profile":
      return answerProfile(message, systemClock);
    case "reload":
      return tell({ kind: "reloaded", isWhole: (await running?.accounts?.reload()) ?? true });
    case "stop":
      await running?.http.stop(message.graceMs);
      await running?.tracer.close(TRACE_GRACE_MS);
      return tell({ kind: "stopped" });
  }
}

process.on("uncaughtException", bug);
process.on("unhandledRejection", bug);
self.onmessage = ({ data }: MessageEvent<ToWorker>): void => {
  void take(data); // What it rejects with is a bug, and is heard above.
};
