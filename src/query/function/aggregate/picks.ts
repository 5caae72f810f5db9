/** Aggregates that pick a value by another, or by how often it comes: arg_max, arg_min, mode; count_if. */
import { SplitMap } from "../../../base/bytes/split-map.ts";
import { BOOLEAN, INT64 } from "../../../column/data-type.ts";
import type { FunctionType } from "../signature/scalar-function.ts";
import { compareValues, type Value, valueKey } from "../value/value.ts";
import { type Accumulator, type AggregateFunction, growth, owned, type Reserve, textBytes } from "./accumulator.ts";

type Resolve = AggregateFunction["resolve"];

/** About what a value with its count costs, bytes. */
const COUNTED_BYTES = 120;

const hasOrder = (kind: string | undefined): boolean => kind !== undefined && !["json", "vector", "list", "struct", "map"].includes(kind);

/** (value, by): a value of any type, by one that has an order. */
export const pickedType: Resolve = ([value, by, ...rest]) =>
  value !== undefined && by !== undefined && rest.length === 0 && hasOrder(by.kind) ? { args: [value, by], result: value } : undefined;

/**
 * `arg_max` (1) and `arg_min` (-1): the value of the row where `by` is greatest or least. Rows where either is NULL do not count. Of rows
 * that tie the least value is taken, so that the answer does not hang on the order of rows.
 */
export function picked(sign: 1 | -1): (type: FunctionType, reserve: Reserve) => Accumulator {
  return (_, reserve) => {
    let best: Value;
    let key: Value;
    const held = growth(reserve);
    return {
      add([value, by]) {
        if (value === undefined || by === undefined) return;
        const order = key === undefined ? sign : compareValues(by, key);
        if (order * sign < 0) return;
        if (order === 0 && best !== undefined && compareValues(value, best) >= 0) return;
        held(textBytes(value) + textBytes(by));
        best = owned(value);
        key = owned(by);
      },
      result: () => best,
    };
  };
}

/** (value[, greatest]): with TRUE the greatest of values that come equally often. */
export const modeType: Resolve = ([value, greatest, ...rest]) => {
  if (value === undefined || rest.length > 0 || !hasOrder(value.kind)) return undefined;
  if (greatest === undefined) return { args: [value], result: value };
  return greatest.kind === "boolean" ? { args: [value, BOOLEAN], result: value } : undefined;
};

/** A value and how often it came. */
interface Counted {
  readonly value: Value;
  count: number;
}

/** `mode`: the value that comes most often; of several the least, or the greatest. Both are known all along: there may be millions. */
export function mode(_: FunctionType, reserve: Reserve): Accumulator {
  const counts = new SplitMap<Counted>();
  let isGreatest = false;
  let least: Counted | undefined;
  let greatest: Counted | undefined;
  const come = (entry: Counted): void => {
    least = moreOften(entry, least, -1);
    greatest = moreOften(entry, greatest, 1);
  };
  return {
    add([value, wantsGreatest]) {
      if (value === undefined) return;
      if (wantsGreatest === true) isGreatest = true;
      const key = valueKey(value);
      const entry = counts.get(key);
      if (entry !== undefined) {
        entry.count++;
        come(entry);
        return;
      }
      reserve(COUNTED_BYTES + key.length * 2 + textBytes(value));
      const added = { value: owned(value), count: 1 };
      counts.set(key, added);
      come(added);
    },
    result: () => (isGreatest ? greatest : least)?.value,
  };
}

/** Which of two came more often; of equals the greater (1) or the less (-1). */
function moreOften(entry: Counted, best: Counted | undefined, sign: 1 | -1): Counted {
  if (best === undefined || entry.count > best.count) return entry;
  if (entry === best || entry.count < best.count || entry.value === undefined || best.value === undefined) return best;
  return compareValues(entry.value, best.value) * sign > 0 ? entry : best;
}

/** One condition to a count. */
export const conditionType: Resolve = ([type, ...rest]) =>
  (type?.kind === "boolean" || type?.kind === "null") && rest.length === 0 ? { args: [BOOLEAN], result: INT64 } : undefined;

/** `count_if`: rows for which the condition holds. */
export function countIf(): Accumulator {
  let count = 0;
  return {
    add([value]) {
      if (value === true) count++;
    },
    result: () => count,
  };
}
