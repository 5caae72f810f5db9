/** Runs one part of a fragment, wherever it is: pulled from outside, a few batches at a time. */
import type { Clock } from "../../base/clock.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { inputsOf, type PlanNode } from "../operator/contract/node.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import { type ExecBatch, type ExecContext, SeriesOfTables } from "../operator/contract/exec-context.ts";
import { type BudgetAccount, MemoryBudget } from "../../base/memory/memory-budget.ts";
import { NO_SOURCES } from "../operator/contract/row-sources.ts";
import { newNodeMetrics, type NodeMetrics } from "../operator/contract/node-metrics.ts";
import { run } from "../operator/run.ts";
import { decodePlan } from "../operator/contract/plan-bytes.ts";
import { BatchPacker } from "../operator/parallel/plain-batch.ts";
import type { FragmentJob, PlainBatch, Pulled } from "../operator/contract/query-workers.ts";

/** What counts the memory of a part. */
export interface PartAccount extends BudgetAccount {
  /** Gives back all that is held. */
  close(): void;
}

/** What a part runs with. */
export interface PartParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly pace: Pace;
  /** Counts what the part holds; closed when it has ended. */
  readonly account?: PartAccount;
}

/** A part under way. */
export class PartRunner {
  private readonly batches: AsyncIterator<ExecBatch>;
  private readonly plan: PlanNode;
  private readonly metrics: Map<PlanNode, NodeMetrics> | undefined;
  private readonly clock: Clock;
  private readonly account: PartParts["account"];
  private readonly packer: BatchPacker = new BatchPacker();

  constructor(job: Omit<FragmentJob, "snapshot">, table: ScannedTable, { signal, clock, pace, account }: PartParts) {
    this.metrics = job.wantsMetrics ? new Map() : undefined;
    this.clock = clock;
    this.account = account;
    this.plan = decodePlan(job.plan, { table: () => table });
    const context: ExecContext = {
      environment: job.environment,
      signal,
      clock,
      pace,
      series: new SeriesOfTables(),
      sources: NO_SOURCES,
      budget: new MemoryBudget(job.memoryBytesMax, account),
      interpretOnly: false,
      metrics: this.metrics,
      onSource: undefined,
      workers: undefined,
      spill: undefined,
      keepsRuns: job.wantsRuns,
    };
    this.batches = run(this.plan, context)[Symbol.asyncIterator]();
  }

  /** As `OpenFragment.pull`. `buffers` takes what may change hands with the answer. */
  async pull(bytesMax: number, buffers: ArrayBuffer[]): Promise<Pulled> {
    const since = this.clock.monotonicMillis();
    const batches: PlainBatch[] = [];
    let bytes = 0;
    let isDone = false;
    while (bytes < bytesMax && !isDone) {
      const next = await this.batches.next();
      if (next.done === true) isDone = true;
      else if (next.value.rowCount > 0) {
        const packed = this.packer.pack(next.value, buffers);
        batches.push(packed.batch);
        bytes += packed.bytes;
      }
    }
    if (isDone) this.account?.close();
    const metrics = isDone && this.metrics !== undefined ? this.chain(this.metrics) : undefined;
    return { batches, bytes, isDone, workMs: this.clock.monotonicMillis() - since, metrics };
  }

  /** Ends the part before its time. */
  async close(): Promise<void> {
    await this.batches.return?.();
    this.account?.close();
  }

  /** Statistics of the scan, then of each step. */
  private chain(metrics: ReadonlyMap<PlanNode, NodeMetrics>): readonly NodeMetrics[] {
    const chain: NodeMetrics[] = [];
    for (let node: PlanNode | undefined = this.plan; node !== undefined; node = inputsOf(node)[0]) {
      chain.unshift(metrics.get(node) ?? newNodeMetrics());
    }
    return chain;
  }
}
