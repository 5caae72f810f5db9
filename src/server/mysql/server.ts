/** The MySQL server: a listener that speaks protocol 4.1 (README.md). */
import type { AssertionError } from "../../base/assert.ts";
import { MemoryPool, ServerMemory } from "../../base/memory/server-memory.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { AccountProvider } from "../../db/auth/user.ts";
import type { Db } from "../../db/db.ts";
import { FailureLog } from "../common/failure-log.ts";
import { Logins } from "../common/logins.ts";
import { authFailures, serverErrors } from "../common/shared-counters.ts";
import { type ListenerOptions, startWireListener, type WireListener } from "../wire/listener.ts";
import { Connections } from "./connections.ts";
import { MysqlSession, type SessionParts } from "./session.ts";
import { PasswordKeys } from "./sign-in.ts";

/** What the server needs. */
export interface MysqlOptions extends ListenerOptions {
  readonly db: Db;
  readonly scheduler: Scheduler;
  /** Absent: whoever connects may do everything. */
  readonly userProvider: AccountProvider | undefined;
  /** What the greeting says the server is; undefined: what clients expect. */
  readonly serverVersion: string | undefined;
  /** Whether a client has to name a database. */
  readonly rejectsNoDatabase: boolean;
  /** Most prepared statements of a connection. */
  readonly preparedMax: number;
  /** What unfolded packets are counted in. Default: one of its own. */
  readonly memory?: ServerMemory;
  /** Hears of broken invariants. */
  readonly onBug: (error: AssertionError) => void;
}

/** Bytes that packets of all clients together are unfolded to at a time: 16 MiB of one. Reason: they lie in memory. Error: 1835. */
const UNFOLDED_BYTES_MAX: number = 256 * 1024 * 1024;

/** The version that clients choose their ways by (contract query.md 4.1). */
const SERVER_VERSION = "8.4.2";

/** Starts the server. @throws DbError as `startWireListener` */
export function startMysqlServer(options: MysqlOptions): Promise<WireListener> {
  const { db, clock, scheduler, logger, metrics, userProvider: provider, preparedMax, rejectsNoDatabase, onBug } = options;
  const failures = new FailureLog(logger, onBug);
  const errors = serverErrors(metrics);
  const refusals = authFailures(metrics);
  const accounts = provider && { provider, logins: new Logins(provider, logger, clock, refusals), keys: new PasswordKeys() };
  const serverVersion = options.serverVersion ?? SERVER_VERSION;
  const connections = new Connections();
  const memory = options.memory ?? new ServerMemory(Number.POSITIVE_INFINITY);
  const unfolded = new MemoryPool(memory, "request_bodies", UNFOLDED_BYTES_MAX);
  const own = { accounts, connections, preparedMax, rejectsNoDatabase, serverVersion, unfolded };
  const parts: SessionParts = { db, clock, scheduler, failures, ...own };
  return startWireListener(options, {
    name: "mysql",
    title: "MySQL",
    open: (connection, server) => new MysqlSession(parts, server, connection),
    failed(thrown, client) {
      errors.inc({ protocol: "mysql" });
      failures.report(thrown, { method: "message", path: "mysql" }, () => client);
    },
  });
}
