/** What an operator that spills works with: its room on disk, its block size, the figure it counts into. */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { SpillFile } from "../../../table/spill-space.ts";
import type { PlanNode } from "../contract/node.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { withOwnMemory } from "../contract/own-memory.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { type SpillCounter, SpilledRows } from "./spilled-rows.ts";

/** Most and fewest bytes of rows that are written as one block. Reason: a read of one is a disk access and some memory. */
const BLOCK_BYTES_MAX: number = 256 * 1024;
const BLOCK_BYTES_MIN = 1024;
/** Parts of an operator's share of the memory that one block is: partitions and runs that are merged hold one each. */
const BLOCKS_PER_SHARE = 64;

/** See the file header. */
export class SpillContext {
  readonly blockBytes: number;
  private readonly counter: SpillCounter;
  private readonly context: ExecContext;
  private readonly files: Set<SpillFile> = new Set();

  constructor(node: PlanNode, context: ExecContext) {
    this.context = context;
    this.blockBytes = Math.max(BLOCK_BYTES_MIN, Math.min(BLOCK_BYTES_MAX, context.budget.share / BLOCKS_PER_SHARE));
    const metrics = context.metrics?.get(node);
    this.counter = {
      add: (bytes) => {
        if (metrics !== undefined) metrics.spilledBytes += bytes;
      },
    };
  }

  /** Whether `budget` may hold `bytes` more before rows are to be spilled; always where there is no room on disk. */
  fits(bytes: number, budget: MemoryBudget): boolean {
    return this.context.spill === undefined || budget.fits(bytes);
  }

  /** Rows of a piece of a batch so that one takes a small part of what may be held: `bytes` is what the whole batch would take. */
  rowsOf(bytes: number, rowCount: number, parts: number): number {
    if (this.context.spill === undefined || bytes === 0) return rowCount;
    return Math.floor((rowCount * this.context.budget.share) / parts / bytes);
  }

  /** Rows to be written to a file. */
  rowsIn(file: SpillFile, headers: readonly ColumnHeader[]): SpilledRows {
    return new SpilledRows(file, headers, this.blockBytes, this.counter);
  }

  /** A new file, closed with the others by `close` unless it was before. */
  async create(): Promise<SpillFile> {
    const { spill } = this.context;
    assert(spill !== undefined, "only queries with room on disk spill");
    const file = await spill.create();
    this.files.add(file);
    return file;
  }

  /** Gives the room of a file back. */
  async drop(file: SpillFile): Promise<void> {
    this.files.delete(file);
    await file.close();
  }

  /** Gives back the room of all files. */
  async close(): Promise<void> {
    for (const file of this.files) await file.close();
    this.files.clear();
  }
}

/** Runs an operator that may write rows to disk: the room of its files goes back when it ends, however it does. */
export async function* withSpill(
  node: PlanNode,
  context: ExecContext,
  work: (spill: SpillContext) => AsyncIterable<ExecBatch>,
): AsyncGenerator<ExecBatch> {
  const spill = new SpillContext(node, context);
  try {
    yield* work(spill);
  } finally {
    await spill.close();
  }
}

/** Both: rows that are held on a budget of the operator's own, and on disk where they do not fit. */
export function holding(
  name: string,
  node: PlanNode,
  context: ExecContext,
  work: (own: ExecContext, spill: SpillContext) => AsyncIterable<ExecBatch>,
): AsyncGenerator<ExecBatch> {
  return withOwnMemory(name, context, (own) => withSpill(node, own, (spill) => work(own, spill)));
}
