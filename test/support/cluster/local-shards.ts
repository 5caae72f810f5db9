/** Shards of a cluster in this process: fragments run over tables that are here, and what goes to and fro is plain data. */
import { systemClock } from "../../../src/base/clock.ts";
import { toldError } from "../../../src/base/told-error.ts";
import { throwIfCancelled } from "../../../src/base/scheduler/cancel.ts";
import { Pace } from "../../../src/base/scheduler/pace.ts";
import { Scheduler } from "../../../src/base/scheduler/scheduler.ts";
import type { ExecContext } from "../../../src/query/operator/contract/exec-context.ts";
import { SeriesOfTables } from "../../../src/query/operator/contract/exec-context.ts";
import { MemoryBudget } from "../../../src/base/memory/memory-budget.ts";
import { NO_SOURCES } from "../../../src/query/operator/contract/row-sources.ts";
import { decodePlan } from "../../../src/query/operator/contract/plan-bytes.ts";
import { run } from "../../../src/query/operator/run.ts";
import { PartRunner } from "../../../src/query/workers/part-runner.ts";
import type { SeriesView } from "../../../src/table/series-view.ts";
import type { Table } from "../../../src/table/catalog.ts";
import { timeIndexOf } from "../../../src/table/schema.ts";
import { isPhysicalTable } from "../../../src/table/metric.ts";
import type { TableId } from "../../../src/base/units.ts";
import type { ShardClient } from "../../../src/cluster/wire/shard-client.ts";
import type { DefinedSeries, FragmentPiece, FragmentRequest, ShardAnswers, ShardCall } from "../../../src/cluster/wire/shard-request.ts";
import { tagsOf } from "../../../src/cluster/remote/remote-series.ts";

/** Bytes of rows between two looks at the reader. */
const PULL_BYTES = 16 * 1024;

/** What the owners of shards have. */
export interface LocalShardsParts {
  readonly shards: number;
  /** A table as its owner sees it; undefined: there is none. */
  tableOf(shard: number, id: TableId): Table | undefined;
  tables(shard: number): readonly (readonly [id: TableId, table: Table])[];
  /** Changes of all rows: flush and the like. */
  change?(call: ShardCall): Promise<void>;
  /** Called before an answer begins, and may make it fail. */
  before?(request: FragmentRequest | ShardCall): void;
}

/** See the file header. */
export class LocalShards implements ShardClient {
  readonly shards: number;
  /** Questions since it was made. */
  readonly asked: (FragmentRequest | ShardCall)[] = [];
  /** Of how many shards they were, of those questions that were for several. */
  readonly together: number[] = [];
  /** Fragments under way. */
  open = 0;
  private readonly parts: LocalShardsParts;
  private readonly scheduler: Scheduler = new Scheduler(systemClock);

  constructor(parts: LocalShardsParts) {
    this.parts = parts;
    this.shards = parts.shards;
  }

  async newest(): Promise<number> {
    return 0;
  }

  async *fragment(request: FragmentRequest, signal: AbortSignal): AsyncGenerator<FragmentPiece> {
    this.asked.push(request);
    this.open++;
    let runner: PartRunner | undefined;
    try {
      this.parts.before?.(request);
      const table = this.fixed(request.shard, request.tableId);
      const job = structuredClone({ ...request, plan: request.plan });
      runner = new PartRunner(job, table, { signal, clock: systemClock, pace: new Pace(this.scheduler) });
      const numbers = new StreamNumbers(table);
      for (;;) {
        throwIfCancelled(signal);
        const { batches, isDone, workMs, metrics } = await runner.pull(PULL_BYTES, []);
        for (const { runs: own, ...rows } of batches) {
          const batch = { ...rows, runs: request.wantsRuns ? own : undefined };
          const defined = batch.runs === undefined ? undefined : numbers.newOf(batch.runs.series);
          if (defined !== undefined && defined.count > 0) yield { kind: "series", series: structuredClone(defined) };
          const runs = batch.runs === undefined ? undefined : { ...batch.runs, series: numbers.renumbered(batch.runs.series) };
          yield { kind: "rows", batch: structuredClone({ ...batch, runs }), bytes: 100 };
        }
        if (!isDone) continue;
        yield { kind: "end", workMs, metrics: structuredClone(metrics) };
        return;
      }
    } catch (error) {
      yield { kind: "failed", error: structuredClone(toldError(error)) };
    } finally {
      this.open--;
      await runner?.close();
    }
  }

  fragments(requests: readonly FragmentRequest[], signal: AbortSignal): readonly AsyncGenerator<FragmentPiece>[] {
    this.together.push(requests.length);
    return requests.map((request) => this.fragment(request, signal));
  }

  async call<C extends ShardCall>(call: C): Promise<ShardAnswers[C["kind"]]> {
    this.asked.push(call);
    this.parts.before?.(call);
    return (await this.answer(structuredClone(call))) as ShardAnswers[C["kind"]]; // Each kind has its own.
  }

  private async answer(call: ShardCall): Promise<ShardAnswers[ShardCall["kind"]]> {
    switch (call.kind) {
      case "facts": {
        const { shard, tableId } = call;
        const tables = tableId === undefined ? this.parts.tables(shard) : [[tableId, this.table(shard, tableId)] as const];
        return tables.map(([id, table]) => ({ tableId: id, statistics: table.statistics(), timeBounds: table.timeBounds() }));
      }
      case "files":
        return this.table(call.shard, call.tableId).files();
      case "delete":
        return this.deleteRows(call);
      case "delete-keys":
        return this.deleteKeys(call);
      default:
        await this.parts.change?.(call);
        return null;
    }
  }

  private table(shard: number, id: TableId): Table {
    const table = this.parts.tableOf(shard, id);
    if (table === undefined) throw new Error(`shard ${shard} has no table ${id}`);
    return table;
  }

  /** A table whose series keep their numbers. */
  private fixed(shard: number, id: TableId): Table {
    const table = this.table(shard, id);
    return Object.create(table, { series: { value: table.series } }) as Table;
  }

  private async deleteRows(call: Extract<ShardCall, { kind: "delete" }>): Promise<number> {
    const own = this.table(call.shard, call.tableId);
    const table = this.fixed(call.shard, call.tableId);
    const plan = decodePlan(call.plan, { table: () => table });
    const place = plan.columns.findIndex(({ name }) => name === timeIndexOf(table.schema).name);
    const { signal } = new AbortController();
    const context: ExecContext = {
      environment: call.environment,
      signal,
      clock: systemClock,
      pace: new Pace(this.scheduler),
      series: new SeriesOfTables(),
      sources: NO_SOURCES,
      budget: new MemoryBudget(2 ** 30),
      interpretOnly: false,
      metrics: undefined,
      onSource: undefined,
      workers: undefined,
      spill: undefined,
      keepsRuns: true,
    };
    // What was written again since a scan began is left out by it: as an owner does, it is looked at again.
    for (let count = 0; ; ) {
      const watch = own.watchOverwrites({ start: -(2n ** 63n), end: 2n ** 63n });
      let leftOut = 0;
      for await (const { rowCount, vectors, runs } of run(plan, context)) {
        const times = vectors[place];
        if (times?.kind !== "time" || runs === undefined) throw new Error("rows with times and series");
        const series = new Uint32Array(rowCount);
        for (let i = 0; i < runs.series.length; i++) series.fill(runs.series[i] as number, runs.starts[i], runs.starts[i + 1]);
        const left = await own.deleteRows({ rowCount, series, numbers: table.series, times }, watch);
        leftOut += left;
        count += rowCount - left;
      }
      watch.end();
      if (leftOut === 0) return count;
    }
  }

  private async deleteKeys({ shard, tableId, tags, times }: Extract<ShardCall, { kind: "delete-keys" }>): Promise<null> {
    const table = this.table(shard, tableId);
    const names = tagsOf(table.schema).map(({ name }) => name);
    for (const [row, time] of times.entries()) {
      const tagPredicates = names.map((column, place) => ({ kind: "in" as const, column, values: [tags[place]?.[row]] }));
      await table.deleteRange({ timeRange: { start: time, end: time + 1n }, tagPredicates });
    }
    return null;
  }
}

/** Numbers of a stream, given as series come. */
class StreamNumbers {
  private readonly names: readonly string[];
  private readonly view: SeriesView;
  private readonly isPhysical: boolean;
  private readonly numbers: Map<number, number> = new Map();

  constructor(table: Table) {
    this.names = tagsOf(table.schema).map(({ name }) => name);
    this.view = table.series;
    this.isPhysical = isPhysicalTable(table.schema);
  }

  newOf(series: Uint32Array): DefinedSeries {
    const fresh: number[] = [];
    for (const number of series) {
      if (this.numbers.has(number)) continue;
      this.numbers.set(number, this.numbers.size);
      fresh.push(number);
    }
    const emptyTags =
      this.isPhysical || this.numbers.size > fresh.length
        ? []
        : this.names
            .keys()
            .filter((place) => this.isEmpty(place))
            .toArray();
    return { count: fresh.length, tags: this.names.map((name) => fresh.map((number) => this.view.tagOf(name, number))), emptyTags };
  }

  private isEmpty(place: number): boolean {
    return this.view.hasValue(this.names[place] ?? "", "");
  }

  renumbered(series: Uint32Array): Uint32Array {
    return Uint32Array.from(series, (number) => this.numbers.get(number) as number);
  }
}
