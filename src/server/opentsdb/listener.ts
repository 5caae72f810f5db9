/**
 * OpenTSDB's telnet protocol over TCP: `put` lines without credentials, off unless `opentsdb.addr` is set (contract README 9).
 */
import { Gauge } from "prom-client";
import type { Clock } from "../../base/clock.ts";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { ServerMemory } from "../../base/memory/server-memory.ts";
import { StatusCode } from "../../base/status-code.ts";
import { DEFAULT_USER } from "../../db/auth/user.ts";
import type { IngestDb } from "../../db/db.ts";
import { IngestMetrics } from "../../db/ingest-counts.ts";
import { OpenTsdbDecoder } from "../../ingest/opentsdb/decode.ts";
import { decodedAndWritten } from "../../table/decoded-and-written.ts";
import { KeptDecoders } from "../common/kept-decoders.ts";
import { OPENTSDB_SEMANTICS } from "../../ingest/opentsdb/types.ts";
import { isName } from "../../table/names.ts";
import { CONNECTIONS_MAX, IDLE_SECONDS, LINE_MS_MAX, LOOK_MS, RESTING_MS } from "./limits.ts";
import { type LineServer, LineSession } from "./line-session.ts";

/** Database that lines are written to: they cannot name another. */
const DATABASE = "public";

type TelnetSocket = Bun.Socket<LineSession | undefined>;

/** What connections may take; tests make it less. */
export interface TelnetLimits {
  readonly connectionsMax: number;
  readonly lineMsMax: number;
  readonly restingMs: number;
  readonly lookMs: number;
}

const TELNET_LIMITS: TelnetLimits = { connectionsMax: CONNECTIONS_MAX, lineMsMax: LINE_MS_MAX, restingMs: RESTING_MS, lookMs: LOOK_MS };

/** What the listener needs. */
export interface TelnetOptions {
  readonly hostname: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly db: IngestDb;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Where what decoders learnt is counted. */
  readonly memory: ServerMemory;
  /** What `version` answers. */
  readonly version: string;
  /** False: no line makes a table or a column. */
  readonly autoCreateTable: boolean;
  readonly limits?: TelnetLimits;
}

/** A running listener. */
export interface TelnetListener {
  readonly port: number;
  /** Stops accepting and reading, waits for writes in flight for at most `graceMs`, and closes all connections. */
  stop(graceMs: number): Promise<void>;
}

/** Starts the listener. @throws DbError StorageUnavailable when the address cannot be listened on */
export function startTelnetListener(options: TelnetOptions): TelnetListener {
  const { hostname, port, logger, limits = TELNET_LIMITS } = options;
  const sessions = new Set<LineSession>();
  const sockets = new Set<TelnetSocket>();
  const server = lineServer(options, sessions);
  let listener: Bun.TCPSocketListener<LineSession | undefined>;
  try {
    listener = Bun.listen<LineSession | undefined>({
      hostname,
      port,
      socket: {
        open(socket) {
          if (sockets.size >= limits.connectionsMax && !makeRoom(sockets, limits)) {
            socket.end("error: too many connections\n");
            return;
          }
          socket.timeout(IDLE_SECONDS);
          socket.data = new LineSession(
            {
              write: (bytes) => socket.write(bytes),
              pause: () => socket.pause(),
              resume: () => socket.resume(),
              end: () => socket.end(),
            },
            server,
            options.clock,
          );
          sessions.add(socket.data);
          sockets.add(socket);
        },
        data: (socket, chunk) => socket.data?.data(chunk),
        drain: (socket) => socket.data?.drained(),
        timeout: (socket) => socket.terminate(),
        error: (socket) => socket.terminate(),
        close(socket) {
          sockets.delete(socket);
          if (socket.data === undefined) return;
          sessions.delete(socket.data);
          socket.data.closed();
        },
      },
    });
  } catch (cause) {
    const why = errorText(cause);
    throw new DbError(StatusCode.StorageUnavailable, `cannot listen on ${hostname}:${port} for OpenTSDB (opentsdb.addr): ${why}`, {
      cause,
    });
  }
  const watch = setInterval(() => closeHalf(sockets, limits), limits.lookMs);
  watch.unref();
  logger.info({ address: `${hostname}:${listener.port}` }, "OpenTSDB listens: lines carry no credentials");
  return {
    port: listener.port,
    stop: async (graceMs) => {
      clearInterval(watch);
      listener.stop(false);
      const finished = Promise.all([...sessions].map((session) => session.finish()));
      const late = Promise.withResolvers<undefined>();
      const timer = setTimeout(() => late.resolve(undefined), graceMs);
      await Promise.race([finished, late.promise]);
      clearTimeout(timer);
      for (const socket of sockets) socket.terminate();
    },
  };
}

/** Drops the connection that rests longest, if one rests long enough; false when all are at work. */
function makeRoom(sockets: ReadonlySet<TelnetSocket>, { restingMs }: TelnetLimits): boolean {
  let longest: TelnetSocket | undefined;
  let ms = restingMs;
  for (const socket of sockets) {
    const rests = socket.data?.restingMs ?? 0;
    if (rests < ms) continue;
    longest = socket;
    ms = rests;
  }
  longest?.terminate();
  return longest !== undefined;
}

/** Drops connections whose line is never whole, or that do not take what they are told. */
function closeHalf(sockets: ReadonlySet<TelnetSocket>, { lineMsMax }: TelnetLimits): void {
  for (const socket of sockets) {
    if (socket.data?.isHalf === true && socket.data.restingMs > lineMsMax) socket.terminate();
  }
}

/** What all sessions share: a decoder, since a round is decoded and handed to the log in one turn. */
function lineServer(options: TelnetOptions, sessions: ReadonlySet<LineSession>): LineServer {
  const { db, metrics, memory, logger, version } = options;
  const registers = [metrics.registry];
  const connections: Gauge = new Gauge({
    name: "greptime_servers_opentsdb_connection_count",
    help: "telnet connections",
    registers,
    collect: () => connections.set(sessions.size),
  });
  const points = options.metrics.counter("greptime_servers_opentsdb_line_points", "data points put over TCP");
  const ingest = IngestMetrics.of(metrics).of("opentsdb_telnet");
  const decoders = new KeptDecoders(() => new OpenTsdbDecoder(), options.clock);
  memory.register("decoders", decoders);
  const tableOptions = { comment: "Created on insertion", ...OPENTSDB_SEMANTICS };
  return {
    version,
    failed: (error) => logger.warn({ error: error.message }, "cannot write the points of a telnet connection"),
    counts: ingest,
    write: (lines) =>
      decodedAndWritten(async () => {
        await db.admit();
        const decoder = decoders.of(DATABASE);
        decoder.begin({ database: DATABASE, schemas: db.schemas, acceptsTable: isName });
        lines((bytes, start, end) => decoder.line(bytes, start, end));
        const { batch, rowCount } = decoder.taken();
        if (rowCount === 0) return;
        const session = { database: DATABASE, timeZone: "UTC", user: DEFAULT_USER, signal: new AbortController().signal, ingest };
        await db.write(batch, session, { autoCreate: options.autoCreateTable, tableOptions });
        points.inc(rowCount);
      }),
  };
}
