/**
 * An aggregation in two steps: parts of the rows are grouped apart, each group gives a row of columns that can be put together, and those
 * rows are grouped again by the same keys.
 *
 *   count → sum of counts      sum → sum of sums      avg → sum and count, divided in the end      min, max, bool_and, bit_or … → the same
 *   hll → hll_merge            first_value(x ORDER BY time) → the value and its time, the first of the firsts
 *   stddev, variance → count, mean and variance
 *
 * Integers and decimals give the same answer to the digit. Sums of floats add in another order: equal to about 1e-12, and the same each
 * time, since parts are put together in their order.
 */
import type { ColumnHeader } from "../../../column/batch.ts";
import { BOOLEAN, type DataType, FLOAT64, INT64 } from "../../../column/data-type.ts";
import { scalarAt } from "../../../column/scalar.ts";
import type { Vector } from "../../../column/vector.ts";
import { timeIndexOf } from "../../../table/schema.ts";
import { aggregateNamed, anyAggregateNamed } from "../../function/aggregate/registry.ts";
import { REGRESSIONS } from "../../function/aggregate/regression.ts";
import { EXACT_SUM, VARIANCES } from "../../function/aggregate/sums.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { GroupKey } from "../aggregate/node.ts";
import type { PlanNode } from "../contract/node.ts";

type Aggregate = Extract<PlanNode, { kind: "aggregate" }>;

/** See the file header. */
export interface TwoPhases {
  /** Over the same input. */
  readonly partial: Aggregate;
  /** Over the rows of `partial`, its input yet to be put in. */
  readonly keys: readonly GroupKey[];
  readonly merges: readonly AggregateCall[];
  readonly columns: readonly ColumnHeader[];
  /** The columns of the aggregation from those of the merge. */
  finish(vectors: readonly Vector[], rowCount: number): readonly Vector[];
}

/** One call in two steps: what parts give, how it is put together, and which columns of the merge make the result. */
interface Step {
  readonly partials: readonly AggregateCall[];
  /** `columns[i]` reads the i-th partial. */
  readonly merges: (columns: readonly TypedExpression[]) => readonly AggregateCall[];
  readonly isAverage: boolean;
}

/** The steps of an aggregation, or undefined when a call has none. */
export function twoPhases(node: Aggregate): TwoPhases | undefined {
  const steps: Step[] = [];
  for (const call of node.aggregates) {
    const step = stepOf(call, node);
    if (step === undefined) return undefined;
    steps.push(step);
  }
  const keyCount = node.keys.length;
  const calls = steps.flatMap(({ partials }) => partials);
  const keyHeaders = node.columns.slice(0, keyCount);
  const headers = [...keyHeaders, ...calls.map((call, i) => ({ name: `partial ${i}`, type: call.type.result }))];
  const columnAt = (index: number): TypedExpression => {
    const { name, type } = headers[index] ?? { name: "", type: { kind: "null" } as const };
    return { kind: "column", type, index, name };
  };
  const keys = node.keys.map((key, i): GroupKey => ({ kind: "row", type: key.type, expression: { ...columnAt(i), type: key.type } }));
  const merges: AggregateCall[] = [];
  const places: { readonly at: number; readonly isAverage: boolean }[] = [];
  let column = keyCount;
  for (const { partials, merges: mergesOf, isAverage } of steps) {
    places.push({ at: keyCount + merges.length, isAverage });
    const first = column;
    merges.push(...mergesOf(partials.map((_, i) => columnAt(first + i))));
    column += partials.length;
  }
  return {
    partial: { ...node, columns: headers, aggregates: calls },
    keys,
    merges,
    columns: [...keyHeaders, ...merges.map((call, i) => ({ name: `merged ${i}`, type: call.type.result }))],
    finish: (vectors, rowCount) => [
      ...vectors.slice(0, keyCount),
      ...places.flatMap(({ at, isAverage }) => {
        const [sum, count] = [vectors[at], vectors[at + 1]];
        return isAverage && sum !== undefined && count !== undefined
          ? quotients(sum, merges[at - keyCount]?.type.result ?? INT64, count, rowCount)
          : (sum ?? []);
      }),
    ],
  };
}

type Form = (call: AggregateCall, node: Aggregate) => Step | undefined;

/** Parts of the result that another aggregate puts together, or the same one. */
const by =
  (merge: string): Form =>
  (call) =>
    simple(call, merge);

const ALL_VALUES = "it needs all values";
const ORDERED = "the order of all values counts";
const MOMENTS = "its moments have no aggregate of their own";
const SKETCH = "its sketch has no bytes";

/**
 * How each aggregate goes in two steps: what parts give are ordinary columns, so that they travel as any rows do (`row-bytes.ts`). A text
 * says why there is no such form; then rows come to where they are grouped.
 */
export const PARTIAL_FORMS: Readonly<Record<string, Form | string>> = {
  count: by("sum"),
  count_if: by("sum"),
  countif: by("sum"),
  sum: sumStep,
  avg: averageStep,
  mean: averageStep,
  min: by("min"),
  max: by("max"),
  any_value: by("min"),
  arbitrary: by("min"),
  first_value: endStep,
  last_value: endStep,
  bool_and: by("bool_and"),
  every: by("bool_and"),
  bool_or: by("bool_or"),
  bit_and: by("bit_and"),
  bit_or: by("bit_or"),
  bit_xor: by("bit_xor"),
  hll: by("hll_merge"),
  hll_merge: by("hll_merge"),
  ...Object.fromEntries(Object.keys(VARIANCES).map((name) => [name, varianceStep] as const)),
  ...Object.fromEntries([...Object.keys(REGRESSIONS), "covar", "covar_samp", "covar_pop", "corr"].map((name) => [name, MOMENTS] as const)),
  approx_median: SKETCH,
  approx_percentile_cont: SKETCH,
  approx_percentile_cont_with_weight: SKETCH,
  uddsketch_state: "its constants would have to be those of each part",
  uddsketch_merge: "its constants would have to be those of each part",
  median: ALL_VALUES,
  percentile_cont: ALL_VALUES,
  quantile_cont: ALL_VALUES,
  mode: ALL_VALUES,
  approx_distinct: ALL_VALUES,
  count_hash: ALL_VALUES,
  vec_sum: "a part without vectors gives NULL, and sums of floats add in another order",
  vec_product: "a part without vectors gives NULL, and products of floats round in another order",
  vec_avg: "its count has no column",
  array_agg: ORDERED,
  json_agg: ORDERED,
  jsonb_agg: ORDERED,
  json_object_agg: ORDERED,
  jsonb_object_agg: ORDERED,
  nth_value: ORDERED,
  string_agg: ORDERED,
  group_concat: ORDERED,
  geo_path: ORDERED,
  json_encode_path: ORDERED,
  ...Object.fromEntries(
    ["arg_max", "max_by", "argmax", "arg_min", "min_by", "argmin"].map((name) => [name, "what it was picked by has no column"] as const),
  ),
};

/** The steps of a call; undefined where it has none. DISTINCT goes as two groupings (`../../plan/rules/distinct-by-groups.ts`). */
function stepOf(call: AggregateCall, node: Aggregate): Step | undefined {
  const form = PARTIAL_FORMS[call.function.name];
  if (call.distinct || typeof form !== "function" || (call.orderBy.length > 0 && form !== endStep)) return undefined;
  return form(call, node);
}

function simple(call: AggregateCall, merge: string): Step | undefined {
  const { result } = call.type;
  const made = named(merge);
  if (made === undefined) return undefined;
  return {
    partials: [call],
    merges: (columns) => [{ function: made, type: { args: [result], result }, args: columns, ...PLAIN }],
    isAverage: false,
  };
}

/** A part of a sum of integers may be beyond 64 bits where the whole is not. */
function sumStep(call: AggregateCall): Step | undefined {
  const { result } = call.type;
  if (result.kind === "duration") return undefined;
  if (result.kind !== "int") return simple(call, "sum");
  const part = { ...call, type: { ...call.type, result: EXACT_SUM } };
  return {
    partials: [part],
    merges: (columns) => [{ function: call.function, type: { args: [EXACT_SUM], result }, args: columns, ...PLAIN }],
    isAverage: false,
  };
}

const PLAIN = { distinct: false, orderBy: [], filter: undefined } as const;

function named(name: string): AggregateCall["function"] | undefined {
  return aggregateNamed(name);
}

/** Decimals round their average in a way of their own. */
function averageStep(call: AggregateCall): Step | undefined {
  const [sum, count] = [named("sum"), named("count")];
  const { args } = call.type;
  const sumType = sum?.resolve(args);
  if (sum === undefined || count === undefined || sumType === undefined || call.type.result.kind !== "float") return undefined;
  const result = args[0]?.kind === "int" ? EXACT_SUM : sumType.result;
  return {
    partials: [
      { ...call, function: sum, type: { ...sumType, result } },
      { ...call, function: count, type: { args, result: INT64 } },
    ],
    merges: ([sums, counts]) => [
      { function: sum, type: { args: [result], result }, args: sums === undefined ? [] : [sums], ...PLAIN },
      { function: sum, type: { args: [INT64], result: INT64 }, args: counts === undefined ? [] : [counts], ...PLAIN },
    ],
    isAverage: true,
  };
}

/** Count, mean and variance of each part. */
function varianceStep(call: AggregateCall): Step | undefined {
  const [count, mean, spread] = [named("count"), named("avg"), named("var_pop")];
  const merge = anyAggregateNamed(`${call.function.name} of parts`);
  const { args } = call.type;
  if (merge === undefined || count === undefined || mean === undefined || spread === undefined) return undefined;
  const types = [INT64, FLOAT64, FLOAT64];
  return {
    partials: [count, mean, spread].map((made, i) => ({ ...call, function: made, type: { args, result: types[i] ?? FLOAT64 } })),
    merges: (columns) => [{ function: merge, type: { args: types, result: call.type.result }, args: columns, ...PLAIN }],
    isAverage: false,
  };
}

/** The first or last value by the time index alone: its time goes with it. */
function endStep(call: AggregateCall, node: Aggregate): Step | undefined {
  const [order] = call.orderBy;
  if (call.orderBy.length !== 1 || order?.expression.kind !== "column" || node.table === undefined || call.filter !== undefined) {
    return undefined;
  }
  const time = order.expression;
  if (time.name !== timeIndexOf(node.table.schema).name || node.input.columns[time.index]?.name !== time.name) return undefined;
  const isNewest = (call.function.kernel === "last") !== order.descending;
  const extreme = named(isNewest ? "max" : "min");
  if (extreme === undefined) return undefined;
  const { result } = call.type;
  // Without keys a part gives a row even if it has none itself.
  const isThere = (operand: TypedExpression): TypedExpression => ({ kind: "is", type: BOOLEAN, operand, test: "null", negated: true });
  return {
    partials: [call, { function: extreme, type: { args: [time.type], result: time.type }, args: [time], ...PLAIN }],
    merges: ([value, at]) =>
      value === undefined || at === undefined
        ? []
        : [{ ...call, type: { args: [result], result }, args: [value], orderBy: [{ ...order, expression: at }], filter: isThere(at) }],
    isAverage: false,
  };
}

/** Sums by counts; NULL where there is nothing to count. */
function quotients(sums: Vector, type: DataType, counts: Vector, rowCount: number): Vector {
  const values = new Float64Array(rowCount);
  const validity = new Uint8Array(rowCount);
  let nulls = 0;
  for (let row = 0; row < rowCount; row++) {
    const count = numberAt(counts, INT64, row);
    validity[row] = count > 0 ? 1 : 0;
    if (count > 0) values[row] = numberAt(sums, type, row) / count;
    else nulls++;
  }
  return { kind: "number", values, validity: nulls > 0 ? validity : undefined };
}

function numberAt(vector: Vector, type: DataType, row: number): number {
  return Number(scalarAt(vector, type, row) ?? 0);
}
