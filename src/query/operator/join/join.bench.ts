/**
 * Speed and memory of inner joins of a small with a large side, in both orders, with the side to be held found out and without; run with
 * `bun src/query/operator/join/join.bench.ts`.
 */
import { rowsOfPlan } from "../../../../test/support/plan-run.ts";
import type { RowSources } from "../contract/row-sources.ts";
import { INT64 } from "../../../column/data-type.ts";
import type { NumberArray } from "../../../column/vector.ts";
import type { SpillSpace } from "../../../table/spill-space.ts";
import type { PlanNode } from "../contract/node.ts";
import { type ExecBatch } from "../contract/exec-context.ts";
import { MemoryBudget } from "../../../base/memory/memory-budget.ts";

const SMOKE = process.env["VARVE_BENCH_SMOKE"] !== undefined;
const FEW = 1000;
const MANY = SMOKE ? 4000 : 2_000_000;
const BATCH_ROWS = SMOKE ? 500 : 65_536;
const TURNS = SMOKE ? 1 : 5;
/** Every so many rows of the large side meet one of the small side. */
const KEYS = 10_000;
const MIB = 1024 * 1024;

const columns = [
  { name: "k", type: INT64 },
  { name: "v", type: INT64 },
];

/** Rows (i mod `KEYS`, i). */
async function* rows(total: number): AsyncGenerator<ExecBatch> {
  for (let from = 0; from < total; from += BATCH_ROWS) {
    const rowCount = Math.min(BATCH_ROWS, total - from);
    const [keys, values]: NumberArray[] = [new Int32Array(rowCount), new Int32Array(rowCount)];
    if (keys === undefined || values === undefined) return;
    for (let i = 0; i < rowCount; i++) {
      keys[i] = (from + i) % KEYS;
      values[i] = from + i;
    }
    yield { rowCount, vectors: [keys, values].map((array) => ({ kind: "number", values: array, validity: undefined })) };
  }
}

function side(total: number): PlanNode {
  return { kind: "source", name: "rows", columns, source: { kind: "series", start: 0n, step: 1n, count: BigInt(total) } };
}

/** Gives the rows of `side` for a series. */
const SIDES: RowSources = {
  open: (source) => rows(source.kind === "series" ? Number(source.count) : 0),
};

/** The most that was held between batches. */
class PeakAccount {
  peak = 0;
  readonly room = Number.POSITIVE_INFINITY;
  readonly bytesMax = Number.POSITIVE_INFINITY;
  private held = 0;
  hasRoom(): boolean {
    return true;
  }
  take(bytes: number): boolean {
    this.held += bytes;
    this.peak = Math.max(this.peak, this.held);
    return true;
  }
  give(bytes: number): void {
    this.held -= bytes;
  }
}

const refusing: SpillSpace = {
  create: () => Promise.reject(new Error("the bench fits in memory")),
};

async function joined(left: number, right: number, isChosen: boolean): Promise<{ readonly rows: number; readonly peak: number }> {
  const key = { kind: "column", index: 0, type: INT64, name: "k" } as const;
  const node: PlanNode = {
    kind: "join",
    join: "inner",
    left: side(left),
    right: side(right),
    columns: [...columns, ...columns],
    keys: [{ left: key, right: key }],
    residual: undefined,
  };
  const account = new PeakAccount();
  // Without room on disk the right side is held.
  const spill = isChosen ? refusing : undefined;
  const rows = await rowsOfPlan(node, SIDES, { budget: new MemoryBudget(undefined, account), spill });
  return { rows, peak: account.peak };
}

for (const [left, right] of [[FEW, MANY] as const, [MANY, FEW] as const]) {
  for (const isChosen of [false, true]) {
    let best = Number.POSITIVE_INFINITY;
    let made = await joined(left, right, isChosen);
    // The least of several: other work on the machine only ever adds.
    for (let turn = 0; turn < TURNS; turn++) {
      const since = performance.now();
      made = await joined(left, right, isChosen);
      best = Math.min(best, performance.now() - since);
    }
    const way = isChosen ? "the smaller side held" : "the right side held";
    console.log(
      `${best.toFixed(0).padStart(6)} ms ${(made.peak / MIB).toFixed(1).padStart(7)} MiB  ` +
        `${left} JOIN ${right} rows, ${way}, ${made.rows} out`,
    );
  }
}
