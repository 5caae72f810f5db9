/** The aggregation operator: reads all its input, then gives one row a group, in batches. */
import { assert } from "../../base/assert.ts";
import type { ColumnHeader } from "../../column/batch.ts";
import type { Vector } from "../../column/vector.ts";
import type { RowsSummary } from "../../table/scan.ts";
import { timeIndexOf } from "../../table/schema.ts";
import type { AggregateCall, PlanNode } from "../plan/node.ts";
import type { AggregateState } from "./aggregate-state.ts";
import { stateFor } from "./aggregate-states.ts";
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
    if (batch.summary !== undefined) {
      addSummary(node, batch, batch.summary, { grouper, winners, states });
      continue;
    }
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

/** What an aggregation keeps. */
interface Groups {
  readonly grouper: Grouper;
  readonly winners: Winners;
  readonly states: readonly AggregateState[];
}

/** Adds rows of which there are figures alone. Their first and last time stand for them where groups and times are found. */
function addSummary(node: Aggregate, batch: ExecBatch, summary: RowsSummary, { grouper, winners, states }: Groups): void {
  const { minTime, maxTime, columns } = summary;
  const times: Vector = { kind: "time", base: minTime, offsets: Float64Array.of(0, Number(maxTime - minTime)), validity: undefined };
  const series = batch.runs?.series[0] ?? 0;
  const ends: ExecBatch = {
    rowCount: 2,
    vectors: node.input.columns.map(() => times),
    runs: { starts: Uint32Array.of(0, 2), series: Uint32Array.of(series) },
  };
  const segments = grouper.segments(ends);
  assert(segments.count === 1, `rows of a summary are of one group; got ${segments.count}`);
  const { groupCount } = grouper;
  const group = segments.groups[0] ?? 0;
  winners.update(ends, segments, groupCount);
  const names = node.input.kind === "scan" ? (node.input.request.summaries?.columns ?? []) : [];
  for (const [i, state] of states.entries()) {
    const [argument] = node.aggregates[i]?.args ?? [];
    const at = argument?.kind === "column" ? names.findIndex(({ column }) => column === argument.name) : -1;
    state.addSummary(group, groupCount, batch.rowCount, columns[at]);
  }
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
      // The tracker is told of every batch, figures included.
      return { update: () => undefined, addSummary: () => undefined, vector: (groupCount) => tracker.times(call.type.result, groupCount) };
    }
    const evaluator = new VectorEvaluator(argument, headers, context);
    const column = new WinnerColumn(call.type.result);
    return {
      addSummary: () => assert(false, `figures of pages do not answer ${call.function.name}`),
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
