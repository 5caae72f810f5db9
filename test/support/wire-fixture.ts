/** What the fixtures of wire servers share: a server over an engine in memory, in this process, on a free port. */
import type { AssertionError } from "../../src/base/assert.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import { MemoryPool, ServerMemory } from "../../src/base/memory/server-memory.ts";
import { MetricRegistry } from "../../src/base/metrics.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import type { AccountProvider } from "../../src/db/auth/user.ts";
import { createUserProvider } from "../../src/db/auth/user-provider.ts";
import { LocalDb } from "../../src/db/local-db.ts";
import type { ListenerOptions, WireListener } from "../../src/server/wire/listener.ts";
import { ampleWireMemory } from "./wire-memory.ts";
import { KnownPlans } from "../../src/query/known-plans/known-plans.ts";
import { Machine } from "../engine/machine.ts";

/** The server and what stands behind it. */
export interface WireFixture {
  readonly port: number;
  readonly db: LocalDb;
  readonly metrics: MetricRegistry;
  /** Broken invariants that it met. */
  readonly bugs: Error[];
  /** Where drivers find it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** What a server of any protocol is started with. */
export interface SharedOptions extends ListenerOptions {
  readonly db: LocalDb;
  readonly scheduler: Scheduler;
  readonly userProvider: AccountProvider | undefined;
  readonly onBug: (error: AssertionError) => void;
}

/** Starts one. @param scheme of its URL @param accounts a user provider; undefined: whoever connects may do everything */
export async function startWire(
  scheme: string,
  accounts: string | undefined,
  start: (shared: SharedOptions) => Promise<WireListener>,
): Promise<WireFixture> {
  const machine = await Machine.start();
  const pool = new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", 2 ** 30);
  const scheduler = new Scheduler();
  const plans = new KnownPlans(2 ** 20);
  const db = new LocalDb(machine.engine, scheduler, { timeoutMillis: 0, memoryBytesMax: Number.POSITIVE_INFINITY, pool, plans });
  const metrics = new MetricRegistry();
  const bugs: Error[] = [];
  const server = await start({
    hostname: "127.0.0.1",
    port: 0,
    keepAliveMs: 0,
    clock: systemClock,
    memory: ampleWireMemory(),
    logger: silentLogger,
    metrics,
    db,
    scheduler,
    userProvider: accounts === undefined ? undefined : createUserProvider(accounts, silentLogger),
    onBug: (error) => bugs.push(error),
  });
  const { port } = server;
  return { port, db, metrics, bugs, url: `${scheme}://someone@127.0.0.1:${port}/public`, stop: () => server.stop(1000) };
}
