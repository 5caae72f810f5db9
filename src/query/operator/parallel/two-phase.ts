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

/** Aggregates whose partial results are put together by the aggregate of that name. */
const MERGED_BY: Readonly<Record<string, string>> = {
  bool_and: "bool_and",
  bool_or: "bool_or",
  bit_and: "bit_and",
  bit_or: "bit_or",
  bit_xor: "bit_xor",
  hll: "hll_merge",
  hll_merge: "hll_merge",
};

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

function stepOf(call: AggregateCall, node: Aggregate): Step | undefined {
  if (call.distinct) return undefined;
  const { kernel, name } = call.function;
  if (kernel === "first" || kernel === "last") return endStep(call, node);
  if (call.orderBy.length > 0) return undefined;
  switch (kernel) {
    case "count":
      return simple(call, "sum");
    case "sum":
      return sumStep(call);
    case "min":
    case "max":
      return simple(call, kernel);
    case "avg":
      return averageStep(call);
    default: {
      const merge = MERGED_BY[name];
      if (VARIANCES[name] !== undefined) return varianceStep(call);
      return merge === undefined ? undefined : simple(call, merge);
    }
  }
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
