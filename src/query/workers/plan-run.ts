/** Runs a plan that came as bytes, wherever it is: a part of a scan on another thread, or the rows of one machine. */
import type { Clock } from "../../base/clock.ts";
import type { MemoryBudget } from "../../base/memory/memory-budget.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import type { SpillSpace } from "../../table/spill-space.ts";
import { type ExecBatch, type ExecContext, SeriesOfTables } from "../operator/contract/exec-context.ts";
import { inputsOf, type PlanNode } from "../operator/contract/node.ts";
import { newNodeMetrics, type NodeMetrics } from "../operator/contract/node-metrics.ts";
import type { FragmentJob, QueryWorkers } from "../operator/contract/query-workers.ts";
import { NO_SOURCES } from "../operator/contract/row-sources.ts";
import { run } from "../operator/run.ts";

/** What a plan is run with. */
export interface PlanRunParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly budget: MemoryBudget;
  /** Other threads for large scans. Default: none. */
  readonly workers?: QueryWorkers | undefined;
  /** Where rows go that do not fit in memory. Default: nowhere. */
  readonly spill?: SpillSpace | undefined;
}

/** What whoever sent a plan wants of it. */
export type PlanWishes = Pick<FragmentJob, "environment" | "wantsMetrics" | "wantsRuns">;

/** The shared state of the operators of such a plan. */
export function planContext({ environment, wantsMetrics, wantsRuns }: PlanWishes, parts: PlanRunParts): ExecContext {
  const { signal, clock, pace, budget, workers, spill } = parts;
  return {
    environment,
    signal,
    clock,
    pace,
    series: new SeriesOfTables(),
    sources: NO_SOURCES,
    budget,
    interpretOnly: false,
    metrics: wantsMetrics ? new Map() : undefined,
    onSource: undefined,
    workers,
    spill,
    keepsRuns: wantsRuns,
  };
}

/** A plan under way. */
export class PlanRun {
  readonly context: ExecContext;
  /** Valid until the next one is asked for. */
  readonly batches: AsyncIterator<ExecBatch>;
  private readonly plan: PlanNode;

  constructor(plan: PlanNode, wishes: PlanWishes, parts: PlanRunParts) {
    this.plan = plan;
    this.context = planContext(wishes, parts);
    this.batches = run(plan, this.context)[Symbol.asyncIterator]();
  }

  /** Statistics of the scan, then of each step; undefined when they were not wanted. */
  chain(): readonly NodeMetrics[] | undefined {
    const { metrics } = this.context;
    if (metrics === undefined) return undefined;
    const chain: NodeMetrics[] = [];
    for (let node: PlanNode | undefined = this.plan; node !== undefined; node = inputsOf(node)[0]) {
      chain.unshift(metrics.get(node) ?? newNodeMetrics());
    }
    return chain;
  }
}
