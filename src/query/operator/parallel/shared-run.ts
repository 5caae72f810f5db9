/**
 * Plans whose scan is large, run in parts by other threads.
 *
 *   aggregate ◄ … ◄ scan      parts group their rows; their groups are grouped here                       (two-phase.ts)
 *   … filter … ◄ scan         parts filter; their rows come here in the order of the parts
 *   top-N ◄ … ◄ scan          parts keep their first N; the rest is sorted here
 *   newest N ◄ … ◄ scan       where a part is all that a node has of the table: each walks its own times
 *
 * Parts that are ahead wait: at most `PARTS_PER_THREAD` a thread are under way, each with one answer of about `PULL_BYTES`. Answers count
 * as the query's memory from when they are here.
 */
import { assert } from "../../../base/assert.ts";
import { newScanMetrics } from "../../../table/scan.ts";
import type { BatchOfSeries, ScanPart, SharedScan } from "../../../table/shared-scan.ts";
import type { PlanNode } from "../contract/node.ts";
import { aggregate } from "../aggregate/aggregate.ts";
import { requestOf } from "../scan/scan.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext, GroupWatch } from "../contract/exec-context.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { addNodeMetrics, newNodeMetrics } from "../contract/node-metrics.ts";
import { type Fragment, fragmentBytes, fragmentOf } from "./fragment.ts";
import { beside, besidePlanOf } from "./beside-run.ts";
import { byKeys } from "./keyed-run.ts";
import { type KeyedPlan, keyedPlanOf } from "./keyed-plan.ts";
import { BatchUnpacker } from "./plain-batch.ts";
import type { OpenFragment, Pulled, QueryWorkers } from "../contract/query-workers.ts";
import { orHere } from "./run-again.ts";
import { type TwoPhases, twoPhases } from "./two-phase.ts";

type NodeOf<K extends PlanNode["kind"]> = Extract<PlanNode, { kind: K }>;

/** Bytes of batches that a part hands over at a time; fewer where answers of all parts under way would not fit in the query's memory. */
const PULL_BYTES = 4 * 1024 * 1024;
const PULL_BYTES_MIN = 64 * 1024;
/** The same at first, where less may be enough. */
const FIRST_PULL_BYTES = 32 * 1024;
/** Parts under way for each thread: one runs, one waits with its answer. */
const PARTS_PER_THREAD = 2;
/** First rows that parts keep for a top-N: beyond, their answers are no smaller than the rows. */
const KEEP_MAX = 10_000;

/** A plan that may go in parts, and the scan below it. */
interface Shareable {
  readonly fragment: Fragment;
  readonly workers: QueryWorkers;
}

/** Runs an operator on this thread. */
type RunHere = (node: PlanNode, context: ExecContext) => Batches;
type Batches = AsyncIterable<ExecBatch>;

/** An aggregation, in parts if it can be and is worth it. @param run runs a plan on this thread, with all that is below it */
export function sharedAggregate(node: NodeOf<"aggregate">, context: ExecContext, here: RunHere, run: RunHere): Batches {
  const merge = (rows: Batches, { phases }: KeyedPlan): Batches => (phases === undefined ? rows : mergedGroups(phases, rows, context));
  return dividedByKeys(node, context, { here, run, merge, inParts: (own) => aggregateInParts(node, own, here, run) });
}

/** An operator over a filter or over groups, in parts if it can be and is worth it. */
export function sharedRows(node: NodeOf<"filter" | "project">, context: ExecContext, here: RunHere, run: RunHere): Batches {
  return dividedByKeys(node, context, { here, run, merge: (rows) => rows, inParts: (own) => rowsInParts(node, own, here) });
}

/** A top-N, its parts first. `sort` sorts what they give. */
export function sharedTop(
  node: NodeOf<"sort">,
  context: ExecContext,
  here: RunHere,
  run: RunHere,
  sort: (input: Batches) => Batches,
): Batches {
  return dividedByKeys(node, context, { here, run, merge: sort, inParts: (own) => topInParts(node, own, here, sort) });
}

/**
 * The newest rows of a table: where the parts' owners know the times of what they have, each walks its own. A walk of all times from here
 * would wait for the slowest of them once a step.
 */
export function sharedNewest(
  node: NodeOf<"newest-first">,
  context: ExecContext,
  here: RunHere,
  sort: (input: Batches) => Batches,
): Batches {
  return context.workers?.walksTimes === true && node.buckets === undefined ? topInParts(node, context, here, sort) : here(node, context);
}

/** How an operator runs that may be divided. */
interface Ways {
  readonly here: RunHere;
  readonly run: RunHere;
  readonly merge: (rows: Batches, plan: KeyedPlan) => Batches;
  /** In parts of its rows. */
  readonly inParts: (context: ExecContext) => Batches;
}

/** Groups that turn out to be many are divided by their keys; all else goes in parts of its rows. */
function dividedByKeys(node: PlanNode, context: ExecContext, { here, run, merge, inParts }: Ways): Batches {
  const { workers } = context;
  const plan = keyedPlan(node, context);
  if (plan === undefined || workers === undefined) return inParts(context);
  const otherwise = workers.sharesRows ? () => inParts({ ...context, groupWatch: NOBODY }) : undefined;
  return byKeys({ plan, node, workers, here: (own) => here(node, own), run, merge: (rows) => merge(rows, plan), otherwise }, context);
}

/** Whether operators of a query may run elsewhere. */
const maySplit = ({ onSource, interpretOnly }: ExecContext): boolean => onSource === undefined && !interpretOnly;

/** It was asked already how many groups there are. */
const NOBODY: GroupWatch = { node: undefined, isOver: false, takesOver: () => false };

/**
 * A plan whose groups may be divided by their keys, here and now. Few rows may pass a filter, and until they have none can tell how many
 * groups there are: where rows go in parts, those with filters do.
 */
function keyedPlan(node: PlanNode, context: ExecContext): KeyedPlan | undefined {
  const { workers, groupWatch } = context;
  if (workers === undefined || groupWatch !== undefined || !maySplit(context)) return undefined;
  if (workers.groupsMin === Number.POSITIVE_INFINITY) return undefined;
  const plan = keyedPlanOf(node);
  if (plan?.scan.table.share === undefined || (plan.isFiltered && workers.sharesRows)) return undefined;
  const { table, request } = plan.scan;
  const isLarge = (table.statistics?.().rowCount ?? Number.POSITIVE_INFINITY) >= workers.limits.rowsMin;
  return isLarge && request.timeRange.start < request.timeRange.end ? plan : undefined;
}

async function* aggregateInParts(node: NodeOf<"aggregate">, context: ExecContext, here: RunHere, run: RunHere): Batches {
  const { workers } = context;
  const plan = workers?.sharesRows === false && maySplit(context) ? besidePlanOf(node) : undefined;
  if (plan !== undefined && workers !== undefined) {
    const merge = (rows: Batches): Batches => mergedGroups(plan.phases, rows, { ...context, groupWatch: undefined });
    yield* beside(plan, workers, context, (own) => here(node, own), run, merge);
    return;
  }
  const phases = twoPhases(node);
  const shareable = phases === undefined ? undefined : shareableOf(phases.partial, context);
  const shared = shareable === undefined ? undefined : await share(shareable, node, context);
  if (shareable === undefined) yield* here(node, context);
  else if (phases === undefined || shared === undefined) yield* here(node, alone(context));
  else
    yield* orHere(mergedGroups(phases, rowsOf(shareable, shared, node, context, true), context), shared, () => here(node, alone(context)));
}

async function* rowsInParts(node: NodeOf<"filter" | "project">, context: ExecContext, here: RunHere): Batches {
  const shareable = hasFilter(node) ? shareableOf(node, context) : undefined;
  const shared = shareable === undefined ? undefined : await share(shareable, node, context);
  if (shareable === undefined) yield* here(node, context);
  else if (shared === undefined) yield* here(node, alone(context));
  else yield* orHere(rowsOf(shareable, shared, node, context, false), shared, () => here(node, alone(context)));
}

async function* topInParts(
  node: NodeOf<"sort" | "newest-first">,
  context: ExecContext,
  here: RunHere,
  sort: (input: Batches) => Batches,
): Batches {
  const keep = node.kind === "sort" ? node.keep : node.wanted;
  const shareable = keep !== undefined && keep <= KEEP_MAX ? shareableOf(node, context) : undefined;
  const shared = shareable === undefined ? undefined : await share(shareable, node, context);
  if (shareable === undefined) yield* here(node, context);
  else if (shared === undefined) yield* here(node, alone(context));
  else yield* orHere(sort(rowsOf(shareable, shared, node, context, true)), shared, () => here(node, alone(context)));
}

/** The same query without other threads: below an operator that stays here nothing is asked again. */
function alone(context: ExecContext): ExecContext {
  return { ...context, workers: undefined };
}

function hasFilter(node: PlanNode): boolean {
  return node.kind === "filter" || ((node.kind === "project" || node.kind === "overlap") && hasFilter(node.input));
}

function shareableOf(node: PlanNode, { workers, onSource, interpretOnly }: ExecContext): Shareable | undefined {
  if (workers?.sharesRows !== true || onSource !== undefined || interpretOnly) return undefined;
  const fragment = fragmentOf(node);
  return fragment?.scan.table.share === undefined ? undefined : { fragment, workers };
}

async function share({ fragment, workers }: Shareable, node: PlanNode, context: ExecContext): Promise<SharedScan | undefined> {
  const { scan } = fragment;
  const { start, end } = scan.request.timeRange;
  if (start >= end || !workers.hasRoom) return undefined;
  const metrics = context.metrics === undefined ? undefined : newScanMetrics();
  const shared = await scan.table.share?.(requestOf(scan, context), workers.limits, metrics);
  if (shared === undefined || context.metrics === undefined) return shared;
  const known = context.metrics.get(scan) ?? newNodeMetrics();
  context.metrics.set(scan, { ...known, scan: known.scan ?? metrics });
  const own = context.metrics.get(node) ?? newNodeMetrics();
  context.metrics.set(node, own);
  return shared;
}

/** The groups of all parts together, from the rows that the parts gave. Gives nothing before all parts have ended. */
export async function* mergedGroups(phases: TwoPhases, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  const source: PlanNode = { kind: "source", name: "", columns: phases.partial.columns, source: { kind: "no-rows" } };
  const node: NodeOf<"aggregate"> = {
    kind: "aggregate",
    input: source,
    columns: phases.columns,
    keys: phases.keys,
    aggregates: phases.merges,
    table: undefined,
  };
  for await (const { rowCount, vectors } of aggregate(node, input, context)) {
    yield { rowCount, vectors: phases.finish(vectors, rowCount) };
  }
}

/**
 * What the parts give, part by part. Ends them all when nobody reads on, and then no thread reads the snapshot.
 *
 * @param isEager whether all rows are sure to be read; else the first part begins alone and with little, since a LIMIT may be content
 */
async function* rowsOf(
  shareable: Shareable,
  shared: SharedScan,
  node: PlanNode,
  context: ExecContext,
  isEager: boolean,
): AsyncIterable<ExecBatch> {
  const { workers, fragment } = shareable;
  const { parts, snapshot, shards, keepsTags } = shared;
  const isMerged = shards?.areOrdered === true && fragment.steps.every(({ kind }) => kind === "filter" || kind === "project");
  const { now, timeZone, database } = context.environment; // Placeholders have their values in the plan.
  const job = {
    plan: fragmentBytes(fragment, keepsTags),
    snapshot,
    environment: { now, timeZone, database },
    memoryBytesMax: context.budget.bytesMax,
    wantsMetrics: context.metrics !== undefined,
    // Rows of a scan say of which series they are: whoever groups by tags goes by that.
    wantsRuns: isMerged || (keepsTags === true && fragment.steps.every(({ kind }) => kind === "filter")),
    isReadInOrder: isEager && !isMerged,
  };
  const open = workers.openFragment(job, context.budget);
  const held = context.budget.part("answers of parts");
  const shardsOfParts = isMerged ? ofShards(parts) : [];
  const streamCount = Math.max(1, shardsOfParts.length);
  const aheadOfEach = Math.ceil((workers.threads * PARTS_PER_THREAD) / streamCount);
  const pullBytes = Math.max(PULL_BYTES_MIN, Math.min(PULL_BYTES, Math.floor(context.budget.share / (aheadOfEach * streamCount))));
  const cancel = (): void => void open.close(); // Whoever waits for a part sees its error; it is closed again below.
  context.signal.addEventListener("abort", cancel, { once: true });
  try {
    checkCancelled(context);
    const onPulled = (pulled: Pulled): void => addPart(fragment, node, pulled, context);
    if (shards !== undefined && isMerged) {
      const streams = shardsOfParts.map(({ shard, first, own }) => {
        const advance = { first, ahead: aheadOfEach, isEager, pullBytes, held };
        return { shard, batches: withRuns(inOrder(open, own, advance, context, onPulled)) };
      });
      const types = node.columns.map(({ type }) => type);
      const keepsRuns = fragment.steps.every(({ kind }) => kind === "filter");
      for await (const batch of shards.merged(streams, types)) yield keepsRuns ? batch : { ...batch, runs: undefined };
      return;
    }
    for await (const { batch, part } of inOrder(
      open,
      parts,
      { first: 0, ahead: aheadOfEach, isEager, pullBytes, held },
      context,
      onPulled,
    )) {
      const { runs } = batch;
      yield runs === undefined || shards === undefined ? batch : { ...batch, runs: shards.renumbered(runs, part) };
    }
  } finally {
    context.signal.removeEventListener("abort", cancel);
    await open.close(); // From here on no answer comes.
    held.close();
  }
}

/** Parts of one shard, of which the first has the index `first` among all. */
interface PartsOfShard {
  readonly shard: number;
  readonly first: number;
  readonly own: ScanPart[];
}

function ofShards(parts: readonly ScanPart[]): readonly PartsOfShard[] {
  const shards: PartsOfShard[] = [];
  for (const [index, part] of parts.entries()) {
    const { shard = 0 } = part;
    const last = shards.at(-1);
    if (last?.shard === shard) last.own.push(part);
    else shards.push({ shard, first: index, own: [part] });
  }
  return shards;
}

async function* withRuns(rows: AsyncIterable<{ readonly batch: ExecBatch }>): AsyncGenerator<BatchOfSeries> {
  for await (const { batch } of rows) {
    const { runs } = batch;
    assert(runs !== undefined, "rows say of which series they are");
    yield { ...batch, runs };
  }
}

/** How far parts run ahead of what was read. */
interface Advance {
  /** Index of the first part, as it is told to threads. */
  readonly first: number;
  /** Parts under way at most. */
  readonly ahead: number;
  readonly isEager: boolean;
  readonly pullBytes: number;
  /** Counts answers. */
  readonly held: MemoryBudget;
}

async function* inOrder(
  open: OpenFragment,
  parts: readonly ScanPart[],
  { first, ahead, isEager, pullBytes, held }: Advance,
  context: ExecContext,
  onPulled: (pulled: Pulled) => void,
): AsyncIterable<{ readonly batch: ExecBatch; readonly part: ScanPart }> {
  const waiting: Promise<Pulled>[] = [];
  const pull = (index: number, part: ScanPart, bytesMax: number): Promise<Pulled> => {
    const pulled = counted(open.pull(first + index, [part], bytesMax), held);
    void Promise.allSettled([pulled]); // Its turn may not come: an earlier part may fail first.
    return pulled;
  };
  let begun = 0;
  const begin = (limit: number, bytesMax: number): void => {
    for (let part = parts[begun]; begun < limit && part !== undefined; part = parts[begun]) waiting.push(pull(begun++, part, bytesMax));
  };
  begin(isEager ? ahead : 1, isEager ? pullBytes : FIRST_PULL_BYTES);
  for (const [index, part] of parts.entries()) {
    const unpacker = new BatchUnpacker();
    for (let next = waiting.shift(); next !== undefined; ) {
      const pulled = await answered(next, context);
      onPulled(pulled);
      next = pulled.isDone ? undefined : pull(index, part, pullBytes);
      begin(index + ahead + (pulled.isDone ? 1 : 0), pullBytes);
      for (const batch of pulled.batches) {
        yield { batch: unpacker.unpack(batch), part };
        await context.pace.turn();
      }
      held.release(pulled.bytes);
    }
  }
}

/** An answer, counted when it comes. @throws DbError what the part threw, RuntimeResourcesExhausted */
async function counted(pulling: Promise<Pulled>, held: MemoryBudget): Promise<Pulled> {
  const pulled = await pulling;
  held.reserve(pulled.bytes);
  return pulled;
}

/** The answer of a part; the reason of a cancellation goes before its consequence. */
async function answered(next: Promise<Pulled>, context: ExecContext): Promise<Pulled> {
  try {
    return await next;
  } catch (error) {
    checkCancelled(context);
    throw error;
  }
}

/** Adds what a part did to the statistics of the operators that it ran. */
function addPart({ scan, steps }: Fragment, top: PlanNode, { workMs, isDone, metrics }: Pulled, context: ExecContext): void {
  const own = context.metrics?.get(top);
  if (own !== undefined) {
    own.partMs = (own.partMs ?? 0) + workMs;
    if (isDone) own.parts = (own.parts ?? 0) + 1;
  }
  const nodes: readonly PlanNode[] = [scan, ...steps.slice(0, -1)];
  for (const [i, node] of nodes.entries()) {
    const known = context.metrics?.get(node) ?? newNodeMetrics();
    const statistics = metrics?.[i];
    if (statistics !== undefined) context.metrics?.set(node, addNodeMetrics(known, statistics));
  }
}
