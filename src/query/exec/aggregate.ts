/** The aggregation operator: reads all its input, then gives one row a group, in batches. */
import type { ColumnHeader } from "../../column/batch.ts";
import { timeIndexOf } from "../../table/schema.ts";
import type { AggregateCall, PlanNode } from "../plan/node.ts";
import { type AggregateState, stateFor } from "./aggregate-states.ts";
import { VectorEvaluator } from "./evaluator.ts";
import { checkCancelled, type ExecBatch, type ExecContext } from "./exec-context.ts";
import { Grouper, type Segments } from "./grouper.ts";
import { timeColumn, WinnerColumn, type WinnerOrder, WinnerTracker } from "./winner-states.ts";

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** Bytes of state that one aggregate keeps for one group, about. */
const STATE_BYTES = 24;

/** The groups of `input`. */
export async function* aggregate(node: Aggregate, input: AsyncIterable<ExecBatch>, context: ExecContext): AsyncIterable<ExecBatch> {
  const headers = node.input.columns;
  const grouper = new Grouper(node.keys, node.table, headers, context);
  const winners = new Winners(timeIndexColumn(node));
  const states = node.aggregates.map((call) => winners.stateFor(call, headers, context) ?? stateFor(call, headers, context));
  let known = 0;
  for await (const batch of input) {
    checkCancelled(context);
    if (batch.rowCount === 0) continue;
    const segments = grouper.segments(batch);
    const { groupCount } = grouper;
    context.budget.reserve((groupCount - known) * STATE_BYTES * states.length);
    known = groupCount;
    winners.update(batch, segments, groupCount);
    for (const state of states) state.update(batch, segments, groupCount);
    await context.pace.turn();
  }
  const { groupCount } = grouper;
  if (groupCount === 0) return;
  const vectors = [...node.keys.map((_, i) => grouper.keyVector(i)), ...states.map((state) => state.vector(groupCount))];
  yield { rowCount: groupCount, vectors };
}

/** Position of the time index in the input, when the input is a table's scan. */
function timeIndexColumn(node: Aggregate): number | undefined {
  if (node.table === undefined) return undefined;
  const { name } = timeIndexOf(node.table.schema);
  const index = node.input.columns.findIndex((column) => column.name === name);
  return index < 0 ? undefined : index;
}

/** Aggregates that follow from which row of the group has the newest or oldest time. */
class Winners {
  private readonly trackers = new Map<string, WinnerTracker>();
  private readonly time: number | undefined;

  constructor(time: number | undefined) {
    this.time = time;
  }

  /** The state of a call when it is such an aggregate. */
  stateFor(call: AggregateCall, headers: readonly ColumnHeader[], context: ExecContext): AggregateState | undefined {
    const order = this.time === undefined || call.distinct || call.filter !== undefined ? undefined : this.orderOf(call);
    const [argument] = call.args;
    if (order === undefined || argument === undefined) return undefined;
    const key = `${order.newest} ${order.laterOfEqual}`;
    const tracker = this.trackers.get(key) ?? new WinnerTracker(order);
    this.trackers.set(key, tracker);
    if (call.function.kernel === "min" || call.function.kernel === "max") {
      return { update: () => undefined, vector: (groupCount) => tracker.times(call.type.result, groupCount) };
    }
    const evaluator = new VectorEvaluator(argument, headers, context);
    const column = new WinnerColumn(call.type.result);
    return {
      update: (batch, _, groupCount) => column.update(evaluator.vector(batch), tracker, groupCount),
      vector: (groupCount) => column.vector(groupCount),
    };
  }

  private orderOf(call: AggregateCall): WinnerOrder | undefined {
    const { kernel } = call.function;
    const isTime = (item: AggregateCall["args"][number] | undefined): boolean => item?.kind === "column" && item.index === this.time;
    if (kernel === "min" || kernel === "max")
      return isTime(call.args[0]) ? { newest: kernel === "max", laterOfEqual: kernel === "max" } : undefined;
    const [order] = call.orderBy;
    if ((kernel !== "first" && kernel !== "last") || call.orderBy.length !== 1 || !isTime(order?.expression)) return undefined;
    return { newest: (kernel === "last") !== order?.descending, laterOfEqual: kernel === "last" };
  }

  update(batch: ExecBatch, segments: Segments, groupCount: number): void {
    if (this.time === undefined || this.trackers.size === 0) return;
    const time = timeColumn(batch, this.time);
    for (const tracker of this.trackers.values()) tracker.update(time, segments, groupCount);
  }
}
