/** What calls do (`wire/shard-request.ts`): on the engine of one shard. */
import type { MemoryBudget } from "../../base/memory/memory-budget.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import type { Clock } from "../../base/clock.ts";
import { invalidArguments } from "../../base/error.ts";
import type { TimeVector } from "../../column/vector.ts";
import { CHUNK_TIME_SPAN_MAX } from "../../base/limits.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PlanNode } from "../../query/operator/contract/node.ts";
import { testsOf } from "../../query/operator/scan/scan.ts";
import type { ScanNode } from "../../query/operator/scan/node.ts";
import { deleteMatching } from "../../query/statement/rows/delete-matching.ts";
import { planContext } from "../../query/workers/plan-run.ts";
import type { Table } from "../../table/catalog.ts";
import { timeIndexOf } from "../../table/schema.ts";
import { TagKeys } from "../../table/tag-keys.ts";
import type { TableWrite, WriteBatch } from "../../table/write-batch.ts";
import type { ShardHost } from "../shard/shard-host.ts";
import type { ShardAnswers, ShardCall, ShardFacts } from "../wire/shard-request.ts";
import { engineTable, planOver, tablesWithRows } from "./shard-tables.ts";

/** What a call runs with. */
export interface CallParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly budget: MemoryBudget;
}

type CallOf<K extends ShardCall["kind"]> = Extract<ShardCall, { kind: K }>;
type Does<K extends ShardCall["kind"]> = (call: CallOf<K>, host: ShardHost, parts: CallParts) => Promise<ShardAnswers[K]>;

const CALLS: { readonly [K in ShardCall["kind"]]: Does<K> } = {
  async flush({ tableId }, host) {
    const { database, name } = engineTable(host, tableId).schema;
    await host.engine.flushTable(database, name);
    return null;
  },
  async compact({ tableId, timeRange }, host) {
    const { database, name } = engineTable(host, tableId).schema;
    await host.engine.compactTable(database, name, timeRange);
    return null;
  },
  async "build-indexes"({ tableId }, host) {
    const { database, name } = engineTable(host, tableId).schema;
    await host.engine.buildIndexes(database, name);
    return null;
  },
  async truncate({ tableId, ranges }, host) {
    const { database, name } = engineTable(host, tableId).schema;
    await host.engine.truncateTable(database, name, ranges);
    return null;
  },
  delete: deleteByPlan,
  "delete-keys": deleteKeys,
  async facts({ tableId }, host) {
    const tables = tableId === undefined ? tablesWithRows(host.engine) : [engineTable(host, tableId)];
    return Array.from(tables, (table) => factsOf(table, host.engine));
  },
  async files({ tableId }, host) {
    return engineTable(host, tableId).files();
  },
};

/** Does a call. @throws DbError what doing it throws */
export async function doCall<C extends ShardCall>(call: C, host: ShardHost, parts: CallParts): Promise<ShardAnswers[C["kind"]]> {
  const does = CALLS[call.kind] as unknown as Does<C["kind"]>; // It is the one of this kind.
  return does(call as unknown as CallOf<C["kind"]>, host, parts);
}

function factsOf(table: Table, engine: Engine): ShardFacts {
  return { tableId: engine.tableIdOf(table.schema.id), statistics: table.statistics(), timeBounds: table.timeBounds() };
}

async function deleteByPlan({ tableId, plan: bytes, environment }: CallOf<"delete">, host: ShardHost, parts: CallParts): Promise<number> {
  const table = engineTable(host, tableId);
  const plan = planOver(bytes, tableId, table, parts.budget.part("plan").reserve);
  const scan = scanOf(plan);
  const { timeRange, tagPredicates } = scan.request;
  if (plan === scan) {
    return table.deleteRange({ timeRange, tagPredicates: testsOf(tagPredicates, environment), signal: parts.signal });
  }
  const timeIndex = timeIndexOf(table.schema).name;
  const timeColumn = plan.columns.findIndex(({ name }) => name === timeIndex);
  if (timeColumn < 0) throw invalidArguments(`cannot delete from table ${table.schema.name}: the plan does not give the rows' times`);
  const exec = planContext({ environment, wantsMetrics: false, wantsRuns: true }, parts);
  return deleteMatching({ table, plan, timeColumn, timeRange }, exec);
}

/** The scan below filters and projections. @throws DbError InvalidArguments for any other plan */
function scanOf(plan: PlanNode): ScanNode {
  let node = plan;
  while (node.kind === "filter" || node.kind === "project") node = node.input;
  if (node.kind === "scan" && node.request.limit === undefined && node.request.newestPerSeries !== true) return node;
  throw invalidArguments(`cannot delete rows: they come from a scan with filters; the plan has ${node.kind}`);
}

async function deleteKeys({ tableId, tags, times }: CallOf<"delete-keys">, host: ShardHost): Promise<null> {
  const { schema } = engineTable(host, tableId);
  if (tags.length > schema.primaryKey.length) {
    throw invalidArguments(
      `cannot delete from table ${schema.name}: it has ${schema.primaryKey.length} tags, and rows have ${tags.length}`,
    );
  }
  const keys = new TagKeys(schema.name, schema.primaryKey.slice(0, tags.length));
  const timeType = timeIndexOf(schema).type;
  if (timeType.kind !== "timestamp") throw invalidArguments(`cannot delete from table ${schema.name}: its time index is no timestamp`);
  const tables: TableWrite[] = [];
  for (let from = 0; from < times.length; ) {
    // As many as lie close enough for offsets.
    const base = times[from] as bigint;
    const offsets: number[] = [];
    const own: number[] = [];
    for (; from < times.length; from++) {
      const offset = (times[from] as bigint) - base;
      if (offset >= SPAN_MAX || offset <= -SPAN_MAX) break;
      offsets.push(Number(offset));
      own.push(keys.keyOf(tags.map((values) => values[from])));
    }
    const vector: TimeVector = { kind: "time", base, offsets: Float64Array.from(offsets), validity: undefined };
    tables.push({
      table: schema.name,
      rowCount: own.length,
      keys: Uint32Array.from(own),
      timeUnit: timeType.unit,
      times: vector,
      fields: [],
    });
  }
  const batch: WriteBatch = { dictionary: keys.dictionary, tables };
  if (tables.length > 0) await host.engine.delete(schema.database, batch);
  return null;
}

const SPAN_MAX = BigInt(CHUNK_TIME_SPAN_MAX);
