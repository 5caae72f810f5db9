/** Whole partitions in memory: rows as they came, and the order in which they are read. */
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import { slice } from "../../../column/slice.ts";
import { atOnce, inTurns } from "../../../base/scheduler/pace.ts";
import type { MemoryBudget } from "../../../base/memory/memory-budget.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gather } from "../kernels/gather.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { gatherBatch, type HeldRows } from "../rows/held-rows.ts";
import { type Layout, layoutOf, type OrderKey, orderKey, sortedOrder } from "./layout.ts";
import { HeldPositions } from "./positions.ts";
import { type SortedRows, UNREAD, type WindowPlan } from "./sorted-rows.ts";
import { laterBytes } from "./whole-partitions.ts";

/** Rows of a chunk. */
const CHUNK_ROWS = 8192;

/** Rows whose keys are compared in far less than a turn: the promise of one costs more than a step. */
const FEW_ROWS = 256;

/** The result of work in steps. */
function steps<T>(work: Iterator<void, T>, { rowCount }: ExecBatch, context: ExecContext): T | Promise<T> {
  return rowCount <= FEW_ROWS ? atOnce(work) : inTurns(work, context);
}

function keyOf(item: SortItem, { input }: WindowPlan, batch: ExecBatch, context: ExecContext): OrderKey | Promise<OrderKey> {
  const { expression } = item;
  const keyIn = (vector: Vector): OrderKey => orderKey(vector, item, batch.rowCount);
  const column = expression.kind === "column" ? batch.vectors[expression.index] : undefined;
  if (column !== undefined) return keyIn(column);
  return new VectorEvaluator(expression, input.columns, context).vectorInTurns(batch).then(keyIn);
}

/** See the file header. */
export class HeldPartitions implements SortedRows {
  readonly columns: readonly ColumnHeader[];
  readonly rowCount: number;
  readonly partitionStarts: Uint32Array;
  readonly partitionGroups: Uint32Array;
  readonly groups: HeldPositions;
  readonly chunkRows: number = CHUNK_ROWS;
  readonly spanRows: number = Number.POSITIVE_INFINITY;
  private readonly batch: ExecBatch;
  /** Undefined: rows lie in order. */
  private readonly order: Uint32Array | undefined;
  private readonly budget: MemoryBudget;

  private constructor(
    columns: readonly ColumnHeader[],
    batch: ExecBatch,
    order: Uint32Array | undefined,
    layout: Layout,
    budget: MemoryBudget,
  ) {
    const { rowCount } = batch;
    this.columns = columns;
    this.rowCount = rowCount;
    this.partitionStarts = layout.partitionStarts;
    this.partitionGroups = layout.partitionGroups;
    this.groups = new HeldPositions(layout.groupStarts, layout.groupStarts.length, rowCount, budget.reserve);
    this.batch = batch;
    this.order = order;
    this.budget = budget;
  }

  /** Sorts rows. @throws DbError Cancelled */
  static async of(node: WindowPlan, rows: HeldRows, context: ExecContext): Promise<HeldPartitions> {
    const batch = await rows.joinedInTurns(context);
    const partition: OrderKey[] = [];
    const peers: OrderKey[] = [];
    for (const item of node.partitionBy) partition.push(await keyOf(item, node, batch, context));
    for (const item of node.orderBy) peers.push(await keyOf(item, node, batch, context));
    const sorting = steps(sortedOrder([...partition, ...peers], batch.rowCount), batch, context);
    const order = sorting instanceof Promise ? await sorting : sorting;
    const laying = steps(layoutOf(partition, peers, order, batch.rowCount), batch, context);
    const layout = laying instanceof Promise ? await laying : laying;
    rows.release(laterBytes(node));
    // What is one chunk is gathered once for all calls.
    const isChunk = order !== undefined && batch.rowCount <= CHUNK_ROWS;
    const lying = isChunk ? gatherBatch(batch, order, batch.rowCount) : batch;
    return new HeldPartitions(node.input.columns, lying, isChunk ? undefined : order, layout, context.budget);
  }

  read(from: number, to: number, needed?: ReadonlySet<number>): ExecBatch {
    const { vectors } = this.batch;
    if (this.order === undefined && to - from === this.rowCount) return this.batch;
    const order = this.order?.subarray(from, to);
    const read = vectors.map((vector, c) => {
      if (needed?.has(c) === false) return UNREAD;
      return order === undefined ? slice(vector, from, to) : gather(vector, order, to - from);
    });
    return { rowCount: to - from, vectors: read };
  }

  newPositions(behind: number): HeldPositions {
    return new HeldPositions(new Uint32Array(0), 0, behind, this.budget.reserve);
  }

  hold(bytes: number): void {
    this.budget.reserve(bytes);
  }
}
