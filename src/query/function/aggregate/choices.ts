/** Aggregates that choose or collect values: min, max, first, last, median, quantiles, text. */
import { DbError } from "../../../base/error.ts";
import { SplitMap } from "../../../base/bytes/split-map.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { DataType } from "../../../column/data-type.ts";
import type { FunctionType } from "../signature/scalar-function.ts";
import { compareValues, exactInteger, type Present, textOf, type Value } from "../value/value.ts";
import { type Accumulator, growth, owned, type Reserve, textBytes } from "./accumulator.ts";
import { keyOf } from "./distinct-keys.ts";
import { SortedRuns } from "./sorted-runs.ts";
import { atOnce } from "../../../base/scheduler/pace.ts";

/** About what a collected value costs in memory, bytes. */
const VALUE_BYTES = 48;

/** `min` (-1) and `max` (1). */
export function extreme(sign: 1 | -1): (type: FunctionType, reserve: Reserve) => Accumulator {
  return (_, reserve) => {
    let best: Value;
    const held = growth(reserve);
    return {
      add([value]) {
        if (value === undefined || (best !== undefined && compareValues(value, best) * sign <= 0)) return;
        held(textBytes(value));
        best = owned(value);
      },
      result: () => best,
    };
  };
}

/** The first or last row's value in the order given; NULL counts. */
export function endpoint(last: boolean): (type: FunctionType, reserve: Reserve) => Accumulator {
  return (_, reserve) => {
    let [seen, kept]: [boolean, Value] = [false, undefined];
    const held = growth(reserve);
    return {
      add([value]) {
        if (!last && seen) return;
        held(textBytes(value));
        kept = owned(value);
        seen = true;
      },
      result: () => kept,
    };
  };
}

/** The value of row number `n` (1 is the first, -1 the last) in the order given; NULL counts. */
export function nthValue(_: FunctionType, reserve: Reserve): Accumulator {
  const values: Value[] = [];
  const held = growth(reserve);
  let bytes = 0;
  let [seen, wanted]: [number, number] = [0, 0];
  return {
    add([value, n]) {
      seen++;
      wanted = Number(n ?? 0);
      if (wanted === 0) throw new DbError(StatusCode.EngineExecuteQuery, "nth_value() counts rows from 1, from the end from -1: n was 0");
      if (wanted > 0 && seen !== wanted) return;
      bytes += VALUE_BYTES + textBytes(value);
      values.push(owned(value));
      if (values.length > Math.abs(wanted)) bytes -= VALUE_BYTES + textBytes(values.shift());
      held(bytes);
    },
    result: () => (wanted > 0 || values.length === -wanted ? values[0] : undefined),
  };
}

/** `median` and `percentile_cont`: all values, sorted, interpolated between neighbours. */
export function quantile(fixed: number | undefined): (type: FunctionType, reserve: Reserve) => Accumulator {
  return ({ result }, reserve) => {
    const values = new SortedRuns(compareValues);
    let portion = fixed ?? 0.5;
    const steps = function* (): Generator<void, Value> {
      return interpolated(yield* values.steps(), portion, result);
    };
    return {
      add([value, wanted]) {
        if (value === undefined) return;
        if (fixed === undefined) portion = portionOf(wanted);
        reserve(VALUE_BYTES);
        values.add(value);
      },
      result: () => atOnce(steps()),
      steps: () => (values.areMany ? steps() : undefined),
    };
  };
}

function portionOf(wanted: Value): number {
  const portion = Number(wanted);
  if (wanted !== undefined && portion >= 0 && portion <= 1) return portion;
  const given = wanted === undefined ? "NULL" : portion;
  const message = `Error during planning: Percentile value must be between 0.0 and 1.0 inclusive, ${given} is invalid`;
  throw new DbError(StatusCode.EngineExecuteQuery, message);
}

function interpolated(values: readonly Present[], portion: number, type: DataType): Value {
  if (values.length === 0) return undefined;
  const at = Math.min(Math.max(portion, 0), 1) * (values.length - 1);
  const low = values[Math.floor(at)];
  const high = values[Math.ceil(at)];
  if (low === undefined || high === undefined || low === high) return low;
  // Of whole numbers, decimals among them, there is only the median, half of which is cut off.
  if (type.kind !== "float") return exactInteger((BigInt(low as number | bigint) + BigInt(high as number | bigint)) / 2n);
  const value = Number(low) + (Number(high) - Number(low)) * (at - Math.floor(at));
  return type.bits === 32 ? Math.fround(value) : value;
}

/** `bool_and` and `bool_or`. */
export function allOrAny(all: boolean): () => Accumulator {
  return () => {
    let result: boolean | undefined;
    return {
      add([value]) {
        result = all ? (result ?? true) && value === true : (result ?? false) || value === true;
      },
      result: () => result,
    };
  };
}

/** `bit_and`, `bit_or`, `bit_xor`. */
export function bitwise(combine: (a: bigint, b: bigint) => bigint): () => Accumulator {
  return () => {
    let result: bigint | undefined;
    return {
      add([value]) {
        const next = BigInt(value as number | bigint);
        result = result === undefined ? next : combine(result, next);
      },
      result: () => (result === undefined ? undefined : exactInteger(result)),
    };
  };
}

/** Longest text that is joined, characters. Reason: the runtime's texts end at 2^31. Error: RuntimeResourcesExhausted. */
const JOINED_CHARACTERS_MAX = 512 * 1024 * 1024;

/** Parts that are joined while others are still to come: two million at the end would take 90 ms. */
const PARTS_MAX = 4096;

/** `string_agg(text, separator)`: each text but the first behind the separator of its own row. */
export function joined(_: FunctionType, reserve: Reserve): Accumulator {
  const texts: string[] = [];
  const parts: string[] = [];
  let characters = 0;
  const whole = (): string => texts.join("") + parts.join("");
  const steps = function* (): Generator<void, Value> {
    const text = whole();
    yield; // Whoever asked copies it.
    return text;
  };
  return {
    add([value, between]) {
      const part = texts.length === 0 && parts.length === 0 ? textOf(value) : textOf(between) + textOf(value);
      characters += part.length;
      if (characters > JOINED_CHARACTERS_MAX) {
        const message = `cannot join texts: together they have more than ${JOINED_CHARACTERS_MAX} characters; join fewer of them`;
        throw new DbError(StatusCode.RuntimeResourcesExhausted, message);
      }
      reserve(VALUE_BYTES + part.length * 2);
      if (parts.push(part) < PARTS_MAX) return;
      texts.push(parts.join(""));
      parts.length = 0;
    },
    result: () => (texts.length === 0 && parts.length === 0 ? undefined : whole()),
    steps: () => (texts.length === 0 ? undefined : steps()),
  };
}

/** Keeps one of each distinct argument list and hands only those on: `f(DISTINCT x)`. */
export function distinct(inner: Accumulator, reserve: Reserve): Accumulator {
  const seen = new SplitMap<true>();
  return {
    add(args) {
      const key = keyOf(args);
      if (seen.has(key)) return;
      reserve(VALUE_BYTES + (typeof key === "string" ? key.length * 2 : 0));
      seen.set(key, true);
      inner.add(args);
    },
    result: () => inner.result(),
    steps: () => inner.steps?.(),
  };
}
