/** A PostgreSQL server over an engine in memory, in this process, on a free port. */
import { type PostgresOptions, startPostgresServer } from "../../src/server/postgres/server.ts";
import { startWire, type WireFixture } from "./wire-fixture.ts";

/** The server and what stands behind it. */
export type PostgresFixture = WireFixture;

/** Starts it. @param accounts a user provider; absent: whoever connects may do everything */
export function startPostgres(accounts?: string, changes: Partial<PostgresOptions> = {}): Promise<PostgresFixture> {
  return startWire("postgres", accounts, (shared) => startPostgresServer({ ...shared, authMethod: "auto", version: "0.0.0", ...changes }));
}
