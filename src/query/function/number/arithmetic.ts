/** `+ - * / %` on values of every type that has them. */
import { assert } from "../../../base/assert.ts";
import { unitsPerDay } from "../../../value/clock-time.ts";
import { DATE, type DataType, type TimeUnit } from "../../../column/data-type.ts";
import { type ArithmeticOperator, floatArithmetic, integerArithmetic, overflow } from "../value/integer.ts";
import type { IntervalValue } from "../../sql/syntax/ast.ts";
import { floorModulo } from "../../../value/civil.ts";
import { addInterval, addIntervals } from "../time/interval.ts";
import { rescale } from "../../../value/time-units.ts";
import { isInterval, NANOS_PER_DAY, type Present, textOf } from "../value/value.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";

/**
 * `a operator b`, a value of type `result`. Numbers of both sides have type `result`; times of both sides have one unit.
 *
 * @throws DbError EngineExecuteQuery on overflow and on integer division by zero
 */
export function arithmetic(operator: ArithmeticOperator, a: Present, b: Present, result: DataType): Present {
  switch (result.kind) {
    case "int":
      return integerArithmetic(operator, a as number | bigint, b as number | bigint, result);
    case "float": {
      const value = floatArithmetic(operator, Number(a), Number(b));
      return result.bits === 32 ? Math.fround(value) : value;
    }
    case "timestamp":
    case "duration":
      return timeArithmetic(operator === "-" ? -1 : 1, a, b, result);
    case "date":
      return dateArithmetic(operator === "-" ? -1 : 1, a, b);
    case "time":
      return clockArithmetic(operator === "-" ? -1 : 1, a, b, result.unit);
    case "interval":
      assert(isInterval(a) && isInterval(b), "the planner lets only intervals be added to an interval");
      return addIntervals(a, b, operator === "-" ? -1 : 1);
    default:
      throw new Error(`no arithmetic gives ${result.kind}`);
  }
}

function timeArithmetic(sign: 1 | -1, a: Present, b: Present, result: Extract<DataType, { kind: "timestamp" | "duration" }>): bigint {
  const value = isInterval(b)
    ? addInterval(BigInt(a as bigint), result.unit, b, sign)
    : isInterval(a)
      ? addInterval(BigInt(b as bigint), result.unit, a, sign)
      : BigInt(a as bigint) + BigInt(sign) * BigInt(b as bigint);
  if (value < INT64_MIN || value > INT64_MAX) throw overflow(`${textOf(a)} ${sign === 1 ? "+" : "-"} time`, result);
  return value;
}

/** Adds the part of an interval below a day; times of day go round at midnight. */
function clockArithmetic(sign: 1 | -1, a: Present, b: Present, unit: TimeUnit): number {
  const [clock, interval] = isInterval(a) ? [b, a] : [a, b];
  assert(isInterval(interval), "the planner lets only intervals be added to a time of day");
  const moved = BigInt(clock as number) + BigInt(sign) * rescale(interval.nanos, "nanosecond", unit);
  return Number(floorModulo(moved, unitsPerDay(unit)));
}

/** Months and days of an interval, and the whole days of its rest; or days as a number. */
function dateArithmetic(sign: 1 | -1, a: Present, b: Present): number {
  const [date, moved] = isInterval(a) ? [b, a] : [a, b];
  const days = isInterval(moved)
    ? daysMoved(BigInt(date as number), moved, sign)
    : BigInt(date as number) + BigInt(sign) * BigInt(moved as number);
  const result = Number(days);
  if (result !== (result | 0)) throw overflow(`${textOf(a)} ${sign === 1 ? "+" : "-"} ${textOf(b)}`, DATE);
  return result;
}

function daysMoved(date: bigint, interval: IntervalValue, sign: 1 | -1): bigint {
  const seconds = addInterval(date * 86_400n, "second", { ...interval, nanos: 0n }, sign);
  return seconds / 86_400n + (BigInt(sign) * interval.nanos) / NANOS_PER_DAY;
}
