/** States of counts, sums and extremes of numbers: typed arrays by group, filled by generated loops. */
import { assert } from "../../../base/assert.ts";
import { grown } from "../../../base/bytes/longer-array.ts";
import { type DataType, formOf } from "../../../column/data-type.ts";
import { DECIMAL_DIGITS_MAX, type DecimalType } from "../../../column/decimal.ts";
import type { BytesVector, TimeVector, Vector, WideVector } from "../../../column/vector.ts";
import type { ColumnSummary } from "../../../table/scan.ts";
import type { VectorEvaluator } from "../../expression/evaluator.ts";
import { isTimeType, valueAt, valuesVector } from "../../expression/vector-values.ts";
import { growth, type Reserve } from "../../function/aggregate/accumulator.ts";
import { sumOfType } from "../../function/aggregate/sums.ts";
import { checkedDecimal, decimalAverage } from "../../function/value/decimal.ts";
import { compareValues, type Present, type Value } from "../../function/value/value.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import type { Segments } from "../group-keys/group-keys.ts";
import { writeLanes } from "../kernels/lanes.ts";
import { addFloatRows, addIntegerRows, countRows, keepExtremeRows } from "../kernels/row-loops.ts";
import { addFloats, addIntegers, countSegments, type ExtremeState, keepExtreme, type SumState } from "../kernels/segment-loops.ts";
import { WideExtremes } from "../kernels/wide-extremes.ts";
import { type SummedRows, WideSums } from "../kernels/wide-sums.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { AggregateState } from "./aggregate-state.ts";

/** About what a number costs that is no double, by group, bytes. */
const LARGE_BYTES = 112;

/** `count`. */
export class CountState implements AggregateState {
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

  adopt(state: AggregateState, groups: Uint32Array): void {
    assert(state instanceof CountState, "a count takes over a count");
    this.counts = pickedNumbers(state.counts, groups);
  }

  vector(groupCount: number): Vector {
    this.counts = grown(this.counts, groupCount);
    return { kind: "number", values: this.counts.subarray(0, groupCount), validity: undefined };
  }
}

/** `sum` and `avg` of numbers. */
export class SumStates implements AggregateState {
  private readonly state: SumState = { sums: new Float64Array(64), counts: new Float64Array(64), bounds: new Float64Array(64) };
  /** Parts of integer sums that left the exact range of doubles. */
  private readonly large = new Map<number, bigint>();
  /** Of batches with integers beyond ±2^53, or decimals of more than 18 digits. */
  private readonly wide = new WideSums();
  private readonly call: AggregateCall;
  private readonly evaluator: VectorEvaluator;
  private readonly type: DataType;

  private readonly reserve: Reserve;
  private readonly held: (bytes: number) => void;

  constructor(call: AggregateCall, evaluator: VectorEvaluator, type: DataType, { budget }: ExecContext) {
    this.call = call;
    this.evaluator = evaluator;
    this.type = type;
    this.reserve = budget.reserve;
    this.held = growth(budget.reserve);
  }

  update(batch: ExecBatch, segments: Segments, groupCount: number): void {
    this.grow(groupCount);
    const vector = this.evaluator.vector(batch);
    const { starts, groups, count, rowGroups } = segments;
    const addRows = (group: number, from: number, to: number): void => this.addExactly(vector, group, from, to);
    if (vector.kind === "wide" || (vector.kind === "bytes" && this.type.kind === "decimal")) {
      this.addWide(vector, batch.rowCount, segments, groupCount);
      return;
    }
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

  private addWide(
    vector: WideVector | BytesVector,
    rowCount: number,
    { starts, groups, count, rowGroups }: Segments,
    groupCount: number,
  ): void {
    const { wide } = this;
    const { counts } = this.state;
    wide.reach(groupCount);
    this.held(wide.bytesHeld);
    const add = (rows: SummedRows): void => {
      if (vector.kind === "wide") wide.addIntegers(vector, rows, counts);
      else wide.addDecimals(vector, rows, counts);
    };
    if (rowGroups !== undefined) return add({ from: 0, to: rowCount, group: 0, groups: rowGroups });
    for (let s = 0; s < count; s++) {
      add({ from: starts[s] as number, to: starts[s + 1] as number, group: groups[s] as number, groups: undefined });
    }
  }

  /** All parts of a group's sum of integers together. */
  private totalOf(group: number): bigint {
    return (this.large.get(group) ?? 0n) + (this.wide.isEmpty ? 0n : this.wide.at(group)) + BigInt(this.state.sums[group] as number);
  }

  /** Adds rows one by one with bigints, and moves what the group has into the exact part. */
  private addExactly(vector: Vector, group: number, from: number, to: number): void {
    const { sums, counts, bounds } = this.state;
    let total = (this.large.get(group) ?? 0n) + BigInt(sums[group] as number);
    for (let row = from; row < to; row++) {
      const value = valueAt(vector, this.type, row);
      if (value === undefined) continue;
      total += BigInt(value as number | bigint);
      counts[group] = (counts[group] as number) + 1;
    }
    sums[group] = 0;
    bounds[group] = 0;
    this.setLarge(group, total);
  }

  private setLarge(group: number, total: bigint): void {
    if (!this.large.has(group)) this.reserve(LARGE_BYTES);
    this.large.set(group, total);
  }

  adopt(state: AggregateState, groups: Uint32Array): void {
    assert(state instanceof SumStates, "a sum takes over a sum");
    const { sums, counts, bounds } = state.state;
    this.state.sums = pickedNumbers(sums, groups);
    this.state.counts = pickedNumbers(counts, groups);
    this.state.bounds = pickedNumbers(bounds, groups);
    this.wide.adopt(state.wide, groups);
    if (state.large.size === 0) return;
    for (let g = 0; g < groups.length; g++) {
      const total = state.large.get(groups[g] as number);
      if (total !== undefined) this.setLarge(g, total);
    }
  }

  vector(groupCount: number): Vector {
    this.grow(groupCount);
    const { counts } = this.state;
    const { result } = this.call.type;
    if (this.type.kind === "decimal" && result.kind === "decimal") {
      const isPlain = this.call.function.kernel === "sum" && result.precision === DECIMAL_DIGITS_MAX && this.large.size === 0;
      const plain = isPlain ? this.wide.decimals(this.state.sums, counts, groupCount) : undefined;
      return plain ?? valuesVector(result, this.decimals(groupCount, this.type, result));
    }
    const values = this.call.function.kernel === "avg" ? this.averages(groupCount) : this.sums(groupCount);
    if (values instanceof Float64Array) return { kind: "number", values, validity: validityOf(counts, groupCount) };
    return valuesVector(result, values);
  }

  private decimals(groupCount: number, type: DecimalType, result: DecimalType): Value[] {
    const { counts } = this.state;
    const values: Value[] = [];
    for (let g = 0; g < groupCount; g++) {
      const total = this.totalOf(g);
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
      const isPlain = this.wide.isEmpty && !this.large.has(g);
      const sum = isPlain ? (sums[g] as number) : Number(this.totalOf(g));
      values[g] = sum / (counts[g] as number);
    }
    return values;
  }

  private sums(groupCount: number): Float64Array | Value[] {
    const { sums, counts } = this.state;
    if (this.large.size === 0 && this.wide.isEmpty) return sums.subarray(0, groupCount);
    const values: Value[] = [];
    for (let g = 0; g < groupCount; g++) values.push(counts[g] === 0 ? undefined : sumOfType(this.totalOf(g), this.call.type.result));
    return values;
  }
}

/** The numbers of `groups`, in an array that may grow. */
function pickedNumbers(numbers: Float64Array, groups: Uint32Array): Float64Array {
  const picked = new Float64Array(groups.length);
  for (let g = 0; g < groups.length; g++) picked[g] = numbers[groups[g] as number] ?? 0;
  return picked;
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

function wordsOf({ values }: WideVector, rowCount: number): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, rowCount * 2);
}

/** Absolute times as words. */
function wordsOfTimes(vector: TimeVector, rowCount: number): Int32Array {
  const words = new Int32Array(rowCount * 2);
  writeLanes(vector, { kind: "times", width: 2, isSigned: true }, rowCount, words, 0, 2);
  return words;
}

/** `min` and `max` of what lies in numbers, and of times. */
export class ExtremeStates implements AggregateState {
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
    if (vector.kind === "wide" || vector.kind === "time") {
      this.wide.reach(groupCount);
      this.held(this.wide.bytesHeld);
      const words = vector.kind === "time" ? wordsOfTimes(vector, batch.rowCount) : wordsOf(vector, batch.rowCount);
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

  adopt(state: AggregateState, groups: Uint32Array): void {
    assert(state instanceof ExtremeStates, "an extreme takes over an extreme");
    this.state.values = pickedNumbers(state.state.values, groups);
    this.state.counts = pickedNumbers(state.state.counts, groups);
    if (state.large.size === 0 && state.wide.isEmpty) return;
    for (let g = 0; g < groups.length; g++) {
      const group = groups[g] as number;
      this.keep(g, state.large.get(group));
      this.keep(g, state.wide.at(group));
    }
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
      const best = this.large.get(g);
      merged.push(typeof best === "number" && isTimeType(this.type) ? BigInt(best) : best);
    }
    return valuesVector(this.call.type.result, merged);
  }
}
