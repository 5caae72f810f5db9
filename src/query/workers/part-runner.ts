/** Runs one part of a fragment, wherever it is: pulled from outside, a few batches at a time. */
import type { Clock } from "../../base/clock.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import type { Pace } from "../../base/scheduler/pace.ts";
import { type BudgetAccount, MemoryBudget } from "../../base/memory/memory-budget.ts";
import { decodePlan } from "../operator/contract/plan-bytes.ts";
import { BatchPacker } from "../operator/parallel/plain-batch.ts";
import type { FragmentJob, PlainBatch, Pulled } from "../operator/contract/query-workers.ts";
import { PlanRun } from "./plan-run.ts";

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
  private readonly run: PlanRun;
  private readonly clock: Clock;
  private readonly account: PartParts["account"];
  private readonly packer: BatchPacker = new BatchPacker();

  constructor(job: Omit<FragmentJob, "snapshot">, table: ScannedTable, { signal, clock, pace, account }: PartParts) {
    this.clock = clock;
    this.account = account;
    const plan = decodePlan(job.plan, { table: () => table });
    this.run = new PlanRun(plan, job, { signal, clock, pace, budget: new MemoryBudget(job.memoryBytesMax, account) });
  }

  /** As `OpenFragment.pull`. `buffers` takes what may change hands with the answer. */
  async pull(bytesMax: number, buffers: ArrayBuffer[]): Promise<Pulled> {
    const since = this.clock.monotonicMillis();
    const batches: PlainBatch[] = [];
    let bytes = 0;
    let isDone = false;
    while (bytes < bytesMax && !isDone) {
      const next = await this.run.batches.next();
      if (next.done === true) isDone = true;
      else if (next.value.rowCount > 0) {
        const packed = this.packer.pack(next.value, buffers);
        batches.push(packed.batch);
        bytes += packed.bytes;
      }
    }
    if (isDone) this.account?.close();
    const metrics = isDone ? this.run.chain() : undefined;
    return { batches, bytes, isDone, workMs: this.clock.monotonicMillis() - since, metrics };
  }

  /** Ends the part before its time. */
  async close(): Promise<void> {
    await this.run.batches.return?.();
    this.account?.close();
  }
}
