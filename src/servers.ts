/** The servers beside HTTP, from their settings: gRPC, MySQL, PostgreSQL, put lines of OpenTSDB. Each is told to stop with the others. */
import type { AssertionError } from "./base/assert.ts";
import { systemClock } from "./base/clock.ts";
import type { RootLog } from "./base/log.ts";
import type { Reloads } from "./base/process/reloads.ts";
import { MemoryPool, type ServerMemory } from "./base/memory/server-memory.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import type { Scheduler } from "./base/scheduler/scheduler.ts";
import type { Address } from "./config/address.ts";
import { bodiesLimitOf } from "./config/memory-limit.ts";
import type { Settings } from "./config/settings.ts";
import type { AccountProvider } from "./db/auth/user.ts";
import type { Db } from "./db/db.ts";
import type { ConnectionMarks } from "./server/connections/marks.ts";
import { type GrpcServer, probeGrpcAddress, startGrpcServer } from "./server/grpc/server.ts";
import { servicesOf } from "./server/grpc/service-list.ts";
import { probeAddress } from "./server/http/listener.ts";
import { startMysqlServer } from "./server/mysql/server.ts";
import { startTelnetListener, type TelnetListener } from "./server/opentsdb/listener.ts";
import { startPostgresServer } from "./server/postgres/server.ts";
import { probeWireAddress, type WireListener } from "./server/wire/listener.ts";
import type { TlsOptions } from "./server/wire/tls-files.ts";
import { WireMemory } from "./server/wire/wire-memory.ts";
import { TIME_COLUMN } from "./thread-parts.ts";
import { VERSION } from "./version.ts";

/** What all servers need. */
export interface ServerParts {
  readonly db: Db;
  readonly scheduler: Scheduler;
  readonly metrics: MetricRegistry;
  readonly tracer: Tracer;
  readonly memory: ServerMemory;
  readonly marks: ConnectionMarks;
  readonly userProvider: AccountProvider | undefined;
  readonly onBug: (error: AssertionError) => void;
  /** Where what servers read again is known. */
  readonly reloads: Reloads;
}

/** What runs. */
interface OpenServers {
  readonly ports: readonly number[];
  /** `host:port` by the server's name. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** Something that ends with grace. */
interface Stoppable {
  stop(graceMs: number): Promise<void>;
  /** Reads its certificate again; absent: it has none. */
  readonly reload?: (() => boolean) | undefined;
}

/** Tells of a port that is taken before a long start. @throws DbError StorageUnavailable */
export function probeAddresses({ http, grpc, mysql, postgres }: Settings): void {
  probeAddress(http.addr.host, http.addr.port);
  if (grpc.enable) probeGrpcAddress(grpc.addr.host, grpc.addr.port);
  if (mysql.enable) probeWireAddress(mysql.addr.host, mysql.addr.port, { name: "mysql", title: "MySQL" });
  if (postgres.enable) probeWireAddress(postgres.addr.host, postgres.addr.port, { name: "postgres", title: "PostgreSQL" });
}

/**
 * Starts those that are switched on.
 *
 * @param listeners each is added when it runs, so that a start that fails stops it too
 * @throws DbError StorageUnavailable, InvalidArguments
 */
export async function openServers(settings: Settings, log: RootLog, parts: ServerParts, listeners: Stoppable[]): Promise<OpenServers> {
  const ports: number[] = [];
  const addresses: Record<string, string> = {};
  const running = (name: string, addr: Address | undefined, server: (Stoppable & { readonly port: number }) | undefined): void => {
    if (server === undefined || addr === undefined) return;
    listeners.push(server);
    if (server.reload !== undefined) parts.reloads.add(`certificate of ${name}`, server.reload);
    ports.push(server.port);
    if (name !== "opentsdb") addresses[name] = `${addr.host}:${server.port}`;
  };
  running("opentsdb", settings.opentsdb.addr, openTelnet(settings, log, parts));
  const wires = { ...parts, memory: new WireMemory(parts.memory, bodiesLimitOf(settings, 1), settings.general.inFlightPolicy) };
  running("grpc", settings.grpc.addr, await openGrpc(settings, log, parts, wires.memory));
  running("mysql", settings.mysql.addr, await openMysql(settings, log, wires));
  running("postgres", settings.postgres.addr, await openPostgres(settings, log, wires));
  return { ports, addresses };
}

function openTelnet(settings: Settings, log: RootLog, { db, metrics, memory }: ServerParts): TelnetListener | undefined {
  const { addr } = settings.opentsdb;
  if (addr === undefined) return undefined;
  return startTelnetListener({
    hostname: addr.host,
    port: addr.port,
    db,
    clock: systemClock,
    logger: log.logger("opentsdb"),
    metrics,
    memory,
    version: VERSION,
    autoCreateTable: settings.general.autoCreateTable,
  });
}

async function openGrpc(settings: Settings, log: RootLog, parts: ServerParts, wireMemory: WireMemory): Promise<GrpcServer | undefined> {
  const { grpc, http, general, influxdb, prom_store: promStore } = settings;
  const { enable, addr, receiveBytesMax: bytesMax, sendBytesMax } = grpc;
  if (!enable) return undefined;
  const writing = {
    autoCreateTable: general.autoCreateTable,
    influx: { defaultMergeMode: influxdb.defaultMergeMode, timeColumn: TIME_COLUMN },
    prometheus: { metricEngine: promStore.withMetricEngine },
  };
  return startGrpcServer({
    ...parts,
    hostname: addr.host,
    port: addr.port,
    room: { pool: new MemoryPool(parts.memory, "request_bodies", bodiesLimitOf(settings, 1)), bytesMax, waitMs: general.inFlightPolicy },
    sendBytesMax,
    pages: { allowedHosts: http.allowedHosts, origins: http.enableCors ? http.corsAllowedOrigins : [] },
    tls: tlsOf(grpc),
    services: servicesOf({
      ...parts,
      clock: systemClock,
      flightCompression: grpc.flightCompression,
      sendBytesMax,
      kept: wireMemory.connection(),
      version: VERSION,
      ...writing,
    }),
    clock: systemClock,
    logger: log.logger("grpc"),
  });
}

/** What the wire servers need: memory of their own kind. */
type WireParts = Omit<ServerParts, "memory"> & { readonly memory: WireMemory };

async function openMysql({ mysql }: Settings, log: RootLog, parts: WireParts): Promise<WireListener | undefined> {
  const { enable, addr, keepAliveMs, rejectNoDatabase, preparedStmtCacheSize } = mysql;
  if (!enable) return undefined;
  return startMysqlServer({
    ...parts,
    hostname: addr.host,
    port: addr.port,
    keepAliveMs,
    tls: tlsOf(mysql),
    rejectsNoDatabase: rejectNoDatabase,
    preparedMax: preparedStmtCacheSize,
    serverVersion: process.env["GREPTIMEDB_MYSQL_SERVER_VERSION"],
    clock: systemClock,
    logger: log.logger("mysql"),
  });
}

async function openPostgres({ postgres }: Settings, log: RootLog, parts: WireParts): Promise<WireListener | undefined> {
  const { enable, addr, keepAliveMs, authMethod } = postgres;
  if (!enable) return undefined;
  return startPostgresServer({
    ...parts,
    hostname: addr.host,
    port: addr.port,
    keepAliveMs,
    authMethod,
    tls: tlsOf(postgres),
    clock: systemClock,
    logger: log.logger("postgres"),
    version: VERSION,
  });
}

/** How a server encrypts; undefined: not at all. */
function tlsOf(settings: Settings["grpc" | "mysql" | "postgres"]): TlsOptions | undefined {
  const { tlsMode, tlsCertPath: certPath, tlsKeyPath: keyPath, tlsWatch: watch } = settings;
  return tlsMode === "disable" ? undefined : { mode: tlsMode === "prefer" ? "prefer" : "require", certPath, keyPath, watch };
}
