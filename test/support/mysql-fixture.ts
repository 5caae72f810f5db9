/** A MySQL server over an engine in memory, in this process, on a free port. */
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { MemoryPool, ServerMemory } from "../../src/base/memory/server-memory.ts";
import { MetricRegistry } from "../../src/base/metrics.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { createUserProvider } from "../../src/db/auth/user-provider.ts";
import { LocalDb } from "../../src/db/local-db.ts";
import { type MysqlOptions, startMysqlServer } from "../../src/server/mysql/server.ts";
import { ampleWireMemory } from "./wire-memory.ts";
import { Machine } from "../engine/machine.ts";

/** The server and what stands behind it. */
export interface MysqlFixture {
  readonly port: number;
  readonly db: LocalDb;
  readonly metrics: MetricRegistry;
  /** Broken invariants that it met. */
  readonly bugs: Error[];
  /** Where drivers find it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it. @param accounts a user provider; absent: whoever connects may do everything */
export async function startMysql(accounts?: string, changes: Partial<MysqlOptions> = {}): Promise<MysqlFixture> {
  const machine = await Machine.start();
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", 2 ** 30);
  const scheduler = new Scheduler();
  const db = new LocalDb(machine.engine, scheduler, { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, pool });
  const metrics = new MetricRegistry();
  const bugs: Error[] = [];
  const userProvider = accounts === undefined ? undefined : createUserProvider(accounts, silentLogger);
  const server = await startMysqlServer({
    hostname: "127.0.0.1",
    port: 0,
    keepAliveMs: 0,
    clock: systemClock,
    memory: ampleWireMemory(),
    logger: silentLogger,
    metrics,
    db,
    scheduler,
    userProvider,
    serverVersion: undefined,
    rejectsNoDatabase: false,
    preparedMax: 100,
    onBug: (error) => bugs.push(error),
    ...changes,
  });
  const { port } = server;
  return { port, db, metrics, bugs, url: `mysql://someone@127.0.0.1:${port}/public`, stop: () => server.stop(1000) };
}
