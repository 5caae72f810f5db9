/** Runs SQL text against an engine on a machine in memory. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { fixedClock } from "../../src/base/clock.ts";
import type { ExecOptions } from "../../src/query/execute.ts";
import type { QueryContext } from "../../src/query/query-context.ts";
import { Machine, type MachineOptions } from "../engine/machine.ts";
import { opensJoined } from "../../src/engine/joined/joined-share.ts";
import { RemoteWorkers } from "../../src/cluster/remote/remote-workers.ts";
import { readCatalog } from "./cluster/remote-catalog.ts";
import { REMOTE_SHARDS } from "./memory-catalog.ts";
import { snapshotStorage } from "./in-parts.ts";
import { localHelpers, localWorkers } from "./local-workers.ts";
import { type Answer, FIXTURE_NOW, runSql, runReferences } from "./query-fixture.ts";

/** A machine with a session. */
export class EngineFixture {
  readonly machine: Machine;

  private constructor(machine: Machine) {
    this.machine = machine;
  }

  static async start(options: MachineOptions = {}): Promise<EngineFixture> {
    return new EngineFixture(await Machine.start(options));
  }

  private contextOf(signal: AbortSignal = new AbortController().signal): QueryContext {
    const { engine } = this.machine;
    const clock = { ...fixedClock(FIXTURE_NOW), monotonicMillis: () => performance.now() };
    return {
      catalog: readCatalog(engine),
      writer: engine,
      admin: {
        buildIndexes: (database, table) => engine.buildIndexes(database, table),
        flushTable: (database, table) => engine.flushTable(database, table),
        compactTable: (database, table) => engine.compactTable(database, table),
        backups: engine.backups,
      },
      clock,
      scheduler: new Scheduler(clock),
      variables: { database: "public", timeZone: "UTC" },
      signal,
    };
  }

  /** Runs all statements of a text and gives the last answer. */
  sql(text: string, options: ExecOptions = {}, signal?: AbortSignal): Promise<Answer> {
    return runSql(text, this.contextOf(signal), options);
  }

  /** Runs a query with and without what the planner asks of storage, and in parts, and insists that the rows agree; gives them. */
  both(text: string): Promise<Answer> {
    if (REMOTE_SHARDS > 0) return runReferences(text, this.contextOf(), [new RemoteWorkers(REMOTE_SHARDS)]);
    const storage = snapshotStorage(this.machine.store);
    return runReferences(text, this.contextOf(), [
      localWorkers(opensJoined((snapshot) => storage.open(snapshot))),
      ...localHelpers(opensJoined((snapshot) => storage.open(snapshot))),
    ]);
  }

  /** Figures of the scan in EXPLAIN ANALYZE, in the order of their names; 0 for one that is not there. Pages in the cache are not read. */
  async statistics(text: string, ...names: readonly string[]): Promise<readonly number[]> {
    const answer = await this.sql(`EXPLAIN ANALYZE ${text}`);
    return names.map((name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(String(answer.rows[0]?.[2]))?.[1] ?? 0));
  }

  /** One of the statistics. */
  async figure(text: string, name: string): Promise<number> {
    return (await this.statistics(text, name))[0] ?? 0;
  }
}
