/**
 * The ingest threads of a server: starts them once the tables are open, hands on what concerns all of them, ends them before the tables
 * close. One that dies takes the process down: its log has whatever it acknowledged.
 *
 *   thread 0 (this one): tables, queries, flushes, and ingest        threads 1…: ingest, and every other request passed on to thread 0
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { threadScript } from "./base/process/thread-script.ts";
import type { DbError } from "./base/error.ts";
import type { LogFilter, RootLog } from "./base/log.ts";
import type { MetricFamilies, MetricRegistry } from "./base/metrics.ts";
import type { ProfiledThreads, ProfileMessage } from "./base/profile/thread-profiles.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import type { Settings } from "./config/settings.ts";
import type { Engine } from "./engine/engine.ts";
import type { CatalogNews } from "./engine/threads/messages.ts";
import { errorOfTold, type ToldError } from "./base/told-error.ts";
import type { SharedState } from "./engine/threads/shared-state.ts";
import { makePorts, ownerLink, type ThreadPorts } from "./engine/threads/worker-link.ts";
import type { ConnectionMarks } from "./server/connections/marks.ts";
import type { HttpServer } from "./server/http/server.ts";

/** Longest wait for a thread's metrics, in milliseconds: a scrape then shows what it said last. */
const METRICS_WAIT_MILLIS = 1000;
/** Longest wait for a thread to read accounts again, in milliseconds. */
const RELOAD_WAIT_MILLIS = 5000;
/** Longest path of a socket in bytes, of 108 with the end mark. */
const SOCKET_PATH_BYTES_MAX = 107;
const CORES_PER_THREAD = 2;

/** What a thread is started with. */
export interface WorkerStart {
  readonly kind: "start";
  /** From 1. */
  readonly id: number;
  /** How many there are beside the main thread. */
  readonly threads: number;
  readonly settings: Settings;
  readonly logFilter: LogFilter;
  readonly isTracing: boolean;
  /** That the main thread listens on. */
  readonly port: number;
  /** Of the socket for requests that are passed on. */
  readonly socket: string;
  readonly sharedMemory: SharedArrayBuffer;
  readonly ports: ThreadPorts;
  readonly news: CatalogNews;
  /** Of `ConnectionMarks`. */
  readonly marks: SharedArrayBuffer;
}

/** What a thread is told; what concerns rows goes over `WorkerStart.ports`. */
export type ToWorker =
  | WorkerStart
  | { readonly kind: "filter"; readonly filter: LogFilter }
  | { readonly kind: "trace"; readonly isOn: boolean }
  | { readonly kind: "metrics" }
  | ProfileMessage
  /** Read accounts again. */
  | { readonly kind: "reload" }
  /** Stop accepting, finish requests. */
  | { readonly kind: "stop"; readonly graceMs: number };

/** What a thread tells. */
export type FromWorker =
  | { readonly kind: "listening" }
  | { readonly kind: "refused"; readonly error: ToldError }
  | { readonly kind: "metrics"; readonly families: MetricFamilies }
  /** `isWhole`: what was found is in force. */
  | { readonly kind: "reloaded"; readonly isWhole: boolean }
  | { readonly kind: "stopped" }
  | { readonly kind: "bug"; readonly text: string };

/** Threads that take writes under these settings, the main thread among them; at least 1. */
export function ingestThreadsOf(settings: Settings): number {
  const { threads } = settings.ingest;
  return threads > 0 ? threads : Math.max(1, Math.floor(availableParallelism() / CORES_PER_THREAD));
}

/** Where other threads pass requests on to. The folder is one that only this user can enter, if the data directory's path is too long. */
function ownerSocket(dataHome: string): { readonly path: string; remove(): void } {
  const path = join(dataHome, "threads.sock");
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX) return { path, remove: () => rmSync(path, { force: true }) };
  const folder = mkdtempSync(join(tmpdir(), "varve-"));
  return { path: join(folder, "threads.sock"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** What `startIngestThreads` needs. */
export interface IngestThreadsParts {
  /** Where threads are known that can be profiled. */
  readonly profiledThreads: ProfiledThreads;
  readonly engine: Engine;
  readonly shared: SharedState;
  readonly settings: Settings;
  readonly log: RootLog;
  /** That of the main thread. */
  readonly http: HttpServer;
  readonly metrics: MetricRegistry;
  readonly tracer: Tracer;
  readonly marks: ConnectionMarks;
  /** The program of a thread; tests give it one that misbehaves. */
  readonly script: string | undefined;
  /** Called when a thread died or met a bug: the process should end. */
  onBug(error: Error): void;
}

/** The ingest threads beside the main one as the server drives them. */
export interface IngestThreads {
  /** Puts a log filter in force on all of them. */
  setFilter(filter: LogFilter): void;
  /** Switches traces on all of them. */
  setTracing(isOn: boolean): void;
  /** Lets them read accounts again; false: one of them cannot, or does not answer. */
  reload(): Promise<boolean>;
  /** Stops accepting and waits for their requests, for at most `graceMs`. Their logs stay open until the engine closes. */
  stopListening(graceMs: number): Promise<void>;
  /** Ends them, once the engine is closed. */
  end(): void;
}

const NO_THREADS: IngestThreads = {
  setFilter: () => undefined,
  setTracing: () => undefined,
  reload: () => Promise.resolve(true),
  stopListening: () => Promise.resolve(),
  end: () => undefined,
};

/** Starts the ingest threads beside this one; resolves when each listens. @throws DbError of the first that cannot */
export async function startIngestThreads({ http, metrics, tracer, log, script, ...parts }: IngestThreadsParts): Promise<IngestThreads> {
  if (parts.shared.threads === 0) return NO_THREADS;
  const socket = ownerSocket(parts.settings.storage.dataHome);
  const forwarded = http.listenForForwarded(socket.path);
  const workers = await IngestWorkers.start({
    ...parts,
    logFilter: log.filter,
    isTracing: tracer.isOn,
    port: http.port,
    socket: socket.path,
    script: script ?? threadScript("./ingest-worker.ts", import.meta.url),
    onBug: (error) => parts.onBug(error),
  });
  metrics.addThreads(() => workers.metrics());
  return {
    setFilter: (filter) => workers.setFilter(filter),
    setTracing: (isOn) => workers.setTracing(isOn),
    reload: () => workers.reload(),
    stopListening: async (graceMs) => {
      await workers.stopListening(graceMs);
      await forwarded.stop(graceMs); // The socket outlives the requests that came over it.
    },
    end: () => {
      parts.shared.close();
      workers.end();
      socket.remove();
    },
  };
}

/** What the threads are started with. */
interface WorkersOptions {
  readonly profiledThreads: ProfiledThreads;
  readonly engine: Engine;
  readonly shared: SharedState;
  readonly settings: Settings;
  readonly logFilter: LogFilter;
  readonly isTracing: boolean;
  readonly port: number;
  readonly socket: string;
  readonly marks: ConnectionMarks;
  /** The program of a thread. */
  readonly script: string;
  /** Called when a thread died or met a bug. */
  onBug(error: Error): void;
}

interface Running {
  readonly worker: Worker;
  families: MetricFamilies;
  onMetrics: (() => void) | undefined;
  onReloaded: ((isWhole: boolean) => void) | undefined;
  readonly stopped: PromiseWithResolvers<void>;
}

/** See the file header. */
class IngestWorkers {
  private readonly running: Running[] = [];
  private isStopping = false;

  /** Starts all threads and resolves when each listens. @throws DbError of the first that cannot */
  static async start(options: WorkersOptions): Promise<IngestWorkers> {
    const workers = new IngestWorkers();
    await Promise.all(Array.from({ length: options.shared.threads }, (_, i) => workers.add(i + 1, options)));
    return workers;
  }

  /** Puts a log filter in force on all threads. */
  setFilter(filter: LogFilter): void {
    for (const { worker } of this.running) post(worker, { kind: "filter", filter });
  }

  /** Switches traces on all threads. */
  setTracing(isOn: boolean): void {
    for (const { worker } of this.running) post(worker, { kind: "trace", isOn });
  }

  /** Lets all threads read accounts again; false: one cannot use them, or does not answer. */
  async reload(): Promise<boolean> {
    const answers = this.running.map((running) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => resolve(false), RELOAD_WAIT_MILLIS);
      running.onReloaded = (isWhole) => {
        clearTimeout(timer);
        resolve(isWhole);
      };
      post(running.worker, { kind: "reload" });
      return promise;
    });
    return (await Promise.all(answers)).every(Boolean);
  }

  /** What each thread counts. */
  async metrics(): Promise<readonly MetricFamilies[]> {
    const answers = this.running.map((running) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, METRICS_WAIT_MILLIS);
      running.onMetrics = () => {
        clearTimeout(timer);
        resolve();
      };
      post(running.worker, { kind: "metrics" });
      return promise;
    });
    await Promise.all(answers);
    return this.running.map(({ families }) => families);
  }

  /** Stops accepting on all threads and waits for their requests, for at most `graceMs`. Their logs stay open for the tables. */
  async stopListening(graceMs: number): Promise<void> {
    this.isStopping = true;
    for (const { worker } of this.running) post(worker, { kind: "stop", graceMs });
    await Promise.all(this.running.map(({ stopped }) => stopped.promise));
  }

  /** Ends the threads; their logs are closed. */
  end(): void {
    for (const { worker } of this.running) worker.terminate();
  }

  /** Resolves when the thread listens. */
  private async add(id: number, options: WorkersOptions): Promise<void> {
    const { engine, shared, settings, logFilter, isTracing, port, socket, marks } = options;
    const ports = makePorts();
    await engine.addThread(id, ownerLink(ports.owner, shared, id));
    const worker = new Worker(options.script, { name: `ingest-${id}` });
    options.profiledThreads.add(`ingest-${id}`, worker);
    const running: Running = { worker, families: [], onMetrics: undefined, onReloaded: undefined, stopped: Promise.withResolvers() };
    const listening = Promise.withResolvers<void>();
    const fail = (why: string): void => {
      engine.threadDied(id, why); // While the server stops, nothing waits for it: the log has what it acknowledged.
      if (!this.isStopping) options.onBug(new Error(`ingest thread ${id} ended: ${why}`));
      running.stopped.resolve();
    };
    worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === "listening") listening.resolve();
      else if (data.kind === "refused") listening.reject(errorOfTold(data.error) satisfies DbError);
      else this.take(data, running, (text) => options.onBug(new Error(`ingest thread ${id}: ${text}`)));
    });
    worker.addEventListener("error", ({ message }: ErrorEvent) => fail(message));
    worker.addEventListener("messageerror", () => fail("its message could not be read"));
    worker.addEventListener("close", () => fail("it exited"));
    this.running.push(running);
    const start: WorkerStart = {
      kind: "start",
      id,
      threads: shared.threads,
      settings,
      logFilter,
      isTracing,
      port,
      socket,
      sharedMemory: shared.memory,
      ports: ports.thread,
      news: engine.catalogNews(),
      marks: marks.memory,
    };
    const { data, events } = ports.thread;
    worker.postMessage(start, { transfer: [data, events] as object[] as Bun.Transferable[] }); // The runtime takes node's ports as its own.
    await listening.promise;
  }

  private take(message: Exclude<FromWorker, { kind: "listening" | "refused" }>, running: Running, onBug: (text: string) => void): void {
    switch (message.kind) {
      case "metrics":
        running.families = message.families;
        running.onMetrics?.();
        return;
      case "reloaded":
        running.onReloaded?.(message.isWhole);
        return;
      case "stopped":
        running.stopped.resolve();
        return;
      case "bug":
        onBug(message.text);
    }
  }
}

function post(worker: Worker, message: ToWorker): void {
  worker.postMessage(message);
}
