/**
 * A running HTTP server over a `FakeDb`, with a decoder of its own that takes `table field=1` lines and refuses lines with "!" in them.
 */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { mkdtempSync, rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import type { LogFilter } from "../../src/base/log.ts";
import { silentLogger } from "../../src/base/log.ts";
import { ServerMemory } from "../../src/base/memory/server-memory.ts";
import { MetricRegistry } from "../../src/base/metrics.ts";
import type { HttpServerOptions, LineDecoder } from "../../src/server/http/options.ts";
import { startIngestServer } from "../../src/server/http/ingest-server.ts";
import { type HttpServer, startHttpServer } from "../../src/server/http/server.ts";
import { SeriesDictionary } from "../../src/table/series-dictionary.ts";
import { FakeDb } from "./fake-db.ts";

/** A server and what stands behind it. */
export interface HttpFixture {
  readonly db: FakeDb;
  readonly server: HttpServer;
  readonly url: string;
  /** Errors that reached `onBug`. */
  readonly bugs: Error[];
  /** Bodies that the decoder saw. */
  readonly bodies: string[];
  readonly logFilter: () => LogFilter;
}

/** Starts a server on a free port. `changes` override the options. */
export async function startFixture(changes: Partial<HttpServerOptions> = {}): Promise<HttpFixture> {
  const { options, ...rest } = fixtureOptions(changes);
  const server = await startHttpServer(options);
  return { ...rest, server, url: server.url };
}

/** A server whose clients are connected to another thread's listener. */
export interface ThreadFixture extends HttpFixture {
  /** Address of the thread's listener. */
  readonly threadUrl: string;
  readonly threadPort: number;
  /** What each of them counts. */
  readonly threadMetrics: MetricRegistry;
  readonly metrics: MetricRegistry;
  /** Path of the socket between them. */
  readonly socket: string;
  /** Ends all of it, the thread first. */
  stop(graceMs: number): Promise<void>;
}

/** Starts a server and a thread that passes on to it what it does not serve. `changes` override the options of both. */
export async function startThreadFixture(changes: Partial<HttpServerOptions> = {}): Promise<ThreadFixture> {
  const { options, ...rest } = fixtureOptions(changes);
  const server = await startHttpServer(options);
  const folder = mkdtempSync(join(tmpdir(), "varve-socket-"));
  const socket = join(folder, "threads.sock");
  const forwarded = server.listenForForwarded(socket);
  const threadMetrics = new MetricRegistry();
  const thread = startIngestServer({ ...options, metrics: threadMetrics }, socket, 1);
  return {
    ...rest,
    server,
    url: server.url,
    threadUrl: `http://127.0.0.1:${thread.port}`,
    threadPort: thread.port,
    threadMetrics,
    metrics: options.metrics,
    socket,
    stop: async (graceMs) => {
      await thread.stop(graceMs);
      await forwarded.stop(graceMs);
      await server.stop(graceMs);
      rmSync(folder, { recursive: true });
    },
  };
}

function fixtureOptions(
  changes: Partial<HttpServerOptions>,
): Omit<HttpFixture, "server" | "url"> & { readonly options: HttpServerOptions } {
  const db = new FakeDb();
  const bugs: Error[] = [];
  const bodies: string[] = [];
  let filter: LogFilter = { level: "info", targets: new Map() };
  const options: HttpServerOptions = {
    hostname: "127.0.0.1",
    port: 0,
    sharesPort: false,
    surface: "all",
    db,
    userProvider: undefined,
    logger: silentLogger,
    clock: systemClock,
    scheduler: new Scheduler(),
    metrics: new MetricRegistry(),
    bodyBytesMax: 1_000_000,
    inFlightBytesMax: 0,
    inFlightWaitMs: 10_000,
    memory: new ServerMemory(Number.POSITIVE_INFINITY),
    timeoutMs: 0,
    publicAdmin: false,
    cors: { enabled: true, origins: [] },
    allowedHosts: [],
    autoCreateTable: true,
    influx: {
      enabled: true,
      defaultMergeMode: "last_non_null",
      timeColumn: "greptime_timestamp",
      createDecoder: () => fakeDecoder(bodies),
    },
    opentsdb: { enabled: true },
    prometheus: {
      enabled: true,
      metricEngine: true,
      validation: "strict",
      timeColumn: "greptime_timestamp",
      valueColumn: "greptime_value",
    },
    build: {
      product: "Varve",
      app: "greptime-standalone",
      version: "0.1.0",
      commit: "0123456789abcdef",
      branch: "",
      runtime: "bun",
      hostname: "test",
    },
    configText: () => "[http]\n",
    dashboardFolder: join(import.meta.dir, "../../src/dashboard/gen"),
    log: {
      get filter() {
        return filter;
      },
      setFilter: (next) => {
        filter = next;
      },
    },
    analyzeStream: true,
    jaeger: { enabled: true },
    onBug: (error) => bugs.push(error),
    ...changes,
  };
  return { options, db, bugs, bodies, logFilter: () => filter };
}

function fakeDecoder(bodies: string[]): LineDecoder {
  return {
    memoryBytes: 0,
    decode(bytes) {
      const text = new TextDecoder().decode(bytes);
      bodies.push(text);
      const lines = text.split("\n").map((line, index) => ({ line: index + 1, text: line }));
      const used = lines.filter(({ text: line }) => line !== "");
      const errors = used.filter(({ text: line }) => line.includes("!")).map((line) => ({ ...line, reason: "No fields were provided" }));
      const rowCount = used.length - errors.length;
      const table = {
        table: "t",
        rowCount,
        keys: new Uint32Array(rowCount),
        timeUnit: "nanosecond" as const,
        times: { kind: "time" as const, base: 0n, offsets: new Float64Array(rowCount), validity: undefined },
        fields: [],
      };
      const batch = { dictionary: new SeriesDictionary(), tables: rowCount === 0 ? [] : [table] };
      return { batch, rowCount, lineCount: used.length, errorCount: errors.length, errors };
    },
  };
}

/** Sends raw bytes, then what `later` sends, and returns all that came back until the connection closed or `quietMs` passed. */
export async function rawExchange(
  port: number,
  first: string | Uint8Array,
  quietMs = 150,
  later?: (socket: net.Socket) => void,
): Promise<string> {
  return new Promise((resolve) => {
    let out = "";
    const socket = net.connect(port, "127.0.0.1", () => {
      socket.write(first);
      later?.(socket);
    });
    const finish = (how: string): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(`${out}<${how}>`);
    };
    let timer = setTimeout(() => finish("open"), quietMs);
    socket.on("data", (chunk) => {
      out += chunk.toString("latin1");
      clearTimeout(timer);
      timer = setTimeout(() => finish("open"), quietMs);
    });
    socket.on("error", (error) => finish(error.message.includes("ECONNRESET") ? "reset" : error.message));
    socket.on("close", () => finish("closed"));
  });
}
