/** Window calls over few rows, in chunks of as many as a test wants: rows in memory, rows on disk, and the oracle. */
import type { Scalar } from "../../src/column/vector.ts";
import { scalarAt } from "../../src/column/scalar.ts";
import type { ExecBatch, ExecContext } from "../../src/query/operator/contract/exec-context.ts";
import type { PlanNode } from "../../src/query/operator/contract/node.ts";
import { HeldRows } from "../../src/query/operator/rows/held-rows.ts";
import { pieces } from "../../src/query/operator/rows/pieces.ts";
import { run } from "../../src/query/operator/run.ts";
import { SpillContext } from "../../src/query/operator/spill/spill-context.ts";
import { callsOver } from "../../src/query/operator/window/calls.ts";
import { HeldPartitions } from "../../src/query/operator/window/held-partitions.ts";
import { LargePartition } from "../../src/query/operator/window/large-partition.ts";
import { chunkAfter, type SortedRows, type WindowPlan } from "../../src/query/operator/window/sorted-rows.ts";
import { laterBytes } from "../../src/query/operator/window/whole-partitions.ts";
import { windowInterpreted } from "../../src/query/operator/window/window-interpreted.ts";
import { MemorySpill } from "./memory-spill.ts";
import { planContext, planOf } from "./plan-run.ts";

/** Rows with their values, those of the calls behind those of the input. */
export type Rows = readonly (readonly Scalar[])[];

/** Where rows lie, and how many a chunk has. */
export interface Lying {
  readonly place: "held" | "large";
  readonly chunkRows: number;
}

/** The window of a query that has one, whose rows come from VALUES. */
export class WindowOfQuery {
  readonly node: WindowPlan;
  readonly context: ExecContext;

  constructor(sql: string) {
    const { plan, sources } = planOf(sql, { table: () => undefined, view: () => undefined });
    this.node = windowIn(plan);
    this.context = planContext(sources, { spill: new MemorySpill() });
  }

  /** Does `work` with the sorted rows: all of them in memory, or one partition on disk after the other. */
  async over({ place, chunkRows }: Lying, work: (rows: SortedRows) => Promise<void>): Promise<void> {
    const { node, context } = this;
    const input = new HeldRows(node.input.columns, context.budget, laterBytes(node));
    for await (const batch of run(node.input, context)) input.add(batch);
    const held = await HeldPartitions.of(node, input, context);
    if (place === "held") return work(inChunks(held, chunkRows));
    const spill = new SpillContext(node, context);
    for (let p = 0; p + 1 < held.partitionStarts.length; p++) {
      const large = await LargePartition.create(node, context, spill);
      const own = held.read(held.partitionStarts[p] as number, held.partitionStarts[p + 1] as number);
      for (const piece of pieces(own, 3)) await large.add(piece);
      await large.finish();
      await work(inChunks(large, chunkRows));
      await large.drop();
    }
    await spill.close();
  }

  /** The rows with the values of all calls. */
  async rows(lying: Lying): Promise<Rows> {
    const { node, context } = this;
    const rows: Scalar[][] = [];
    await this.over(lying, async (sorted) => {
      const calls = callsOver(node, sorted, context);
      for (let chunk = await chunkAfter(sorted, undefined); chunk !== undefined; chunk = await chunkAfter(sorted, chunk)) {
        const vectors = [...chunk.batch.vectors];
        for (const call of calls) vectors.push(await call(chunk));
        this.read({ rowCount: chunk.batch.rowCount, vectors }, rows);
      }
    });
    return rows;
  }

  /** What the oracle gives. */
  async wanted(): Promise<Rows> {
    const { node, context } = this;
    const rows: Scalar[][] = [];
    for await (const batch of windowInterpreted(node, run(node.input, context), context)) this.read(batch, rows);
    return rows;
  }

  private read({ rowCount, vectors }: ExecBatch, into: Scalar[][]): void {
    for (let row = 0; row < rowCount; row++) {
      into.push(
        this.node.columns.map(({ type }, c) => {
          const vector = vectors[c];
          if (vector === undefined) throw new Error(`a batch without column ${c}`);
          return scalarAt(vector, type, row);
        }),
      );
    }
  }
}

/** Lets chunks have so many rows, and fewer than two chunks be what is read at once. */
function inChunks<R extends SortedRows>(rows: R, chunkRows: number): R {
  Object.defineProperty(rows, "chunkRows", { value: chunkRows });
  return Object.defineProperty(rows, "spanRows", { value: chunkRows * 2 });
}

function windowIn(plan: PlanNode): WindowPlan {
  if (plan.kind === "window") return plan;
  if ("input" in plan) return windowIn(plan.input);
  throw new Error(`no window in a plan that ends with ${plan.kind}`);
}

/** Floats that differ by rounding alone count as equal; 0 and what is left of a sum do so too. */
export function sameRows(got: Rows, want: Rows): boolean {
  return got.length === want.length && got.every((row, r) => row.every((value, c) => sameValue(value, want[r]?.[c])));
}

function sameValue(a: Scalar, b: Scalar): boolean {
  if (typeof a !== "number" || typeof b !== "number" || !Number.isFinite(a) || !Number.isFinite(b)) return Object.is(a, b) || a === b;
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b));
}
