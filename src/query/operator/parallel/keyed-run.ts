/**
 * Groups that turn out to be many, divided by their keys between this thread and others (`keyed-plan.ts`).
 *
 *   begin here ─► few groups: go on here
 *             └─► many, early: begin again ─► this thread  share 1 ─► its rows
 *                                         └─► a worker     share 2 ─► its rows, after them
 *
 * How many groups there will be is not known before; those of the first rows tell. What was read until then is read again: 16,384 groups
 * of 5M rows came after 16,500 rows of 1M values, 2 ms of 300.
 *
 * All threads read one snapshot. A group's rows come to it in the order of the scan, so answers are those of one thread, sums of floats to
 * the bit; the order of groups is not.
 */
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { newScanMetrics } from "../../../table/scan.ts";
import type { ScanPart, SharedScan } from "../../../table/shared-scan.ts";
import type { ExecBatch, ExecContext, GroupWatch } from "../contract/exec-context.ts";
import type { PlanNode } from "../contract/node.ts";
import { addNodeMetrics, newNodeMetrics, type NodeMetrics } from "../contract/node-metrics.ts";
import { encodePlan } from "../contract/plan-bytes.ts";
import type { OpenFragment, Pulled, QueryWorkers } from "../contract/query-workers.ts";
import { requestOf } from "../scan/scan.ts";
import type { ScanNode } from "../scan/node.ts";
import type { KeyedPlan, SharePlan } from "./keyed-plan.ts";
import { BatchUnpacker } from "./plain-batch.ts";
import { groupsToCome, type SeenGroups, wholeOf } from "./parts.ts";
import { mayDifferHere } from "./run-again.ts";

type Batches = AsyncIterable<ExecBatch>;
type RunPlan = (node: PlanNode, context: ExecContext) => Batches;

/** Part of the rows after which it is too late to begin again. */
const LATEST_PART = 1 / 4;
/** Groups that a row must bring: where they are fewer, putting those of parts together takes less than reading all rows twice. */
const MANY_PART = 1 / 8;
/** Part of the time that must go into grouping: reading is done by each thread. */
const GROUPING_PART = 0.35;
/** Rows after which few groups are taken for few: where rows go in parts, that is done then. */
const FEW_ROWS = 131_072;
/** Rows after which nobody asks any more. */
const ROWS_LOOKED = 1_048_576;
/** Shares of the keys at most: each reads all rows. */
const SHARES_MAX = 4;
/** Bytes of groups that a thread hands over at a time. */
const PULL_BYTES = 4 * 1024 * 1024;
const PULL_BYTES_MIN = 64 * 1024;

/** How a query runs that may be divided. */
export interface KeyedRun {
  readonly plan: KeyedPlan;
  readonly node: PlanNode;
  readonly workers: QueryWorkers;
  /** All of it on this thread. */
  readonly here: (context: ExecContext) => Batches;
  /** Runs a plan on this thread. */
  readonly run: RunPlan;
  /** Puts the rows of all shares together. */
  readonly merge: (rows: Batches) => Batches;
  /** How else it may run in parts, once groups seem to be few; undefined: on this thread. */
  readonly otherwise: (() => Batches) | undefined;
}

/** See the file header. */
export async function* byKeys(keyed: KeyedRun, context: ExecContext): Batches {
  const { plan, workers, here } = keyed;
  const began = new Beginning(plan, workers, context, keyed.otherwise !== undefined);
  try {
    for await (const batch of here(began.context)) {
      if (began.isOver) break;
      yield batch;
    }
    if (!began.isOver) return;
    if (began.shared === undefined) {
      yield* keyed.otherwise?.() ?? here(alone(context));
      return;
    }
    yield* divided(keyed, began.shared, context);
  } finally {
    if (!began.isOver) began.keepMetrics(context);
    await began.shared?.release();
  }
}

/** Whether any groups are divided, as tests want it. */
const isAlways = ({ groupsMin }: QueryWorkers): boolean => groupsMin <= 1;

/** The same query without other threads. */
function alone(context: ExecContext): ExecContext {
  return { ...context, workers: undefined, groupWatch: undefined };
}

/** The query while it is not known how many groups there are. */
class Beginning {
  /** What it runs with. */
  readonly context: ExecContext;
  /** The rows for several threads, once they are wanted. */
  shared: SharedScan | undefined;
  /** Whether what it gives from now on is nothing. */
  isOver = false;
  private isDecided = false;
  private before: SeenGroups | undefined;

  constructor(plan: KeyedPlan, workers: QueryWorkers, context: ExecContext, hasOtherWay: boolean) {
    const takesOver = (groups: number, rows: number, share: number): boolean | Promise<boolean> => {
      const { before } = this;
      this.before = { groups, rows };
      if (this.isDecided || (groups < workers.groupsMin && rows < FEW_ROWS)) return false;
      if (groups >= workers.groupsMin && (share > GROUPING_PART || isAlways(workers)))
        return this.share(plan, workers, context, { groups, rows }, before);
      if (hasOtherWay) this.isOver = true;
      this.isDecided = hasOtherWay || rows >= ROWS_LOOKED;
      return this.isOver;
    };
    const metrics = context.metrics === undefined ? undefined : new Map<PlanNode, NodeMetrics>();
    // Where rows do not go in parts from the start, they do once a query has taken a while (`beside-run.ts`).
    this.context = { ...context, workers: hasOtherWay ? undefined : workers, metrics, groupWatch: this.watch(plan, takesOver) };
  }

  private watch({ groups: node }: KeyedPlan, takesOver: GroupWatch["takesOver"]): GroupWatch {
    const isOver = (): boolean => this.isOver;
    return {
      node,
      takesOver,
      get isOver() {
        return isOver();
      },
    };
  }

  private async share(
    { scan }: KeyedPlan,
    workers: QueryWorkers,
    context: ExecContext,
    now: SeenGroups,
    before: SeenGroups | undefined,
  ): Promise<boolean> {
    this.isDecided = true;
    if (!workers.hasRoom) return false;
    const metrics = context.metrics === undefined ? undefined : newScanMetrics();
    const shared = await scan.table.share?.(requestOf(scan, context), workers.limits, metrics);
    if (shared === undefined) return false;
    const all = shared.parts.reduce((sum, { rowCount }) => sum + rowCount, 0);
    if (!isAlways(workers) && (now.rows > all * LATEST_PART || groupsToCome(now, before, all) < all * MANY_PART)) {
      await shared.release();
      return false;
    }
    this.shared = shared;
    this.isOver = true;
    return true;
  }

  /** Takes its statistics for those of the query. */
  keepMetrics({ metrics }: ExecContext): void {
    for (const [node, own] of this.context.metrics ?? []) {
      const known = metrics?.get(node);
      metrics?.set(node, known === undefined ? own : addNodeMetrics(known, own));
    }
  }
}

/** Each share on its thread; all of it here where a share fails before anything is out, for a reason that need not hold here. */
async function* divided(keyed: KeyedRun, shared: SharedScan, context: ExecContext): Batches {
  let isBegun = false;
  try {
    for await (const batch of keyed.merge(rowsOfShares(keyed, shared, context))) {
      isBegun = true;
      yield batch;
    }
    return;
  } catch (error) {
    if (isBegun || !mayDifferHere(error)) throw error;
  }
  yield* keyed.here(alone(context));
}

/** The rows of all shares, this thread's first. Ends them all when nobody reads on. */
async function* rowsOfShares({ plan, node, workers, run }: KeyedRun, shared: SharedScan, context: ExecContext): Batches {
  const shares = Math.min(workers.threads + 1, SHARES_MAX);
  const others: OtherShare[] = [];
  const cancel = (): void => {
    for (const { open } of others) void open.close(); // Whoever waits for a share sees its error; it is closed again below.
  };
  context.signal.addEventListener("abort", cancel, { once: true });
  const held = context.budget.part("answers of threads");
  try {
    for (let share = 1; share < shares; share++) {
      const stripped: ScanNode = { ...plan.scan, request: { ...plan.scan.request, tagPredicates: [] }, predicates: [] };
      others.push(new OtherShare(plan.shareOf(share, shares, stripped), share, shared, workers, context));
    }
    checkCancelled(context);
    yield* ownShare(plan, shares, shared, run, node, context);
    for (const other of others) {
      const unpacker = new BatchUnpacker();
      for (let isDone = false; !isDone; ) {
        const pulled = await other.next(context);
        held.reserve(pulled.bytes);
        ({ isDone } = pulled);
        if (!isDone) other.pull();
        else addShare(other.plan, pulled.metrics, node, false, context);
        countPart(node, pulled, context);
        for (const batch of pulled.batches) {
          yield unpacker.unpack(batch);
          await context.pace.turn();
        }
        held.release(pulled.bytes);
      }
    }
  } finally {
    context.signal.removeEventListener("abort", cancel);
    await Promise.all(others.map(({ open }) => open.close()));
    held.close();
  }
}

/** A share on another thread. */
class OtherShare {
  readonly plan: SharePlan;
  readonly open: OpenFragment;
  private readonly share: number;
  private readonly whole: readonly ScanPart[];
  private readonly bytesMax: number;
  private waiting: Promise<Pulled>;

  constructor(plan: SharePlan, share: number, shared: SharedScan, workers: QueryWorkers, context: ExecContext) {
    const { now, timeZone, database } = context.environment; // Placeholders have their values in the plan.
    this.plan = plan;
    this.share = share;
    this.whole = wholeOf(shared.parts);
    this.bytesMax = Math.max(PULL_BYTES_MIN, Math.min(PULL_BYTES, Math.floor(context.budget.share / (2 * SHARES_MAX))));
    const job = {
      plan: encodePlan(plan.top),
      snapshot: shared.snapshot,
      environment: { now, timeZone, database },
      memoryBytesMax: context.budget.bytesMax,
      wantsMetrics: context.metrics !== undefined,
      wantsRuns: false,
    };
    this.open = workers.openFragment(job, context.budget);
    this.waiting = this.pulled();
  }

  /** Asks for more. */
  pull(): void {
    this.waiting = this.pulled();
  }

  private pulled(): Promise<Pulled> {
    const pulled = this.open.pull(this.share - 1, this.whole, this.bytesMax);
    void Promise.allSettled([pulled]); // Its turn may not come: this thread's share may fail first.
    return pulled;
  }

  /** What was asked for. @throws DbError what the share threw; the reason of a cancellation goes before its consequence */
  async next(context: ExecContext): Promise<Pulled> {
    try {
      return await this.waiting;
    } catch (error) {
      checkCancelled(context);
      throw error;
    }
  }
}

/** This thread's share, over the rows that the others read. */
async function* ownShare(plan: KeyedPlan, shares: number, shared: SharedScan, run: RunPlan, node: PlanNode, context: ExecContext): Batches {
  const { table } = plan.scan;
  const series = context.series.of(table);
  const scanned = {
    schema: table.schema,
    series,
    scan: shared.scanHere.bind(shared),
    timeBounds: table.timeBounds.bind(table),
  };
  const own = plan.shareOf(0, shares, { ...plan.scan, table: scanned });
  const metrics = context.metrics === undefined ? undefined : new Map<PlanNode, NodeMetrics>();
  yield* run(own.top, { ...alone(context), metrics });
  if (metrics === undefined) return;
  const chain: NodeMetrics[] = [];
  for (let at: PlanNode | undefined = own.top; at !== undefined; at = "input" in at ? at.input : undefined) {
    chain.unshift(metrics.get(at) ?? newNodeMetrics());
  }
  addShare(own, chain, node, true, context);
}

/**
 * Adds what a share did to the statistics of the operators that it ran.
 *
 * @param isFirst of operators below the division, which see the same rows in each share, only the first share counts
 */
function addShare(
  { originals, dividedFrom }: SharePlan,
  chain: readonly NodeMetrics[] | undefined,
  node: PlanNode,
  isFirst: boolean,
  context: ExecContext,
): void {
  if (context.metrics === undefined) return;
  for (const [i, original] of originals.entries()) {
    const statistics = chain?.[i];
    if (original === undefined || original === node || statistics === undefined || (i < dividedFrom && !isFirst)) continue;
    context.metrics.set(original, addNodeMetrics(context.metrics.get(original) ?? newNodeMetrics(), statistics));
  }
}

/** Counts the work of another thread. */
function countPart(node: PlanNode, { workMs, isDone }: Pulled, { metrics }: ExecContext): void {
  if (metrics === undefined) return;
  const own = metrics.get(node) ?? newNodeMetrics();
  metrics.set(node, own);
  own.partMs = (own.partMs ?? 0) + workMs;
  if (isDone) own.parts = (own.parts ?? 0) + 1;
}
