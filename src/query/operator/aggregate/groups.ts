/** Groups of an aggregation that are held in one table, and their states. */
import { assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import type { Vector } from "../../../column/vector.ts";
import type { RowsSummary } from "../../../table/scan.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { PlanNode } from "../contract/node.ts";
import type { AggregateState } from "./aggregate-state.ts";
import { ACCUMULATOR_BYTES, AccumulatorStates, stateFor } from "./aggregate-states.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { HeldGroups } from "./grouped-in-parts.ts";
import { GroupKeys, NO_GROUP, type Segments } from "../group-keys/group-keys.ts";
import { gatherBatch } from "../rows/held-rows.ts";
import { gatherRuns } from "../kernels/gather.ts";
import { sliceBatch } from "../../../column/slice.ts";
import type { Partitions } from "../spill/partitions.ts";
import { WinnerColumn } from "./winner-column.ts";
import { timeColumn, type WinnerOrder, WinnerTracker } from "./winner-states.ts";

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** Bytes of state that one aggregate keeps for one group, about; more where it is an object. */
const STATE_BYTES = 24;
/** Rows that are taken before others get a turn: as many as scans give; fewer where states are objects. */
const PIECE_ROWS = 65_536;
const OBJECT_ROWS = 16_384;
/** Bytes that a group takes among the keys, and each of its keys. */
const GROUP_BYTES = 32;
const KEY_BYTES = 96;
/** Groups of a batch of the answer. Reason: printing a batch holds the thread, 24,000 rows of eleven columns for 40 ms. */
const ANSWER_ROWS = 4096;

/** How groups are held and given out. */
export interface GroupsOptions {
  readonly isPart?: boolean;
  readonly needed?: ReadonlySet<number> | undefined;
}

/** See the file header. */
export class Groups implements HeldGroups {
  readonly keys: GroupKeys;
  private readonly node: Aggregate;
  private readonly context: ExecContext;
  private readonly winners: Winners;
  readonly states: readonly AggregateState[];
  /** Columns that the reader looks at; undefined: all. */
  readonly needed: ReadonlySet<number> | undefined;
  private known = 0;

  /** @param options whether it is one of many tables, and which columns the reader looks at */
  constructor(node: Aggregate, context: ExecContext, { isPart = false, needed }: GroupsOptions = {}) {
    const headers = node.input.columns;
    this.node = node;
    this.context = context;
    this.needed = needed;
    this.keys = new GroupKeys(node.keys, node.table, headers, context, isPart);
    const winners = new Winners(timeIndexColumn(node));
    this.winners = winners;
    this.states = node.aggregates.map((call) => winners.stateFor(call, headers, context) ?? stateFor(call, headers, context));
  }

  get count(): number {
    return this.keys.groupCount;
  }

  /** Rows that are taken at a time. */
  get rowsAtOnce(): number {
    return this.objects === 0 ? PIECE_ROWS : OBJECT_ROWS;
  }

  private get objects(): number {
    return this.states.filter((state) => state instanceof AccumulatorStates).length;
  }

  /** Bytes that a new group takes, about. */
  get rowBytes(): number {
    const { objects } = this;
    const { keys, aggregates } = this.node;
    return GROUP_BYTES + keys.length * KEY_BYTES + aggregates.length * STATE_BYTES + objects * ACCUMULATOR_BYTES;
  }

  /** Takes the rows of a batch. */
  add(batch: ExecBatch): undefined {
    if (batch.rowCount === 0) return;
    if (batch.summary === undefined) this.update(batch, this.keys.segments(batch));
    else this.addSummary(batch, batch.summary);
  }

  /** Takes the rows of groups that are held, and copies all others to their partitions. */
  async addKnown(batch: ExecBatch, others: Partitions): Promise<void> {
    const { summary } = batch;
    const looked = this.keys.lookUp(summary === undefined ? batch : endsOf(this.node, batch, summary));
    if (summary !== undefined) {
      if (looked.groups[0] === NO_GROUP) await others.addWhole(batch, looked.hashesOf(Uint32Array.of(0))[0] ?? 0);
      else this.addSummary(batch, summary);
      return;
    }
    const [held, rest] = split(looked.groups);
    if (held.length > 0) this.update(gatherBatch(batch, held, held.length), segmentsOf(looked.groups, held));
    if (rest.length === 0) return;
    const runs = batch.runs === undefined ? undefined : gatherRuns(batch.runs, rest, rest.length);
    await others.add({ ...gatherBatch(batch, rest, rest.length), runs }, looked.hashesOf(rest));
  }

  /** Takes the rows of groups that are held; gives the positions of all others, ascending. */
  takeKnown(batch: ExecBatch): Uint32Array {
    const { groups } = this.keys.lookUp(batch);
    const [held, rest] = split(groups);
    if (held.length > 0) this.update(gatherBatch(batch, held, held.length), segmentsOf(groups, held));
    return rest;
  }

  /** Begins with some groups of another table, in the order given. @param batch their keys, a row each */
  adopt(batch: ExecBatch, from: Groups, groups: Uint32Array): void {
    if (groups.length === 0) return;
    const { groupCount } = this.keys;
    this.keys.segments(batch);
    assert(groupCount === 0 && this.count === groups.length, `each row is a new group; got ${this.count} of ${groups.length}`);
    this.context.budget.reserve(groups.length * STATE_BYTES * this.states.length);
    this.known = groups.length;
    for (const [i, state] of this.states.entries()) {
      const other = from.states[i];
      if (other !== undefined) state.adopt?.(other, groups);
    }
  }

  /** Takes rows of groups that are known. */
  update(batch: ExecBatch, segments: Segments): void {
    const { groupCount } = this.keys;
    this.context.budget.reserve((groupCount - this.known) * STATE_BYTES * this.states.length);
    this.known = groupCount;
    this.winners.update(batch, segments, groupCount);
    for (const state of this.states) state.update(batch, segments, groupCount);
  }

  /** Adds rows of which there are statistics alone. Their first and last time stand for them where groups and times are found. */
  addSummary(batch: ExecBatch, summary: RowsSummary): void {
    const { node, keys, winners } = this;
    const ends = endsOf(node, batch, summary);
    const segments = keys.segments(ends);
    assert(segments.count === 1, `rows of a summary are of one group; got ${segments.count}`);
    const { groupCount } = keys;
    const group = segments.groups[0] ?? 0;
    winners.update(ends, segments, groupCount);
    const names = node.input.kind === "scan" ? (node.input.request.summaries?.columns ?? []) : [];
    for (const [i, state] of this.states.entries()) {
      const [argument] = node.aggregates[i]?.args ?? [];
      const at = argument?.kind === "column" ? names.findIndex(({ column }) => column === argument.name) : -1;
      state.addSummary(group, groupCount, batch.rowCount, summary.columns[at]);
    }
  }

  /** One row a group, some thousand at a time. */
  async *batches(): AsyncGenerator<ExecBatch> {
    const { node, count, context, needed } = this;
    const results: (Vector | AccumulatorStates)[] = [];
    for (const state of this.states) {
      checkCancelled(context);
      results.push(state instanceof AccumulatorStates ? state : state.vector(count));
      await context.pace.turn();
    }
    for (let from = 0; from < count; from += ANSWER_ROWS) {
      checkCancelled(context);
      const to = Math.min(count, from + ANSWER_ROWS);
      // Keys that nobody reads need not leave their table: of 5M integers above 2^53 they are a tenth of the work.
      const keys = node.keys.map((_, i) => (needed?.has(i) === false ? nullVector(to - from) : this.keys.keyVector(i, from, to)));
      const values: Vector[] = [];
      for (const result of results) {
        if (result instanceof AccumulatorStates) values.push(await result.take(from, to));
        else values.push(...sliceBatch({ rowCount: count, vectors: [result] }, from, to).vectors);
      }
      yield { rowCount: to - from, vectors: [...keys, ...values] };
      await context.pace.turn();
    }
  }
}

/** NULL in each row, of any type. */
function nullVector(rowCount: number): Vector {
  return { kind: "dictionary", codes: new Uint32Array(rowCount), dictionary: [undefined] };
}

/** Two rows at the ends of the times of rows that come as statistics. */
function endsOf(node: Aggregate, batch: ExecBatch, { minTime, maxTime }: RowsSummary): ExecBatch {
  const times: Vector = { kind: "time", base: minTime, offsets: Float64Array.of(0, Number(maxTime - minTime)), validity: undefined };
  const series = batch.runs?.series[0] ?? 0;
  return {
    rowCount: 2,
    vectors: node.input.columns.map(() => times),
    runs: { starts: Uint32Array.of(0, 2), series: Uint32Array.of(series) },
  };
}

/** Positions of the rows with a group, and of those without. */
function split(ids: Int32Array): readonly [Uint32Array, Uint32Array] {
  const order = new Uint32Array(ids.length);
  let [from, to] = [0, ids.length];
  for (let row = 0; row < ids.length; row++) if (ids[row] !== NO_GROUP) order[from++] = row;
  for (let row = ids.length - 1; row >= 0; row--) if (ids[row] === NO_GROUP) order[--to] = row;
  return [order.subarray(0, from), order.subarray(from)];
}

/** Segments of gathered rows: `ids[rows[i]]` is the group of row i. */
function segmentsOf(ids: Int32Array, rows: Uint32Array): Segments {
  const starts = new Uint32Array(rows.length + 1);
  const groups = new Uint32Array(rows.length);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const group = ids[rows[i] as number] as number;
    if (count > 0 && groups[count - 1] === group) continue;
    starts[count] = i;
    groups[count++] = group;
  }
  starts[count] = rows.length;
  return { count, starts, groups, ascending: false };
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
      // The tracker is told of every batch, statistics included.
      return { update: () => undefined, addSummary: () => undefined, vector: (groupCount) => tracker.times(call.type.result, groupCount) };
    }
    const evaluator = new VectorEvaluator(argument, headers, context);
    const column = new WinnerColumn(call.type.result, context.budget.reserve);
    return {
      addSummary: () => assert(false, `statistics of pages do not answer ${call.function.name}`),
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
