/** The PostgreSQL server: a listener that speaks protocol 3 (README.md). */
import type { AssertionError } from "../../base/assert.ts";
import type { AccountProvider } from "../../db/auth/user.ts";
import type { Db } from "../../db/db.ts";
import { FailureLog } from "../common/failure-log.ts";
import { Logins } from "../common/logins.ts";
import { authFailures, serverErrors } from "../common/shared-counters.ts";
import { type ListenerOptions, startWireListener, type WireListener } from "../wire/listener.ts";
import { CancelKeys } from "./cancel-keys.ts";
import { PostgresSession, type SessionParts } from "./session.ts";
import type { AuthMethod } from "./sign-in.ts";

/** What the server needs. */
export interface PostgresOptions extends ListenerOptions {
  readonly db: Db;
  /** Absent: whoever connects may do everything. */
  readonly userProvider: AccountProvider | undefined;
  readonly authMethod: AuthMethod;
  /** Of the server itself. */
  readonly version: string;
  /** Hears of broken invariants. */
  readonly onBug: (error: AssertionError) => void;
}

/** Starts the server. @throws DbError as `startWireListener` */
export function startPostgresServer(options: PostgresOptions): Promise<WireListener> {
  const { db, clock, scheduler, logger, metrics, userProvider: provider, authMethod: method, version, onBug } = options;
  const failures = new FailureLog(logger, onBug);
  const errors = serverErrors(metrics);
  const refusals = authFailures(metrics);
  const accounts = provider && { provider, logins: new Logins(provider, logger, clock, refusals), method };
  const parts: SessionParts = { db, clock, scheduler, failures, version, accounts, cancelKeys: new CancelKeys() };
  return startWireListener(options, {
    name: "postgres",
    title: "PostgreSQL",
    open: (connection, server) => new PostgresSession(parts, server, connection),
    failed(thrown, client) {
      errors.inc({ protocol: "postgres" });
      failures.report(thrown, { method: "message", path: "postgres" }, () => client);
    },
  });
}
