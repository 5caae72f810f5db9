/** A MySQL server over an engine in memory, in this process, on a free port. */
import { type MysqlOptions, startMysqlServer } from "../../src/server/mysql/server.ts";
import { startWire, type WireFixture } from "./wire-fixture.ts";

/** The server and what stands behind it. */
export type MysqlFixture = WireFixture;

/** Starts it. @param accounts a user provider; absent: whoever connects may do everything */
export function startMysql(accounts?: string, changes: Partial<MysqlOptions> = {}): Promise<MysqlFixture> {
  return startWire("mysql", accounts, (shared) =>
    startMysqlServer({ ...shared, serverVersion: undefined, rejectsNoDatabase: false, preparedMax: 100, ...changes }),
  );
}
