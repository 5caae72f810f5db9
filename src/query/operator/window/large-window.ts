/**
 * Window calls over one partition that does not fit in memory: chunk by chunk, each call with what it needs of the rest.
 *
 *   ranks                  places of groups, and how many rows there are
 *   lag, first_value …     the values at positions that follow from places and frames
 *   aggregates             of frames that begin with the partition: one accumulator that goes on from chunk to chunk; so a frame of the
 *                          whole partition takes one pass more. Of others: the columns of the rows that the frames of a chunk hold, which
 *                          have to fit; chunks whose frames do not are halved
 *   anomaly scores         as aggregates; medians and quartiles need all values of a frame in memory
 */
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Vector } from "../../../column/vector.ts";
import { textBytes } from "../../function/aggregate/accumulator.ts";
import type { Value } from "../../function/value/value.ts";
import { columnsOf, type TypedExpression } from "../../expression/expression.ts";
import type { PlanNode } from "../contract/node.ts";
import type { WindowCall } from "./node.ts";
import { VectorEvaluator } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { concat } from "../kernels/concat.ts";
import { sliceBatch } from "../../../column/slice.ts";
import { resultOf, type RowAccumulator, rowAccumulator } from "../rows/row-accumulator.ts";
import { pieces } from "../rows/pieces.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";
import { accumulated } from "./accumulate.ts";
import { RunningScores, scores } from "./anomaly.ts";
import { NONE } from "./choose.ts";
import { folded } from "./fold.ts";
import { keptRows } from "./kept-rows.ts";
import type { Frames } from "./frames.ts";
import { type Chunk, chunksOf, LargeFrames } from "./large-frames.ts";
import type { LargePartition } from "./large-partition.ts";
import { LargeValues, PresentRows } from "./large-values.ts";
import { rankOf } from "./rank.ts";

type WindowNode = Extract<PlanNode, { kind: "window" }>;
type CallOf<K extends WindowCall["kind"]> = Extract<WindowCall, { kind: K }>;

/** Rows of a batch that comes out. */
const BATCH_ROWS = 8192;
/** Bytes of a row that frames hold, beside its values: what the loops over frames keep of it. */
const FRAME_ROW_BYTES = 96;

/** The values of a call for one chunk after the other. */
type LargeCall = (chunk: Chunk) => Promise<Vector>;

/** What all calls of a partition share. */
interface Large {
  readonly node: WindowNode;
  readonly partition: LargePartition;
  readonly context: ExecContext;
}

/** The rows of a partition with a column more for each call. @throws DbError RuntimeResourcesExhausted, Cancelled */
export async function* computedOverLarge(node: WindowNode, partition: LargePartition, context: ExecContext): AsyncGenerator<ExecBatch> {
  const large = { node, partition, context };
  const calls = node.calls.map((call) => largeCall(call, large));
  for await (const chunk of chunksOf(partition)) {
    const added: Vector[] = [];
    for (const call of calls) {
      checkCancelled(context);
      added.push(await call(chunk));
      await context.pace.turn();
    }
    yield* pieces({ rowCount: chunk.batch.rowCount, vectors: [...chunk.batch.vectors, ...added] }, BATCH_ROWS);
  }
}

function largeCall(call: WindowCall, large: Large): LargeCall {
  switch (call.kind) {
    case "rank":
      return (chunk) => ranksOf(call, chunk, large.partition);
    case "shift":
      return shifts(call, large);
    case "pick":
      return picks(call, large);
    case "anomaly":
      return call.name === "zscore" && call.frame.start.kind === "unbounded" ? runningScores(call, large) : framedScores(call, large);
    case "aggregate": {
      const { start, end } = call.frame;
      // An ordered aggregate sorts its rows when it is asked, so it can be asked once.
      const isAskedOften = call.call.orderBy.length > 0 && end.kind !== "unbounded";
      return start.kind === "unbounded" && !isAskedOften ? runningAggregate(call, large) : framedAggregate(call, large);
    }
  }
}

async function ranksOf({ name, buckets }: CallOf<"rank">, { from, groups }: Chunk, partition: LargePartition): Promise<Vector> {
  const starts = await partition.startsOf(groups);
  const ends = await partition.startsOf(groups.map((group) => group + 1));
  const values = new Float64Array(groups.length);
  for (let i = 0; i < values.length; i++) {
    values[i] = rankOf(name, from + i, starts[i] ?? 0, ends[i] ?? 0, groups[i] ?? 0, partition.rowCount, buckets);
  }
  return { kind: "number", values, validity: undefined };
}

function shifts(call: CallOf<"shift">, { partition, context }: Large): LargeCall {
  const values = new LargeValues(call.value, partition, context);
  const isNull = call.otherwise.kind === "literal" && call.otherwise.value === undefined;
  const otherwise = isNull ? undefined : new VectorEvaluator(call.otherwise, partition.columns, context);
  const { steps } = call;
  const placed = (at: number, count: number): number => (at >= 0 && at < count ? at : NONE);
  if (!call.ignoreNulls || steps === 0) {
    return ({ from, to, batch }) => {
      const source = Uint32Array.from({ length: to - from }, (_, i) => placed(from + i - steps, partition.rowCount));
      return values.at(source, otherwise?.vector(batch));
    };
  }
  const present = PresentOnce.of(call.value, partition, context);
  return async ({ from, to, batch }) => {
    const { rows, before } = await present.found();
    // Rows before this one that are not NULL, and with it.
    const counts = await before(Uint32Array.from({ length: to - from }, (_, i) => from + i + (steps > 0 ? 0 : 1)));
    const source = counts.map((count) => placed(steps > 0 ? count - steps : count - steps - 1, rows.count));
    return values.at(await rows.positions(source), otherwise?.vector(batch));
  };
}

function picks(call: CallOf<"pick">, { node, partition, context }: Large): LargeCall {
  const values = new LargeValues(call.value, partition, context);
  const frames = new LargeFrames(call.frame, node.orderBy[0], partition, context);
  const { nth } = call;
  const picked = (starts: Uint32Array, ends: Uint32Array): Uint32Array =>
    starts.map((from, i) => {
      const to = ends[i] ?? 0;
      const at = nth > 0 ? from + nth - 1 : to + nth;
      return at < from || at >= to ? NONE : at;
    });
  const present = call.ignoreNulls ? PresentOnce.of(call.value, partition, context) : undefined;
  return async (chunk) => {
    const { starts, ends } = await frames.of(chunk);
    if (present === undefined) return values.at(picked(starts, ends), undefined);
    const { rows, before, beforeEnd } = await present.found();
    return values.at(await rows.positions(picked(await before(starts), await beforeEnd(ends))), undefined);
  };
}

/** Rows that are not NULL, looked for when they are first needed. */
class PresentOnce {
  private readonly find: () => Promise<PresentRows>;
  private readonly chunkRows: number;
  private known: { rows: PresentRows; before: Counter; beforeEnd: Counter } | undefined;

  private constructor(find: () => Promise<PresentRows>, chunkRows: number) {
    this.find = find;
    this.chunkRows = chunkRows;
  }

  static of(value: TypedExpression, partition: LargePartition, context: ExecContext): PresentOnce {
    return new PresentOnce(() => PresentRows.find(value, partition, context), partition.chunkRows);
  }

  async found(): Promise<{ readonly rows: PresentRows; readonly before: Counter; readonly beforeEnd: Counter }> {
    if (this.known !== undefined) return this.known;
    const rows = await this.find();
    this.known = { rows, before: rows.counter(this.chunkRows), beforeEnd: rows.counter(this.chunkRows) };
    return this.known;
  }
}

type Counter = ReturnType<PresentRows["counter"]>;

/** Aggregates of frames that begin with the partition. */
function runningAggregate(call: CallOf<"aggregate">, { node, partition, context }: Large): LargeCall {
  const { call: aggregate } = call;
  const frames = new LargeFrames(call.frame, node.orderBy[0], partition, context);
  const keys = aggregate.orderBy.map(({ expression }) => expression);
  const accumulator: RowAccumulator = rowAccumulator(aggregate, context.budget.reserve);
  const feed = new Feed([...aggregate.args, ...keys], aggregate.filter, { node, partition, context }, (values) => {
    accumulator.add(values.slice(0, aggregate.args.length), values.slice(aggregate.args.length));
  });
  let result: Value;
  let isKnown = false;
  let bytesBefore = 0;
  return async (chunk) => {
    const { ends } = await frames.of(chunk);
    const results: Value[] = [];
    context.budget.release(bytesBefore); // the chunk before has gone
    bytesBefore = 0;
    for (const end of ends) {
      if (!isKnown || end > feed.end) {
        while (feed.end < end) {
          if (feed.giveTo(end)) continue;
          await feed.readOn();
        }
        const next = resultOf(accumulator, context);
        result = next instanceof Promise ? await next : next;
        isKnown = true;
      }
      results.push(result);
      const bytes = textBytes(result);
      context.budget.reserve(bytes);
      bytesBefore += bytes;
    }
    return valuesVector(aggregate.type.result, results);
  };
}

function runningScores(call: CallOf<"anomaly">, large: Large): LargeCall {
  const { node, partition, context } = large;
  const frames = new LargeFrames(call.frame, node.orderBy[0], partition, context);
  const own = new VectorEvaluator(call.value, partition.columns, context);
  const running = new RunningScores();
  const feed = new Feed([call.value], undefined, large, ([value]) => running.add(Number(value ?? Number.NaN)));
  return async (chunk) => {
    const { ends } = await frames.of(chunk);
    const values = own.vector(chunk.batch);
    const results: Value[] = [];
    for (const [i, end] of ends.entries()) {
      while (feed.end < end) {
        if (feed.giveTo(end)) continue;
        await feed.readOn();
      }
      results.push(running.score(Number(valueAt(values, call.value.type, i) ?? Number.NaN)));
    }
    return valuesVector(call.type, results);
  };
}

/** Gives the rows of a partition, one after the other, to whoever adds them up. */
class Feed {
  /** Rows that were given. */
  end = 0;
  private from = 0;
  private to = 0;
  private vectors: readonly Vector[] = [];
  private kept: Uint8Array | undefined;
  private readonly expressions: readonly TypedExpression[];
  private readonly evaluators: readonly VectorEvaluator[];
  private readonly filter: TypedExpression | undefined;
  private readonly needed: Set<number>;
  private readonly large: Large;
  private readonly take: (values: readonly Value[]) => void;

  constructor(
    expressions: readonly TypedExpression[],
    filter: TypedExpression | undefined,
    large: Large,
    take: (values: readonly Value[]) => void,
  ) {
    this.expressions = expressions;
    this.filter = filter;
    this.large = large;
    this.take = take;
    this.evaluators = expressions.map((expression) => new VectorEvaluator(expression, large.partition.columns, large.context));
    this.needed = new Set();
    for (const expression of [...expressions, ...(filter === undefined ? [] : [filter])]) columnsOf(expression, this.needed);
  }

  /** Gives the rows before `end` that are in memory; false when there are none. */
  giveTo(end: number): boolean {
    const until = Math.min(end, this.to);
    if (this.end >= until) return false;
    for (; this.end < until; this.end++) {
      const row = this.end - this.from;
      if (this.kept?.[row] === 0) continue;
      this.take(this.vectors.map((vector, i) => valueAt(vector, this.expressions[i]?.type ?? { kind: "null" }, row)));
    }
    return true;
  }

  async readOn(): Promise<void> {
    const { partition, context } = this.large;
    checkCancelled(context);
    await context.pace.turn();
    this.from = this.end;
    this.to = Math.min(partition.rowCount, this.from + partition.chunkRows);
    const batch = await partition.read(this.from, this.to, this.needed);
    this.vectors = this.evaluators.map((evaluator) => evaluator.vector(batch));
    const { filter } = this;
    this.kept =
      filter === undefined
        ? undefined
        : keptRows(filter, batch.rowCount, (expression) => new VectorEvaluator(expression, partition.columns, context).vector(batch));
  }
}

function framedAggregate(call: CallOf<"aggregate">, large: Large): LargeCall {
  const { call: aggregate } = call;
  const { node, partition, context } = large;
  const frames = new LargeFrames(call.frame, node.orderBy[0], partition, context);
  const keys = aggregate.orderBy.map(({ expression }) => expression);
  const filter = aggregate.filter === undefined ? [] : [aggregate.filter];
  const framed = new Framed(aggregate.function.name, [...aggregate.args, ...keys, ...filter], false, large, (batch, moved) => {
    const { rowCount } = batch;
    const vectorOf = (expression: TypedExpression): Vector => new VectorEvaluator(expression, partition.columns, context).vector(batch);
    const kept = aggregate.filter === undefined ? undefined : keptRows(aggregate.filter, rowCount, vectorOf);
    const input = { call: aggregate, args: aggregate.args.map(vectorOf), kept, rowCount };
    return folded(input, moved) ?? accumulated(input, keys.map(vectorOf), moved, context);
  });
  return async (chunk) => framed.values(chunk.from, await frames.of(chunk), aggregate.type.result);
}

function framedScores(call: CallOf<"anomaly">, large: Large): LargeCall {
  const { node, partition, context } = large;
  const frames = new LargeFrames(call.frame, node.orderBy[0], partition, context);
  const factor = call.factor === undefined ? [] : [call.factor];
  const framed = new Framed(`anomaly_score_${call.name}`, [call.value, ...factor], true, large, (batch, moved) => {
    const [value, factors] = [call.value, ...factor].map((each) => new VectorEvaluator(each, partition.columns, context).vector(batch));
    return scores(call.name, value ?? { kind: "number", values: new Float64Array(0), validity: undefined }, factors, moved, batch.rowCount);
  });
  return async (chunk) => framed.values(chunk.from, await frames.of(chunk), call.type);
}

/** Calls over frames whose rows are in memory, as many rows at a time as that allows. */
class Framed {
  private readonly name: string;
  private readonly needed: Set<number> = new Set();
  private readonly readsOwn: boolean;
  private readonly large: Large;
  private readonly compute: (batch: ExecBatch, frames: Frames) => Vector | Promise<Vector>;

  /**
   * @param readsOwn whether the result of a row hangs on its own values too
   * @param compute results for frames over a batch, as many as it has rows
   */
  constructor(
    name: string,
    expressions: readonly TypedExpression[],
    readsOwn: boolean,
    large: Large,
    compute: (batch: ExecBatch, frames: Frames) => Vector | Promise<Vector>,
  ) {
    this.name = name;
    for (const expression of expressions) columnsOf(expression, this.needed);
    this.readsOwn = readsOwn;
    this.large = large;
    this.compute = compute;
  }

  /** Results of the rows from `first` on, one a frame. */
  async values(first: number, { starts, ends }: Frames, type: WindowCall["type"]): Promise<Vector> {
    const { partition, context } = this.large;
    const count = starts.length;
    const [lowest, highest] = [starts[0] ?? 0, ends[count - 1] ?? 0];
    // Frames are as many as rows: a few rows more are read where frames hold fewer.
    let from = this.readsOwn ? Math.min(lowest, first) : lowest;
    const to = Math.min(partition.rowCount, Math.max(highest, this.readsOwn ? first + count : from + count));
    from = Math.min(from, to - count);
    const bytes = (to - from) * (FRAME_ROW_BYTES + partition.rowBytes(this.needed));
    if (count > 1 && !context.budget.fits(bytes)) {
      const half = count >>> 1;
      const left = await this.values(first, { starts: starts.subarray(0, half), ends: ends.subarray(0, half) }, type);
      const right = await this.values(first + half, { starts: starts.subarray(half), ends: ends.subarray(half) }, type);
      return concat(type, [
        { vector: left, rowCount: half },
        { vector: right, rowCount: count - half },
      ]);
    }
    if (bytes > context.budget.share) throw this.tooLarge(to - from);
    checkCancelled(context);
    const before = context.budget.used;
    context.budget.reserve(bytes);
    const place = this.readsOwn ? first - from : 0;
    const moved = framesAt(place, { starts, ends }, from, to - from);
    const all = await this.compute(await partition.read(from, to, this.needed), moved);
    context.budget.release(context.budget.used - before);
    return sliceBatch({ rowCount: to - from, vectors: [all] }, place, place + count).vectors[0] ?? all;
  }

  private tooLarge(rows: number): DbError {
    const { rowCount } = this.large.partition;
    return new DbError(
      StatusCode.RuntimeResourcesExhausted,
      `cannot run query: a frame of ${this.name}() OVER holds ${rows} rows of a partition of ${rowCount}, which do not fit in the memory ` +
        `that query.memory_limit allows; make the frame or the partitions smaller, begin the frame with the partition, or raise that limit`,
    );
  }
}

/** Frames for `rowCount` rows, counted from row `from`: those given from place `place` on, empty ones before and behind. */
function framesAt(place: number, { starts, ends }: Frames, from: number, rowCount: number): Frames {
  const [first = 0, last = 0] = [starts[0], ends.at(-1)];
  const moved = { starts: new Uint32Array(rowCount).fill(last - from), ends: new Uint32Array(rowCount).fill(last - from) };
  moved.starts.fill(first - from, 0, place);
  moved.ends.fill(first - from, 0, place);
  for (let i = 0; i < starts.length; i++) {
    moved.starts[place + i] = (starts[i] ?? 0) - from;
    moved.ends[place + i] = (ends[i] ?? 0) - from;
  }
  return moved;
}
