/** The MySQL server: a listener that speaks protocol 4.1 (README.md). */
import type { AssertionError } from "../../base/assert.ts";
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
  /** Absent: whoever connects may do everything. */
  readonly userProvider: AccountProvider | undefined;
  /** What the greeting says the server is; undefined: what clients expect. */
  readonly serverVersion: string | undefined;
  /** Whether a client has to name a database. */
  readonly rejectsNoDatabase: boolean;
  /** Most prepared statements of a connection. */
  readonly preparedMax: number;
  /** Hears of broken invariants. */
  readonly onBug: (error: AssertionError) => void;
}

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
  const own = { accounts, connections, preparedMax, rejectsNoDatabase, serverVersion };
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
