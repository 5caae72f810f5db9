/**
 * The window operator: holds its rows, sorts them by partition and order, computes each call over all rows at once and gives the rows out
 * in that order. Rows that do not fit in memory are sorted over the disk, and some whole partitions are held at a time; one that alone does
 * not fit stays there (`large-window.ts`).
 */
import type { Batch } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { PlanNode } from "../contract/node.ts";
import type { WindowCall } from "./node.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { checkCancelled, inTurns } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { HeldRows } from "../rows/held-rows.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { SpillContext } from "../spill/spill-context.ts";
import { accumulated } from "./accumulate.ts";
import { scores } from "./anomaly.ts";
import { picks, shifted } from "./choose.ts";
import { folded } from "./fold.ts";
import { type Frames, framesOf, type VectorOf } from "./frames.ts";
import { keptRows } from "./kept-rows.ts";
import { LargePartition } from "./large-partition.ts";
import { computedOverLarge } from "./large-window.ts";
import { type Layout, layoutOf, orderCodes, sortedOrder } from "./layout.ts";
import { ranks } from "./rank.ts";
import { wholePartitions } from "./whole-partitions.ts";

/** Rows of a batch that the operator gives out. */
const BATCH_ROWS = 8192;

type WindowNode = Extract<PlanNode, { kind: "window" }>;

/** The rows of `input`, sorted, with a column more for each call. */
export async function* window(node: WindowNode, input: AsyncIterable<ExecBatch>, shared: ExecContext): AsyncIterable<ExecBatch> {
  const budget = shared.budget.part("window");
  const context = { ...shared, budget };
  const spill = new SpillContext(node, context);
  try {
    for await (const rows of wholePartitions(node, input, context, spill)) {
      const isLarge = rows instanceof LargePartition;
      const others = budget.used - (isLarge ? 0 : rows.bytesHeld);
      if (isLarge) yield* computedOverLarge(node, rows, context);
      else yield* computedOver(rows, node, context);
      if (!isLarge) rows.clear();
      budget.release(budget.used - others); // what calls counted
    }
  } finally {
    budget.close();
    await spill.close();
  }
}

/** The rows of some whole partitions, and their calls. */
async function* computedOver(rows: HeldRows, node: WindowNode, context: ExecContext): AsyncGenerator<ExecBatch> {
  const { columns } = node.input;
  const { rowCount } = rows;
  const layout = await sorted(node, rows, context);
  await context.pace.turn();
  const batch = rows.joined();
  const vectorOf: VectorOf = (expression) => new VectorEvaluator(expression, columns, context).vector(batch);
  const framed = new FramesOfCalls(node, layout, vectorOf);
  const added: Vector[] = [];
  for (const call of node.calls) {
    checkCancelled(context);
    added.push(await computed(call, framed, layout, vectorOf, context));
    await context.pace.turn();
  }
  const all: Batch = { rowCount, vectors: [...batch.vectors, ...added] };
  for (let at = 0; at < rowCount; at += BATCH_ROWS) {
    yield sliceBatch(all, at, Math.min(at + BATCH_ROWS, rowCount));
    await context.pace.turn();
  }
}

/** Sorts the rows, and says how they lie then. */
async function sorted(node: WindowNode, rows: HeldRows, context: ExecContext): Promise<Layout> {
  const { rowCount } = rows;
  const batch = await rows.joinedInTurns(context);
  const codesOf = async (items: WindowNode["orderBy"]): Promise<readonly Float64Array[]> => {
    const codes: Float64Array[] = [];
    for (const item of items) {
      const vector = new VectorEvaluator(item.expression, node.input.columns, context).vector(batch);
      codes.push(await inTurns(orderCodes(vector, item, rowCount), context));
      checkCancelled(context);
      await context.pace.turn();
    }
    return codes;
  };
  const partition = await codesOf(node.partitionBy);
  const peers = await codesOf(node.orderBy);
  const order = await inTurns(sortedOrder([...partition, ...peers], rowCount), context);
  const layout = await inTurns(layoutOf(partition, peers, order, rowCount), context);
  if (order !== undefined) rows.keep(order, rowCount);
  return layout;
}

/** Frames, computed once for all calls that share one. */
class FramesOfCalls {
  private readonly known = new Map<string, Frames>();
  private readonly node: WindowNode;
  private readonly layout: Layout;
  private readonly vectorOf: VectorOf;

  constructor(node: WindowNode, layout: Layout, vectorOf: VectorOf) {
    this.node = node;
    this.layout = layout;
    this.vectorOf = vectorOf;
  }

  of(call: Extract<WindowCall, { frame: unknown }>): Frames {
    const { frame } = call;
    const isByValue = frame.start.kind === "value" || frame.end.kind === "value";
    const key = isByValue ? undefined : JSON.stringify(frame);
    const known = key === undefined ? undefined : this.known.get(key);
    if (known !== undefined) return known;
    const frames = framesOf(frame, this.node.orderBy[0], this.layout, this.vectorOf);
    if (key !== undefined) this.known.set(key, frames);
    return frames;
  }
}

async function computed(
  call: WindowCall,
  framed: FramesOfCalls,
  layout: Layout,
  vectorOf: VectorOf,
  context: ExecContext,
): Promise<Vector> {
  switch (call.kind) {
    case "rank":
      return ranks(call.name, call.buckets, layout);
    case "shift":
      return shifted(call, layout, vectorOf);
    case "pick":
      return picks(call, framed.of(call), layout, vectorOf);
    case "anomaly": {
      const factors = call.factor === undefined ? undefined : vectorOf(call.factor);
      return scores(call.name, vectorOf(call.value), factors, framed.of(call), layout.rowCount);
    }
    case "aggregate": {
      const aggregate = call.call;
      const { filter } = aggregate;
      const kept = filter === undefined ? undefined : keptRows(filter, layout.rowCount, vectorOf);
      const input = { call: aggregate, args: aggregate.args.map(vectorOf), kept, rowCount: layout.rowCount };
      const frames = framed.of(call);
      await context.pace.turn();
      const keys = aggregate.orderBy.map((item) => vectorOf(item.expression));
      return folded(input, frames) ?? accumulated(input, keys, frames, context);
    }
  }
}
