/** Aggregates that keep a sketch: approximate percentiles, HyperLogLog, UDDSketch. */
import { BINARY, type DataType, FLOAT64, INT64 } from "../../../column/data-type.ts";
import type { FunctionType } from "../signature/scalar-function.ts";
import { commonNumber, type NumberType } from "../signature/common-type.ts";
import { boundsOf } from "../../../value/integer-range.ts";
import { isNumeric } from "../signature/signature.ts";
import { exactInteger, textOf, type Value } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { type Accumulator, type AggregateFunction, growth, type Reserve } from "./accumulator.ts";
import { HyperLogLog } from "../sketch/hyper-log-log.ts";
import { CENTROIDS_DEFAULT, TDigest } from "./t-digest.ts";
import { UddSketch } from "../sketch/udd-sketch.ts";

type Resolve = AggregateFunction["resolve"];
type Create = AggregateFunction["create"];

/** Whether a type is a number, or may become one: NULL, decimals. */
export const isNumber = (type: DataType): boolean => isNumeric(type) || type.kind === "null" || type.kind === "decimal";
/** Most centroids that a call may ask for. */
const CENTROIDS_MAX = 100_000;

/** Where a value and its weight meet. */
function whereMet(value: DataType, weight: DataType): DataType {
  const [a, b] = [value, weight].filter(isNumeric) as NumberType[];
  return a === undefined || b === undefined ? FLOAT64 : commonNumber(a, b);
}

/** (value[, weight], portion[, centroids]): the result has the type of the value; with weights, where both meet. */
export function percentileType(weighted: boolean): Resolve {
  const least = weighted ? 3 : 2;
  return (args) => {
    const [value] = args;
    if (value === undefined || args.length < least || args.length > least + 1 || !args.every(isNumber)) return undefined;
    const type = weighted ? whereMet(value, args[1] ?? value) : isNumeric(value) ? value : FLOAT64;
    const rest = [...(weighted ? [FLOAT64] : []), FLOAT64, INT64].slice(0, args.length - 1);
    return { args: [type, ...rest], result: type };
  };
}

/** `approx_percentile_cont[_with_weight]`; `fixed` is the portion of `approx_median`. */
export function approximatePercentile(weighted: boolean, fixed?: number): Create {
  return ({ result }, reserve) => {
    let digest: TDigest | undefined;
    const held = growth(reserve);
    let portion = fixed ?? 0.5;
    return {
      add(args) {
        const [value, weight, wanted, centroids] = weighted ? args : [args[0], 1, args[1], args[2]];
        if (value === undefined || weight === undefined) return;
        if (fixed === undefined) portion = portionOf(wanted);
        digest ??= new TDigest(centroids === undefined ? CENTROIDS_DEFAULT : centroidsOf(centroids));
        const share = Number(weight);
        if (share > 0) digest.add(Number(value), share);
        held(digest.heldBytes);
      },
      result: () => typedNumber(digest?.quantile(portion), result),
    };
  };
}

function typedNumber(value: number | undefined, type: DataType): Value {
  if (value === undefined || type.kind !== "int") return value;
  if (Number.isSafeInteger(Math.trunc(value))) return Math.trunc(value);
  // A double near the largest integer may lie beyond it.
  const { min, max } = boundsOf(type);
  const whole = BigInt(Math.trunc(value));
  return exactInteger(whole > max ? max : whole < min ? min : whole);
}

function portionOf(value: Value): number {
  const portion = Number(value);
  if (value !== undefined && portion >= 0 && portion <= 1) return portion;
  throw executionError(`the portion of a percentile must be 0.0..1.0, got ${textOf(value)}`);
}

function centroidsOf(value: Value): number {
  const centroids = Number(value);
  if (centroids >= 1 && centroids <= CENTROIDS_MAX) return centroids;
  throw executionError(`the centroids of a percentile must be 1..${CENTROIDS_MAX}, got ${centroids}`);
}

/** One value to a state. */
export const hllType: Resolve = ([type, ...rest]) =>
  type === undefined || rest.length > 0 || type.kind === "interval" ? undefined : { args: [type], result: BINARY };

/** One state to a state. */
export const stateType: Resolve = ([type, ...rest]) =>
  rest.length === 0 && (type?.kind === "binary" || type?.kind === "null") ? { args: [BINARY], result: BINARY } : undefined;

/** `hll(value)`: of no rows the empty state. */
export function hllState(_: FunctionType, reserve: Reserve): Accumulator {
  const sketch = new HyperLogLog();
  const held = growth(reserve);
  return {
    add([value]) {
      sketch.add(textOf(value));
      held(sketch.heldBytes);
    },
    result: () => sketch.encoded(),
  };
}

/** `hll_merge(state)`. */
export function hllMerge(_: FunctionType, reserve: Reserve): Accumulator {
  const sketch = new HyperLogLog();
  const held = growth(reserve);
  return {
    add([state]) {
      if (state instanceof Uint8Array) sketch.merge(state);
      held(sketch.heldBytes);
    },
    result: () => sketch.encoded(),
  };
}

/** (buckets, error, number or state) to a state. */
export function uddType(merges: boolean): Resolve {
  return (args) => {
    const [buckets, error, value] = args;
    if (buckets === undefined || error === undefined || value === undefined || args.length > 3) return undefined;
    const good = merges ? value.kind === "binary" || value.kind === "null" : isNumber(value);
    if (!good || (buckets.kind !== "int" && buckets.kind !== "null") || !isNumber(error)) return undefined;
    return { args: [INT64, FLOAT64, merges ? BINARY : FLOAT64], result: BINARY };
  };
}

/** `uddsketch_state` and `uddsketch_merge`: NULL while there is no value. */
export function uddState(_: FunctionType, reserve: Reserve): Accumulator {
  let sketch: UddSketch | undefined;
  const held = growth(reserve);
  return {
    add([buckets, error, value]) {
      if (error === undefined || value === undefined) return;
      sketch ??= new UddSketch(Number(buckets), Number(error));
      if (value instanceof Uint8Array) sketch.merge(UddSketch.decoded(value));
      else sketch.add(Number(value));
      held(sketch.heldBytes);
    },
    result: () => sketch?.encoded(),
  };
}
