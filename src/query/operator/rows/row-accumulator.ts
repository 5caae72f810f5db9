/** One aggregate of one group, row by row: FILTER, DISTINCT, ORDER BY and NULL rules around the function's own accumulator. */
import { type Accumulator, growth, owned, type Reserve, textBytes } from "../../function/aggregate/accumulator.ts";
import { distinct } from "../../function/aggregate/choices.ts";
import { SortedRuns } from "../../function/aggregate/sorted-runs.ts";
import { compareValues, type Value } from "../../function/value/value.ts";
import type { AggregateCall } from "../node-parts/aggregate-call.ts";
import type { SortItem } from "../node-parts/sort-item.ts";
import { atOnce, inTurns } from "../../../base/scheduler/pace.ts";
import type { ExecContext } from "../contract/exec-context.ts";

/** About what a row that waits for sorting costs, bytes. */
const ROW_BYTES = 96;
/** Sorted rows that are handed on before others get a turn. */
const ROWS_AT_ONCE = 4096;

/** Takes rows; those that FILTER drops are not given. */
export interface RowAccumulator {
  /** @param keys values of the call's ORDER BY, empty when it has none */
  add(args: readonly Value[], keys: readonly Value[]): void;
  result(): Value;
  /** `result` in steps, where that may take long; undefined: it is quick. Only once, of rows that are sorted. */
  steps?(): Generator<void, Value> | undefined;
}

/** The result of an accumulator: at once, or where it takes long with turns for others. @throws DbError Cancelled */
export function resultOf(accumulator: RowAccumulator, context: Pick<ExecContext, "signal" | "pace">): Value | Promise<Value> {
  const steps = accumulator.steps?.();
  return steps === undefined ? accumulator.result() : inTurns(steps, context);
}

/** A fresh accumulator for a call. */
export function rowAccumulator(call: AggregateCall, reserve: Reserve): RowAccumulator {
  const plain = call.function.create(call.type, reserve);
  const inner = call.distinct ? distinct(plain, reserve) : plain;
  const skipsNull = call.function.skipsNull || (call.distinct && call.function.distinctKeepsNull !== true);
  if (call.orderBy.length === 0) {
    return {
      add(args) {
        if (!skipsNull || args[0] !== undefined) inner.add(args);
      },
      result: () => inner.result(),
      steps: () => inner.steps?.(),
    };
  }
  if (call.function.kernel === "first" || call.function.kernel === "last") return best(call, reserve);
  return ordered(call, inner, skipsNull, reserve);
}

/** `first_value` and `last_value`: only the best row so far is kept. Of equal rows the first, or the last, wins. */
function best(call: AggregateCall, reserve: Reserve): RowAccumulator {
  const last = call.function.kernel === "last";
  const held = growth(reserve);
  let kept: { readonly value: Value; readonly keys: readonly Value[] } | undefined;
  return {
    add([value], keys) {
      const order = kept === undefined ? 0 : compareKeys(call.orderBy, keys, kept.keys);
      if (kept !== undefined && (last ? order < 0 : order >= 0)) return;
      held(keys.reduce<number>((bytes, key) => bytes + textBytes(key), textBytes(value)));
      kept = { value: owned(value), keys: keys.map(owned) };
    },
    result: () => kept?.value,
  };
}

function ordered(call: AggregateCall, inner: Accumulator, skipsNull: boolean, reserve: Reserve): RowAccumulator {
  const keyCount = call.orderBy.length;
  /** Keys, then arguments: one object a row is less for the collector than three. */
  const rows = new SortedRuns<readonly Value[]>((a, b) => compareKeys(call.orderBy, a, b));
  const steps = function* (): Generator<void, Value> {
    const sorted = yield* rows.steps();
    for (let at = 0; at < sorted.length; at += ROWS_AT_ONCE) {
      for (const row of sorted.slice(at, at + ROWS_AT_ONCE)) inner.add(row.slice(keyCount));
      yield;
    }
    const rest = inner.steps?.();
    return rest === undefined ? inner.result() : yield* rest;
  };
  return {
    add(args, keys) {
      if (skipsNull && args[0] === undefined) return;
      let bytes = ROW_BYTES;
      for (const value of args) bytes += textBytes(value);
      for (const key of keys) bytes += textBytes(key);
      reserve(bytes);
      const row: Value[] = [];
      for (const key of keys) row.push(owned(key));
      for (const value of args) row.push(owned(value));
      rows.add(row);
    },
    result: () => atOnce(steps()),
    steps: () => (rows.areMany ? steps() : undefined),
  };
}

/** Order of two rows by the values of their sort keys. */
function compareKeys(items: readonly SortItem[], a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const order = item === undefined ? 0 : compareItem(item, a[i], b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Order of two values under one ORDER BY item. */
export function compareItem(item: SortItem, x: Value, y: Value): number {
  if (x === undefined || y === undefined) {
    if (x === y) return 0;
    return (x === undefined) === item.nullsFirst ? -1 : 1;
  }
  const order = compareValues(x, y);
  return item.descending ? -order : order;
}
