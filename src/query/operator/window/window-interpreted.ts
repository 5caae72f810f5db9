/**
 * The window operator as the oracle runs it: one row at a time, straight from the definition. Each row looks at every row of its partition
 * to see which are in its frame, so that n rows take n² steps.
 */
import type { AnomalyName, FrameBound, WindowCall, WindowFrame } from "./node.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { compareValues, type Value } from "../../function/value/value.ts";
import { checkCancelled } from "../../../base/scheduler/pace.ts";
import type { ExecBatch, ExecContext } from "../contract/exec-context.ts";
import { gatherBatch, type HeldRows } from "../rows/held-rows.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { compareItem, rowAccumulator } from "../rows/row-accumulator.ts";
import { BatchRow, valuesVector } from "../../expression/vector-values.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import type { WindowPlan } from "./sorted-rows.ts";
import { window } from "./window.ts";

type Read = (expression: TypedExpression, row: number) => Value;

/** The rows of `input`, sorted, with a column more for each call. */
export function windowInterpreted(node: WindowPlan, input: AsyncIterable<ExecBatch>, shared: ExecContext): AsyncIterable<ExecBatch> {
  return window(node, input, shared, interpreted);
}

async function interpreted(held: HeldRows, node: WindowPlan, context: ExecContext): Promise<ExecBatch> {
  const batch = held.joined();
  const reader = new BatchRow(batch, node.input.columns);
  const read: Read = (expression, row) => {
    reader.row = row;
    return evaluate(expression, reader.read, context.environment);
  };
  const order = Array.from({ length: batch.rowCount }, (_, row) => row);
  const items = [...node.partitionBy, ...node.orderBy];
  order.sort((a, b) => compareBy(items, a, b, read) || a - b);
  const results: Value[][] = node.calls.map(() => []);
  for (const row of order) {
    checkCancelled(context);
    await context.pace.turn();
    const partition = order.filter((other) => compareBy(node.partitionBy, row, other, read) === 0);
    for (const [c, call] of node.calls.entries()) results[c]?.push(valueOf(call, row, partition, node.orderBy, read, context));
  }
  const added = node.calls.map((call, c) => valuesVector(call.type, results[c] ?? []));
  return { rowCount: batch.rowCount, vectors: [...gatherBatch(batch, Uint32Array.from(order), order.length).vectors, ...added] };
}

function compareBy(items: readonly SortItem[], a: number, b: number, read: Read): number {
  for (const item of items) {
    const order = compareItem(item, read(item.expression, a), read(item.expression, b));
    if (order !== 0) return order;
  }
  return 0;
}

function valueOf(
  call: WindowCall,
  row: number,
  partition: readonly number[],
  orderBy: readonly SortItem[],
  read: Read,
  context: ExecContext,
): Value {
  switch (call.kind) {
    case "rank":
      return rankOf(call, row, partition, (a, b) => compareBy(orderBy, a, b, read));
    case "shift":
      return shiftedValue(call, row, partition, read);
    default: {
      const frame = partition.filter((other) => isIn(call.frame, row, other, partition, orderBy, read));
      return frameValue(call, row, frame, read, context);
    }
  }
}

function rankOf(
  call: Extract<WindowCall, { kind: "rank" }>,
  row: number,
  partition: readonly number[],
  compare: (a: number, b: number) => number,
): number {
  const before = partition.filter((other) => compare(other, row) < 0);
  const count = partition.length;
  switch (call.name) {
    case "row_number":
      return partition.indexOf(row) + 1;
    case "rank":
      return before.length + 1;
    case "dense_rank":
      return before.filter((other, i) => !before.slice(0, i).some((earlier) => compare(earlier, other) === 0)).length + 1;
    case "percent_rank":
      return count === 1 ? 0 : before.length / (count - 1);
    case "cume_dist":
      return partition.filter((other) => compare(other, row) <= 0).length / count;
    case "ntile": {
      // Deals out one row after another: the sizes of buckets differ by one at most, larger ones first.
      const sizes = Array.from({ length: Math.min(call.buckets, count) }, (_, b) => Math.ceil((count - b) / call.buckets));
      let left = partition.indexOf(row);
      return sizes.findIndex((size) => (left -= size) < 0) + 1;
    }
  }
}

function shiftedValue(call: Extract<WindowCall, { kind: "shift" }>, row: number, partition: readonly number[], read: Read): Value {
  const at = partition.indexOf(row);
  const { steps } = call;
  if (steps === 0) return read(call.value, row);
  const others = steps > 0 ? partition.slice(0, at).reverse() : partition.slice(at + 1);
  const counted = call.ignoreNulls ? others.filter((other) => read(call.value, other) !== undefined) : others;
  const found = counted[Math.abs(steps) - 1];
  return found === undefined ? read(call.otherwise, row) : read(call.value, found);
}

function frameValue(
  call: Exclude<WindowCall, { kind: "rank" | "shift" }>,
  row: number,
  frame: readonly number[],
  read: Read,
  { budget }: ExecContext,
): Value {
  switch (call.kind) {
    case "pick": {
      const rows = call.ignoreNulls ? frame.filter((other) => read(call.value, other) !== undefined) : frame;
      const found = rows.at(call.nth > 0 ? call.nth - 1 : call.nth);
      return found === undefined ? undefined : read(call.value, found);
    }
    case "aggregate": {
      const { call: aggregate } = call;
      const accumulator = rowAccumulator(aggregate, budget.reserve);
      for (const other of frame) {
        if (aggregate.filter !== undefined && read(aggregate.filter, other) !== true) continue;
        accumulator.add(
          aggregate.args.map((argument) => read(argument, other)),
          aggregate.orderBy.map((item) => read(item.expression, other)),
        );
      }
      return accumulator.result();
    }
    case "anomaly": {
      const values = frame.map((other) => Number(read(call.value, other) ?? Number.NaN)).filter((value) => !Number.isNaN(value));
      const value = read(call.value, row);
      const factor = call.factor === undefined ? 0 : read(call.factor, row);
      if (value === undefined || factor === undefined || Number.isNaN(value)) return undefined;
      return scoreOf(call.name, Number(value), values, Number(factor));
    }
  }
}

/** Whether a row is in the frame of another, from what the words of the frame say. */
function isIn(
  frame: WindowFrame,
  row: number,
  other: number,
  partition: readonly number[],
  orderBy: readonly SortItem[],
  read: Read,
): boolean {
  return (
    isBeyond(frame.start, 1, frame.unit, row, other, partition, orderBy, read) &&
    isBeyond(frame.end, -1, frame.unit, row, other, partition, orderBy, read)
  );
}

/** Whether a row is not before (1) or not behind (-1) a bound. */
function isBeyond(
  bound: FrameBound,
  side: 1 | -1,
  unit: WindowFrame["unit"],
  row: number,
  other: number,
  partition: readonly number[],
  orderBy: readonly SortItem[],
  read: Read,
): boolean {
  if (bound.kind === "unbounded") return true;
  const order = compareBy(orderBy, other, row, read);
  if (bound.kind === "value") {
    const [item] = orderBy;
    const value = read(bound.value, row);
    if (item === undefined || value === undefined) return order * side >= 0;
    return compareItem(item, read(bound.key, other), value) * side >= 0;
  }
  const steps = bound.kind === "steps" ? bound.steps : 0;
  if (unit === "rows") return (partition.indexOf(other) - partition.indexOf(row) - steps) * side >= 0;
  // How many groups lie between, the row's own left out: those of the nearer side of its peers.
  const [low, high] = order < 0 ? [other, row] : [row, other];
  const between = partition.filter((each) => compareBy(orderBy, each, low, read) > 0 && compareBy(orderBy, each, high, read) <= 0);
  const groups = between.filter((each, i) => i === 0 || compareBy(orderBy, between[i - 1] ?? each, each, read) !== 0).length;
  return ((order < 0 ? -groups : groups) - steps) * side >= 0;
}

function scoreOf(name: AnomalyName, value: number, values: readonly number[], factor: number): Value {
  if (values.length < (name === "zscore" ? 2 : 3)) return undefined;
  const relative = (distance: number, spread: number): number =>
    spread !== 0 ? distance / spread : distance === 0 ? 0 : Number.POSITIVE_INFINITY;
  if (name === "zscore") {
    // Welford's method: equal values have no spread at all.
    let [mean, squares] = [0, 0];
    for (const [i, x] of values.entries()) {
      const delta = x - mean;
      mean += delta / (i + 1);
      squares += delta * (x - mean);
    }
    return relative(Math.abs(value - mean), Math.sqrt(squares / values.length));
  }
  if (name === "mad") {
    const centre = quantile(values, 0.5);
    return relative(
      Math.abs(value - centre),
      1.4826 *
        quantile(
          values.map((x) => Math.abs(x - centre)),
          0.5,
        ),
    );
  }
  const [q1, q3] = [quantile(values, 0.25), quantile(values, 0.75)];
  const [low, high] = [q1 - factor * (q3 - q1), q3 + factor * (q3 - q1)];
  return relative(value < low ? low - value : value > high ? value - high : 0, q3 - q1);
}

function quantile(values: readonly number[], portion: number): number {
  const sorted = [...values].sort(compareValues);
  const at = portion * (sorted.length - 1);
  const [low = 0, high = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low === high ? low : low + (high - low) * (at - Math.floor(at));
}
