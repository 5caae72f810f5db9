/** The engine of a machine in memory as a shard that a node owns. */
import type { Engine } from "../../../src/engine/engine.ts";
import type { ShardHost } from "../../../src/cluster/shard/shard-host.ts";
import { tableNotFound } from "../../../src/table/not-found.ts";
import type { Table } from "../../../src/table/catalog.ts";
import type { TableId } from "../../../src/base/units.ts";
import { waitWithin } from "../../../src/base/scheduler/wait-within.ts";

/** One whose records come when a test says so. */
export class EngineHost implements ShardHost {
  readonly shard: number;
  readonly epoch = 1;
  readonly engine: Engine;
  readonly asked = { count: 0, writer: 0 };
  readonly lag = { records: 0, memoryBytes: 0 };
  /** Stands in the way of reads. */
  wrap: (table: Table) => Table = (table) => table;
  private appliedNow: number;
  private waiting: { readonly least: number; readonly seen: PromiseWithResolvers<void> }[] = [];

  constructor(shard: number, engine: Engine, applied = 0) {
    this.shard = shard;
    this.engine = engine;
    this.appliedNow = applied;
  }

  get applied(): number {
    return this.appliedNow;
  }

  /** Makes records visible. */
  apply(number: number): void {
    this.appliedNow = number;
    for (const { least, seen } of this.waiting) if (least <= number) seen.resolve();
    this.waiting = this.waiting.filter(({ least }) => least > number);
  }

  /** Fails those who wait. */
  lose(why: Error): void {
    for (const { seen } of this.waiting) seen.reject(why);
    this.waiting = [];
  }

  reach(least: number, signal?: AbortSignal): Promise<void> {
    if (least <= this.appliedNow) return Promise.resolve();
    const seen = Promise.withResolvers<void>();
    this.waiting.push({ least, seen });
    return waitWithin(seen.promise, { signal });
  }

  table(id: TableId): Table {
    for (const { name } of this.engine.databases()) {
      const found = this.engine.tables(name).find(({ schema }) => schema.id === id);
      if (found !== undefined) return this.wrap(found);
    }
    throw tableNotFound("public", `${id}`);
  }

  confirm(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
