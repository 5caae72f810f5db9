/**
 * States of the aggregates of one aggregation, all groups together: typed arrays by group for what generated loops compute, accumulators
 * by group for the rest.
 */
import { AssertionError, assert } from "../../../base/assert.ts";
import type { ColumnHeader } from "../../../column/batch.ts";
import { type DataType, formOf } from "../../../column/data-type.ts";
import type { DecimalType } from "../../../column/decimal.ts";
import type { Vector } from "../../../column/vector.ts";
import type { ColumnSummary } from "../../../table/scan.ts";
import { growth, type Reserve } from "../../function/aggregate/accumulator.ts";
import { sumOfType } from "../../function/aggregate/sums.ts";
import { checkedDecimal, decimalAverage } from "../../function/value/decimal.ts";
import { compareValues, type Present, type Value } from "../../function/value/value.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { AggregateState } from "./aggregate-state.ts";
import { DistinctState } from "./distinct-state.ts";
import { isOrderedBytes, TextExtremeStates } from "./text-extreme-states.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { FilterEvaluator, VectorEvaluator } from "../../expression/evaluator.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { FilteredState } from "./filtered-state.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { grown } from "../../../base/bytes/longer-array.ts";
import { addFloats, addIntegers, countSegments, type ExtremeState, keepExtreme, type SumState } from "../kernels/segment-loops.ts";
import { WideExtremes } from "../kernels/wide-extremes.ts";
import { sumWide } from "../kernels/wide-sums.ts";
import { addFloatRows, addIntegerRows, countRows, keepExtremeRows } from "../kernels/row-loops.ts";
import { resultOf, type RowAccumulator, rowAccumulator } from "../rows/row-accumulator.ts";
import { valueAt, valuesVector } from "../../expression/vector-values.ts";

/**
 * About what one accumulator object costs, bytes: its functions, what they share, an empty list; and the set of DISTINCT. Measured with
 * 200,000 of them: string_agg of one short text 475, count(DISTINCT) of one 827.
 */
export const ACCUMULATOR_BYTES = 430;
const DISTINCT_BYTES = 340;

/** What the object of a call costs. */
function accumulatorBytes({ distinct }: Pick<AggregateCall, "distinct">): number {
  return distinct ? ACCUMULATOR_BYTES + DISTINCT_BYTES : ACCUMULATOR_BYTES;
}

/** About what a number costs that is no double, by group, bytes. */
const LARGE_BYTES = 112;

/** The state for a call. */
export function stateFor(call: AggregateCall, headers: readonly ColumnHeader[], context: ExecContext): AggregateState {
  const [argument] = call.args;
  const { kernel } = call.function;
  if (call.filter !== undefined) {
    const plain = stateFor({ ...call, filter: undefined }, headers, context);
    return plain instanceof AccumulatorStates
      ? new AccumulatorStates(call, headers, context)
      : new FilteredState(plain, call, headers, context);
  }
  const plain = call.distinct && argument !== undefined ? stateOfDistinct(call, argument, headers, context) : undefined;
  if (plain !== undefined) return plain;
  const simple = !call.distinct && call.orderBy.length === 0;
  if (simple && kernel === "count" && call.args.length <= 1) {
    return new CountState(argument === undefined ? undefined : new VectorEvaluator(argument, headers, context));
  }
  const kind = argument?.type.kind;
  if (simple && argument !== undefined && (kind === "int" || kind === "float" || kind === "decimal")) {
    const evaluator = new VectorEvaluator(argument, headers, context);
    if (kernel === "sum" || kernel === "avg") return new SumStates(call, evaluator, argument.type, context);
    if (kernel === "min" || kernel === "max") return new ExtremeStates(call, evaluator, argument.type, context);
  }
  if (simple && argument !== undefined && (kind === "date" || kind === "time") && (kernel === "min" || kernel === "max")) {
    return new ExtremeStates(call, new VectorEvaluator(argument, headers, context), argument.type, context);
  }
  if (simple && argument !== undefined && isOrderedBytes(argument.type) && (kernel === "min" || kernel === "max")) {
    return new TextExtremeStates(kernel === "max", new VectorEvaluator(argument, headers, context), argument.type, context);
  }
  return new AccumulatorStates(call, headers, context);
}

/** The state of a call with DISTINCT whose rows may be given in any order; undefined for others. */
function stateOfDistinct(
  call: AggregateCall,
  argument: TypedExpression,
  headers: readonly ColumnHeader[],
  context: ExecContext,
): AggregateState | undefined {
  const { kernel } = call.function;
  if (call.orderBy.length > 0 || call.args.length > 1) return undefined;
  if (kernel !== "count" && kernel !== "sum" && kernel !== "avg" && kernel !== "min" && kernel !== "max") return undefined;
  const plain = stateFor({ ...call, distinct: false }, headers, context);
  if (plain instanceof AccumulatorStates) return undefined;
  // Of equal values one is as large as the other.
  return kernel === "min" || kernel === "max" ? plain : new DistinctState(plain, argument, headers, context);
}

class CountState implements AggregateState {
  private counts: Float64Array = new Float64Array(64);
  private readonly evaluator: VectorEvaluator | undefined;

  constructor(evaluator: VectorEvaluator | undefined) {
    this.evaluator = evaluator;
  }

  update(batch: ExecBatch, { starts, groups, count, rowGroups }: Segments, groupCount: number): void {
    this.counts = grown(this.counts, groupCount);
    const vector = this.evaluator?.vector(batch);
    const isByCode = vector?.kind === "dictionary" || vector?.kind === "coded";
    const validity = vector === undefined || isByCode ? undefined : vector.validity;
    const codes = isByCode ? vector.codes : undefined;
    if (rowGroups !== undefined) countRows(rowGroups, batch.rowCount, validity, codes, this.counts);
    else countSegments(starts, groups, count, validity, codes, this.counts);
  }

  addSummary(group: number, groupCount: number, rowCount: number, summary: ColumnSummary | undefined): void {
    this.counts = grown(this.counts, groupCount);
    this.counts[group] = (this.counts[group] as number) + (summary?.valueCount ?? rowCount);
  }

  vector(groupCount: number): Vector {
    this.counts = grown(this.counts, groupCount);
    return { kind: "number", values: this.counts.subarray(0, groupCount), validity: undefined };
  }
}

class SumStates implements AggregateState {
  private readonly state: SumState = { sums: new Float64Array(64), counts: new Float64Array(64), bounds: new Float64Array(64) };
  /** Parts of integer sums that left the exact range of doubles. */
  private readonly large = new Map<number, bigint>();
  private readonly call: AggregateCall;
  private readonly evaluator: VectorEvaluator;
  private readonly type: DataType;

  private readonly reserve: Reserve;

  constructor(call: AggregateCall, evaluator: VectorEvaluator, type: DataType, { budget }: ExecContext) {
    this.call = call;
    this.evaluator = evaluator;
    this.type = type;
    this.reserve = budget.reserve;
  }

  update(batch: ExecBatch, segments: Segments, groupCount: number): void {
    this.grow(groupCount);
    const vector = this.evaluator.vector(batch);
    const { starts, groups, count, rowGroups } = segments;
    const addRows = (group: number, from: number, to: number): void => this.addExactly(vector, group, from, to);
    if (vector.kind !== "number") {
      for (let s = 0; s < count; s++) addRows(groups[s] as number, starts[s] as number, starts[s + 1] as number);
      return;
    }
    const { values, validity } = vector;
    if (rowGroups !== undefined) {
      const add = this.type.kind === "float" ? addFloatRows : addIntegerRows;
      add(values, validity)(rowGroups, batch.rowCount, values, validity, this.state, addRows);
      return;
    }
    const add = this.type.kind === "float" ? addFloats : addIntegers;
    add(values, validity)(starts, groups, count, values, validity, this.state, addRows);
  }

  addSummary(group: number, groupCount: number, _: number, summary: ColumnSummary | undefined): void {
    assert(summary !== undefined, "a sum is of a column");
    if (summary.valueCount === 0) return;
    assert(summary.sum !== undefined, "the sum was asked for");
    this.grow(groupCount);
    const { sums, counts } = this.state;
    counts[group] = (counts[group] as number) + summary.valueCount;
    if (this.type.kind === "int") this.setLarge(group, (this.large.get(group) ?? 0n) + BigInt(summary.sum));
    else sums[group] = (sums[group] as number) + summary.sum;
  }

  private grow(groupCount: number): void {
    const { state } = this;
    state.sums = grown(state.sums, groupCount);
    state.counts = grown(state.counts, groupCount);
    state.bounds = grown(state.bounds, groupCount);
  }

  /** Adds rows exactly, and moves what the group has into the exact part. */
  private addExactly(vector: Vector, group: number, from: number, to: number): void {
    const { sums, counts, bounds } = this.state;
    let total = (this.large.get(group) ?? 0n) + BigInt(sums[group] as number);
    if (vector.kind === "wide") {
      const { sum, count } = sumWide(vector.values, vector.validity, from, to);
      total += sum;
      counts[group] = (counts[group] as number) + count;
    } else {
      for (let row = from; row < to; row++) {
        const value = valueAt(vector, this.type, row);
        if (value === undefined) continue;
        total += BigInt(value as number | bigint);
        counts[group] = (counts[group] as number) + 1;
      }
    }
    sums[group] = 0;
    bounds[group] = 0;
    this.setLarge(group, total);
  }

  private setLarge(group: number, total: bigint): void {
    if (!this.large.has(group)) this.reserve(LARGE_BYTES);
    this.large.set(group, total);
  }

  vector(groupCount: number): Vector {
    this.grow(groupCount);
    const { counts } = this.state;
    const { result } = this.call.type;
    if (this.type.kind === "decimal" && result.kind === "decimal")
      return valuesVector(result, this.decimals(groupCount, this.type, result));
    const values = this.call.function.kernel === "avg" ? this.averages(groupCount) : this.sums(groupCount);
    if (values instanceof Float64Array) return { kind: "number", values, validity: validityOf(counts, groupCount) };
    return valuesVector(result, values);
  }

  private decimals(groupCount: number, type: DecimalType, result: DecimalType): Value[] {
    const { sums, counts } = this.state;
    const values: Value[] = [];
    for (let g = 0; g < groupCount; g++) {
      const total = (this.large.get(g) ?? 0n) + BigInt(sums[g] as number);
      const count = counts[g] as number;
      if (count === 0) values.push(undefined);
      else values.push(this.call.function.kernel === "avg" ? decimalAverage(total, count, type, result) : checkedDecimal(total, result));
    }
    return values;
  }

  private averages(groupCount: number): Float64Array {
    const { sums, counts } = this.state;
    const values = new Float64Array(groupCount);
    for (let g = 0; g < groupCount; g++) {
      const large = this.large.get(g);
      const sum = large === undefined ? (sums[g] as number) : Number(large + BigInt(sums[g] as number));
      values[g] = sum / (counts[g] as number);
    }
    return values;
  }

  private sums(groupCount: number): Float64Array | Value[] {
    const { sums, counts } = this.state;
    if (this.large.size === 0) return sums.subarray(0, groupCount);
    const values: Value[] = [];
    for (let g = 0; g < groupCount; g++) {
      const total = (this.large.get(g) ?? 0n) + BigInt(sums[g] as number);
      values.push(counts[g] === 0 ? undefined : sumOfType(total, this.call.type.result));
    }
    return values;
  }
}

function validityOf(counts: Float64Array, groupCount: number): Uint8Array | undefined {
  const validity = new Uint8Array(groupCount);
  let nulls = false;
  for (let g = 0; g < groupCount; g++) {
    validity[g] = counts[g] === 0 ? 0 : 1;
    if (counts[g] === 0) nulls = true;
  }
  return nulls ? validity : undefined;
}

class ExtremeStates implements AggregateState {
  private readonly state: ExtremeState = { values: new Float64Array(64), counts: new Float64Array(64) };
  /** Extremes of batches with integers beyond ±2^53. */
  private readonly wide: WideExtremes;
  /** Those of values that come as bytes: decimals of more than 18 digits. */
  private readonly large = new Map<number, Present>();
  private readonly call: AggregateCall;
  private readonly evaluator: VectorEvaluator;
  private readonly type: DataType;
  private readonly sign: 1 | -1;

  private readonly reserve: Reserve;
  private readonly held: (bytes: number) => void;

  constructor(call: AggregateCall, evaluator: VectorEvaluator, type: DataType, { budget }: ExecContext) {
    this.call = call;
    this.evaluator = evaluator;
    this.type = type;
    this.reserve = budget.reserve;
    this.held = growth(budget.reserve);
    this.sign = call.function.kernel === "max" ? 1 : -1;
    this.wide = new WideExtremes(this.sign === 1, type.kind !== "int" || type.signed);
  }

  update(batch: ExecBatch, { starts, groups, count, rowGroups }: Segments, groupCount: number): void {
    this.state.values = grown(this.state.values, groupCount);
    this.state.counts = grown(this.state.counts, groupCount);
    const vector = this.evaluator.vector(batch);
    if (vector.kind === "number") {
      const { values, validity } = vector;
      const [isLargest, nothing] = [this.sign === 1, (): void => undefined];
      if (rowGroups === undefined) {
        keepExtreme(values, validity, isLargest)(starts, groups, count, values, validity, this.state, nothing);
      } else keepExtremeRows(values, validity, isLargest)(rowGroups, batch.rowCount, values, validity, this.state, nothing);
      return;
    }
    if (vector.kind === "wide") {
      this.wide.reach(groupCount);
      this.held(this.wide.bytesHeld);
      const words = new Int32Array(vector.values.buffer, vector.values.byteOffset, batch.rowCount * 2);
      if (rowGroups !== undefined) this.wide.add(words, vector.validity, 0, batch.rowCount, 0, rowGroups);
      else
        for (let s = 0; s < count; s++)
          this.wide.add(words, vector.validity, starts[s] as number, starts[s + 1] as number, groups[s] as number, undefined);
      return;
    }
    for (let s = 0; s < count; s++) {
      for (let row = starts[s] as number; row < (starts[s + 1] as number); row++)
        this.keep(groups[s] as number, valueAt(vector, this.type, row));
    }
  }

  addSummary(group: number, groupCount: number, _: number, summary: ColumnSummary | undefined): void {
    assert(summary !== undefined, "an extreme is of a column");
    if (summary.valueCount === 0) return;
    const { state } = this;
    state.values = grown(state.values, groupCount);
    state.counts = grown(state.counts, groupCount);
    const value = this.sign === 1 ? summary.max : summary.min;
    if (typeof value === "bigint") return this.keep(group, value);
    assert(typeof value === "number", `bounds of numbers are numbers; got ${typeof value}`);
    const isBetter = state.counts[group] === 0 || compareValues(value, state.values[group] as number) * this.sign > 0;
    if (isBetter) state.values[group] = value;
    state.counts[group] = (state.counts[group] as number) + summary.valueCount;
  }

  private keep(group: number, value: Value): void {
    if (value === undefined) return;
    const best = this.large.get(group);
    if (best !== undefined && compareValues(value, best) * this.sign <= 0) return;
    if (best === undefined) this.reserve(LARGE_BYTES);
    this.large.set(group, value);
  }

  vector(groupCount: number): Vector {
    const values = grown(this.state.values, groupCount);
    const counts = grown(this.state.counts, groupCount);
    if (this.large.size === 0 && this.wide.isEmpty && formOf(this.type) === "number")
      return { kind: "number", values: values.subarray(0, groupCount), validity: validityOf(counts, groupCount) };
    const merged: Value[] = [];
    for (let g = 0; g < groupCount; g++) {
      if (counts[g] !== 0) this.keep(g, values[g]);
      this.keep(g, this.wide.at(g));
      merged.push(this.large.get(g));
    }
    return valuesVector(this.call.type.result, merged);
  }
}

/** States that are objects, one a group. */
export class AccumulatorStates implements AggregateState {
  private readonly accumulators: (RowAccumulator | undefined)[] = [];
  private readonly call: AggregateCall;
  private readonly args: readonly VectorEvaluator[];
  private readonly keys: readonly VectorEvaluator[];
  private readonly filter: FilterEvaluator | undefined;
  private readonly context: ExecContext;

  constructor(call: AggregateCall, headers: readonly ColumnHeader[], context: ExecContext) {
    this.call = call;
    this.context = context;
    this.args = call.args.map((argument) => new VectorEvaluator(argument, headers, context));
    this.keys = call.orderBy.map((item) => new VectorEvaluator(item.expression, headers, context));
    this.filter = call.filter === undefined ? undefined : new FilterEvaluator(call.filter, headers, context);
  }

  update(batch: ExecBatch, { starts, groups, count }: Segments, groupCount: number): void {
    this.grow(groupCount);
    const args = this.args.map((evaluator, i) => reader(evaluator.vector(batch), this.call.args[i]?.type));
    const keys = this.keys.map((evaluator, i) => reader(evaluator.vector(batch), this.call.orderBy[i]?.expression.type));
    const passes = this.filter === undefined ? undefined : marked(this.filter.select(batch), batch.rowCount);
    for (let s = 0; s < count; s++) {
      const accumulator = this.accumulators[groups[s] as number];
      const end = starts[s + 1] as number;
      for (let row = starts[s] as number; row < end; row++) {
        if (passes !== undefined && passes[row] === 0) continue;
        accumulator?.add(
          args.map((read) => read(row)),
          keys.map((read) => read(row)),
        );
      }
    }
  }

  addSummary(): void {
    assert(false, `statistics of pages do not answer ${this.call.function.name}`);
  }

  private grow(groupCount: number): void {
    const { reserve } = this.context.budget;
    reserve(Math.max(0, groupCount - this.accumulators.length) * accumulatorBytes(this.call));
    while (this.accumulators.length < groupCount) this.accumulators.push(rowAccumulator(this.call, reserve));
  }

  vector(): Vector {
    throw new AssertionError("results of objects are taken some groups at a time, with turns for others");
  }

  /**
   * The results of groups `[from, to)`, whose states are let go: results of all groups at once would take as much again. Others have a turn
   * between groups, and within those whose result takes long. @throws DbError Cancelled
   */
  async take(from: number, to: number): Promise<Vector> {
    this.grow(to);
    const { context } = this;
    const values: Value[] = [];
    for (let group = from; group < to; group++) {
      const accumulator = this.accumulators[group];
      const result = accumulator === undefined ? undefined : resultOf(accumulator, context);
      values.push(result instanceof Promise ? await result : result);
      this.accumulators[group] = undefined;
      if (!context.pace.isDue()) continue;
      checkCancelled(context);
      await context.pace.turn();
    }
    return valuesVector(this.call.type.result, values);
  }
}

function reader(vector: Vector, type: DataType = { kind: "null" }): (row: number) => Value {
  return (row) => valueAt(vector, type, row);
}

function marked({ selection, count }: { readonly selection: Uint32Array; readonly count: number }, rowCount: number): Uint8Array {
  const marks = new Uint8Array(rowCount);
  for (let i = 0; i < count; i++) marks[selection[i] as number] = 1;
  return marks;
}
