/** The servers for clients, over the facade of a database: HTTP, gRPC, MySQL, PostgreSQL, put lines; who may connect. */
import { fileURLToPath } from "node:url";
import { systemClock } from "./base/clock.ts";
import type { RootLog } from "./base/log.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import { Reloads } from "./base/process/reloads.ts";
import type { Tracer } from "./base/trace/tracer.ts";
import { buildInfo } from "./build-info.ts";
import { renderConfig } from "./config/render.ts";
import type { Role } from "./config/role.ts";
import type { Settings } from "./config/settings.ts";
import type { AccountProvider } from "./db/auth/user.ts";
import { createUserProvider } from "./db/auth/user-provider.ts";
import type { Db } from "./db/db.ts";
import type { Foundation } from "./foundation.ts";
import { prepareParser } from "./query/sql/parse.ts";
import { ConnectionGuard } from "./server/connections/connection-guard.ts";
import { ConnectionMarks } from "./server/connections/marks.ts";
import type { LogControl } from "./server/http/options.ts";
import { type HttpServer, startHttpServer } from "./server/http/server.ts";
import { openServers } from "./servers.ts";
import { listening } from "./thread-parts.ts";

/** How long requests in flight may take at shutdown. */
const STOP_GRACE_MILLIS = 10_000;

/** Accounts of a server, and what SIGHUP has it read again. */
export interface Accounts {
  readonly userProvider: AccountProvider | undefined;
  readonly reloads: Reloads;
}

/** Opens the accounts; `opened` ends them. @throws DbError InvalidArguments */
export function openAccounts(settings: Settings, log: RootLog, opened: AsyncDisposableStack): Accounts {
  const { userProvider: provider } = settings.general;
  const userProvider = provider === undefined ? undefined : createUserProvider(provider, log.logger("auth"));
  opened.defer(() => userProvider?.close());
  const reloads = new Reloads(log.logger("main"));
  if (userProvider !== undefined) reloads.add("accounts", () => userProvider.reload());
  return { userProvider, reloads };
}

/** What serves clients. */
export interface ClientServers {
  readonly http: HttpServer;
  readonly marks: ConnectionMarks;
  readonly control: LogControl & Switches & { follow(others: Switches): void };
  /** `host:port` of the servers beside HTTP, by their names. */
  readonly addresses: Readonly<Record<string, string>>;
  /** Stopped with the others, given time for requests in flight. */
  addListener(listener: Listener): void;
}

/** What accepts clients. */
interface Listener {
  stop(graceMs: number): Promise<void>;
}

/** What serving needs beside the foundation. */
export interface ClientParts extends Foundation, Accounts {
  readonly role: Role;
  readonly db: Db;
  /** Threads that take writes beside this one. */
  readonly ingestThreads: number;
  readonly onBug: (error: Error) => void;
}

/** Starts all servers; `opened` stops them. @throws DbError StorageUnavailable, InvalidArguments */
export async function serveClients(
  settings: Settings,
  log: RootLog,
  parts: ClientParts,
  opened: AsyncDisposableStack,
): Promise<ClientServers> {
  const { role, db, scheduler, userProvider, metrics, tracer, memory, profiledThreads, ingestThreads, onBug } = parts;
  const listeners: Listener[] = [];
  opened.defer(async () => void (await Promise.all(listeners.map((each) => each.stop(STOP_GRACE_MILLIS)))));
  const control = sharedControl(log, tracer);
  const marks = new ConnectionMarks();
  prepareParser(); // 25 ms of the start, instead of the first query's.
  // HTTP comes last: who finds it ready goes on to the others.
  const others = await openServers(settings, log, { ...parts, marks }, listeners);
  const http = await startHttpServer({
    ...listening(settings, ingestThreads > 0, ingestThreads + 1),
    db,
    scheduler,
    userProvider,
    logger: log.logger("http"),
    metrics,
    tracer,
    memory,
    build: buildInfo(role),
    configText: () => renderConfig(settings, role),
    dashboardFolder: fileURLToPath(new URL("./dashboard/gen", import.meta.url)),
    log: control,
    setTracing: (isOn) => control.setTracing(isOn),
    analyzeStream: settings.http.analyzeStream,
    profiledThreads,
    jaeger: { enabled: settings.jaeger.enable },
    marks,
    onBug,
  });
  listeners.push(http);
  const guard = startGuard([http.port, ...others.ports], marks, log, metrics);
  opened.defer(() => guard.close());
  return { http, marks, control, addresses: others.addresses, addListener: (listener) => void listeners.push(listener) };
}

/** Keeps descriptors free for files, whoever connects to these ports. */
function startGuard(
  ports: readonly (number | undefined)[],
  marks: ConnectionMarks,
  log: RootLog,
  metrics: MetricRegistry,
): ConnectionGuard {
  const known = new Set(ports.filter((port) => port !== undefined));
  const guard = new ConnectionGuard({ ports: known, marks, clock: systemClock, logger: log.logger("connections"), metrics });
  guard.start();
  return guard;
}

/** What is switched on all threads at once. */
type Switches = Pick<LogControl, "setFilter"> & { setTracing(isOn: boolean): void };

/** The log filter, and whether there are traces, of this thread and of those that follow it. */
function sharedControl(log: RootLog, tracer: Tracer): LogControl & Switches & { follow(others: Switches): void } {
  const setTracing = (isOn: boolean): void => {
    tracer.isOn = isOn;
  };
  const followers: Switches[] = [{ setFilter: (filter) => log.setFilter(filter), setTracing }];
  return {
    get filter() {
      return log.filter;
    },
    setFilter(filter) {
      for (const each of followers) each.setFilter(filter);
    },
    setTracing(isOn) {
      for (const each of followers) each.setTracing(isOn);
    },
    follow(others) {
      followers.push(others);
    },
  };
}
