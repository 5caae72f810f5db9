/**
 * An aggregation of few groups over a large scan, on this thread and, once that has taken a while, on others beside it.
 *
 *   parts  1 2 3 4 5 6 7 8        this thread takes the first that is left, and groups all of its own in one table
 *          └──►     ◄────┘        after `aloneMs` a worker takes some of the last, and again; its groups are put to those here
 *
 * So a query that is soon over has none of what a worker costs, and threads end together however fast each is. Which part is whose differs
 * from run to run: only aggregates go so that do not depend on the order of rows, sums of floats do.
 */
import { errorText } from "../../../base/error.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import { newScanMetrics, type ScanBatch, type ScanMetrics, type ScanRequest } from "../../../table/scan.ts";
import type { ScanPart, ShareLimits, SharedScan } from "../../../table/shared-scan.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { ExecBatch, ExecContext, GroupWatch } from "../contract/exec-context.ts";
import type { NodeOf, PlanNode } from "../contract/node.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { addNodeMetrics, newNodeMetrics, type NodeMetrics } from "../contract/node-metrics.ts";
import type { OpenFragment, Pulled, QueryWorkers } from "../contract/query-workers.ts";
import { requestOf } from "../scan/scan.ts";
import type { ScanNode } from "../scan/node.ts";
import { type Fragment, fragmentBytes, fragmentOf } from "./fragment.ts";
import { wholeOf } from "./parts.ts";
import { BatchUnpacker } from "./plain-batch.ts";
import { orHere } from "./run-again.ts";
import { type TwoPhases, twoPhases } from "./two-phase.ts";

type Batches = AsyncIterable<ExecBatch>;
type RunPlan = (node: PlanNode, context: ExecContext) => Batches;
type Aggregate = NodeOf<"aggregate">;

/** Rows of a part, about 10 ms of work: no thread waits long for the last one. */
const PART_ROWS = 250_000;
/** What a worker takes at a time of the parts that are left: it groups them together, and this thread takes the others meanwhile. */
const TAKEN_PART = 0.45;
/** Part of the rows after which groups are not divided by their keys any more. */
const LATEST_PART = 1 / 4;
/** All groups of a part at once: they are few. */
const PULL_BYTES = 16 * 1024 * 1024;

/** An aggregation that may run so. */
export interface BesidePlan {
  readonly node: Aggregate;
  readonly phases: TwoPhases;
  readonly fragment: Fragment;
}

/** The aggregation as such a plan, if it is one. */
export function besidePlanOf(node: Aggregate): BesidePlan | undefined {
  if (node.keys.some(({ kind }) => kind !== "row") || !node.aggregates.every(isExact)) return undefined;
  const phases = twoPhases(node);
  const fragment = phases === undefined ? undefined : fragmentOf(phases.partial);
  if (phases === undefined || fragment?.scan.table.share === undefined || fragment.scan.request.summaries !== undefined) return undefined;
  return { node, phases, fragment };
}

/** Aggregates that add values: of floats the sum depends on the order. */
const ADDING = /^(?:sum|avg|mean|std|var)/;

function isExact({ function: { name }, type, orderBy }: AggregateCall): boolean {
  if (orderBy.length > 0) return false;
  if (/^(?:std|var)/.test(name)) return false; // Moments are floats, whatever of.
  return !ADDING.test(name) || type.args[0]?.kind !== "float";
}

/**
 * See the file header.
 *
 * @param here all of it on this thread
 * @param run runs a plan on this thread
 * @param merge puts groups together
 */
export async function* beside(
  plan: BesidePlan,
  workers: QueryWorkers,
  context: ExecContext,
  here: (context: ExecContext) => Batches,
  run: RunPlan,
  merge: (rows: Batches) => Batches,
): Batches {
  const alone = { ...context, workers: undefined };
  const { scan } = plan.fragment;
  const { start, end } = scan.request.timeRange;
  const limits: ShareLimits = { ...workers.limits, partRows: Math.min(PART_ROWS, workers.limits.partRows) };
  const metrics = context.metrics === undefined ? undefined : newScanMetrics();
  const shared = start < end && workers.hasRoom ? await scan.table.share?.(requestOf(scan, context), limits, metrics) : undefined;
  if (shared === undefined) {
    yield* here(alone);
    return;
  }
  yield* orHere(merge(new BesideRun(plan, shared, workers, context, run).rows()), shared, () => here(alone));
}

/** One run. Invariant: parts `[first, last)` are nobody's yet. */
class BesideRun {
  private readonly plan: BesidePlan;
  private readonly shared: SharedScan;
  private readonly workers: QueryWorkers;
  private readonly context: ExecContext;
  private readonly run: RunPlan;
  private readonly since: number;
  private first = 0;
  private last: number;
  private open: OpenFragment | undefined;
  private sent = 0;
  private failure: Error | undefined;
  private readonly answers: { readonly index: number; readonly pulled: Pulled }[] = [];
  private readonly held: MemoryBudget;
  private wake: () => void = () => undefined;

  constructor(plan: BesidePlan, shared: SharedScan, workers: QueryWorkers, context: ExecContext, run: RunPlan) {
    this.plan = plan;
    this.shared = shared;
    this.workers = workers;
    this.context = context;
    this.run = run;
    this.held = context.budget.part("answers of parts");
    this.since = context.clock.monotonicMillis();
    this.last = shared.parts.length;
  }

  /** Groups of this thread, then those of others. Ends them all when nobody reads on. */
  async *rows(): Batches {
    const { context } = this;
    const unpackers = new Map<number, BatchUnpacker>();
    const cancel = (): void => void this.open?.close(); // Whoever waits for a part sees its error; it is closed again below.
    context.signal.addEventListener("abort", cancel, { once: true });
    try {
      yield* this.own();
      if (context.groupWatch?.isOver === true) return;
      while (this.sent > 0 || this.answers.length > 0) {
        if (this.failure !== undefined) throw this.failure;
        const answer = this.answers.shift();
        if (answer === undefined) {
          const { promise, resolve } = Promise.withResolvers<void>();
          this.wake = resolve;
          await promise;
          continue;
        }
        const { index, pulled } = answer;
        const unpacker = unpackers.get(index) ?? new BatchUnpacker();
        unpackers.set(index, unpacker);
        for (const batch of pulled.batches) {
          yield unpacker.unpack(batch);
          await context.pace.turn();
        }
        this.held.release(pulled.bytes);
        this.count(pulled);
      }
      if (this.failure !== undefined) throw this.failure;
    } catch (error) {
      checkCancelled(context); // The reason of a cancellation goes before its consequence.
      throw error;
    } finally {
      context.signal.removeEventListener("abort", cancel);
      await this.open?.close();
      this.held.close();
    }
  }

  /** Groups of the parts that this thread takes. */
  private async *own(): Batches {
    const { context, plan } = this;
    const { fragment, node, phases } = plan;
    const { table } = fragment.scan;
    const scanned = {
      schema: table.schema,
      series: context.series.of(table),
      scan: this.scan.bind(this),
      timeBounds: table.timeBounds.bind(table),
    };
    const scan: ScanNode = { ...fragment.scan, table: scanned };
    const chain: PlanNode[] = [scan];
    let top: PlanNode = scan;
    for (const step of fragment.steps) {
      top = { ...step, input: top };
      if (top.kind === "aggregate" && node.table !== undefined) top = { ...top, table: scanned };
      chain.push(top);
    }
    const metrics = context.metrics === undefined ? undefined : new Map<PlanNode, NodeMetrics>();
    const { groupWatch } = context;
    const takesOver: GroupWatch["takesOver"] = (...told) =>
      this.first <= this.shared.parts.length * LATEST_PART + 1 && (groupWatch?.takesOver(...told) ?? false);
    const watch = groupWatch?.node === node ? { node: top, isOver: false, takesOver } : groupWatch;
    try {
      yield* this.run(top, { ...context, workers: undefined, metrics, groupWatch: watch });
    } finally {
      for (const [i, original] of [fragment.scan, ...fragment.steps].entries()) {
        const statistics = metrics?.get(chain[i] ?? top);
        if (original === phases.partial || statistics === undefined) continue;
        context.metrics?.set(original, addNodeMetrics(context.metrics.get(original) ?? newNodeMetrics(), statistics));
      }
    }
  }

  /** Part after part, as long as there are some. */
  private async *scan(request: ScanRequest, metrics?: ScanMetrics): AsyncGenerator<ScanBatch> {
    while (this.first < this.last) {
      const part = this.shared.parts[this.first++];
      if (part === undefined) return;
      for await (const batch of this.shared.scanHere(request, metrics, part)) {
        this.send();
        yield batch;
      }
      this.send();
    }
  }

  /** Gives others parts, once this thread has worked for a while. */
  private send(): void {
    const { context, workers } = this;
    if (this.last - this.first < 1 || this.sent >= workers.threads) return;
    if (this.open === undefined) {
      if (context.clock.monotonicMillis() - this.since < workers.aloneMs) return;
      const { now, timeZone, database } = context.environment; // Placeholders have their values in the plan.
      const job = {
        plan: fragmentBytes(this.plan.fragment),
        snapshot: this.shared.snapshot,
        environment: { now, timeZone, database },
        memoryBytesMax: context.budget.bytesMax,
        wantsMetrics: context.metrics !== undefined,
        wantsRuns: false,
      };
      this.open = workers.openFragment(job, context.budget);
    }
    while (this.first < this.last && this.sent < workers.threads) {
      const from = this.last - Math.max(1, Math.floor(((this.last - this.first) * TAKEN_PART) / workers.threads));
      const part = wholeOf(this.shared.parts.slice(from, this.last));
      this.last = from;
      void this.pull(this.open, from, part); // Never rejects.
    }
  }

  /** Asks for a part until it has ended. */
  private async pull(open: OpenFragment, index: number, part: readonly ScanPart[]): Promise<void> {
    this.sent++;
    try {
      for (let isDone = false; !isDone; ) {
        const pulled = await open.pull(index, part, PULL_BYTES);
        this.held.reserve(pulled.bytes);
        this.answers.push({ index, pulled });
        ({ isDone } = pulled);
        this.wake();
      }
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(errorText(error));
    } finally {
      this.sent--;
      if (this.failure === undefined) this.send();
      this.wake();
    }
  }

  /** Adds what a part did to the statistics. */
  private count({ workMs, isDone, metrics }: Pulled): void {
    const { context, plan } = this;
    if (context.metrics === undefined) return;
    const own = context.metrics.get(plan.node) ?? newNodeMetrics();
    context.metrics.set(plan.node, own);
    own.partMs = (own.partMs ?? 0) + workMs;
    if (isDone) own.parts = (own.parts ?? 0) + 1;
    for (const [i, original] of [plan.fragment.scan, ...plan.fragment.steps.slice(0, -1)].entries()) {
      const statistics = metrics?.[i];
      if (statistics === undefined) continue;
      context.metrics.set(original, addNodeMetrics(context.metrics.get(original) ?? newNodeMetrics(), statistics));
    }
  }
}
