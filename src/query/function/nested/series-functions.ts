/**
 * `generate_series([start,] end [, step])` and `range`, which leaves the end out, as lists: of whole numbers from 0 or start on, and of
 * dates and times with an interval as the step. In FROM the same names give rows (`plan/virtual/table-functions.ts`).
 */
import { NESTED_PARTS_MAX } from "../../../base/limits.ts";
import { type DataType, INT64, INTERVAL } from "../../../column/data-type.ts";
import { tooManyParts } from "../../../column/nested.ts";
import { arithmetic } from "../number/arithmetic.ts";
import { commonType } from "../signature/common-type.ts";
import { type FunctionCall, type ScalarFunction, strict } from "../signature/scalar-function.ts";
import { compareValues, exactInteger, type Present, type Value } from "../value/value.ts";
import { executionError } from "../value/execution-error.ts";
import { listOf, resultOf } from "./parts.ts";

const isWhole = (type: DataType): boolean => type.kind === "int" || type.kind === "null";
const isTime = (type: DataType): boolean => ["date", "timestamp", "string", "null"].includes(type.kind);

const seriesType: ScalarFunction["resolve"] = (args) => {
  const [first, last, step] = args;
  if (first === undefined || args.length > 3) return undefined;
  if (args.every(isWhole)) return { args: args.map(() => INT64), result: listOf(INT64) };
  if (last === undefined || step === undefined || !isTime(first) || !isTime(last)) return undefined;
  if (!["interval", "string", "null"].includes(step.kind)) return undefined;
  const met = commonType(first, last);
  const type: DataType = met?.kind === "date" || met?.kind === "timestamp" ? met : { kind: "timestamp", unit: "nanosecond" };
  return { args: [type, type, INTERVAL], result: listOf(type) };
};

function numbers(args: readonly Present[], withEnd: boolean): Value[] {
  const [start = 0, last = 0, step = 1] = args.length === 1 ? [0, args[0]] : args;
  const [from, to, by] = [start, last, step].map((value) => BigInt(value as number | bigint));
  if (from === undefined || to === undefined || by === undefined) return [];
  if (by === 0n) throw executionError("step can't be 0 for function range(start [, stop, step])");
  const end = withEnd ? to + (by > 0n ? 1n : -1n) : to;
  const distance = by > 0n ? end - from : from - end;
  const width = by > 0n ? by : -by;
  const count = distance <= 0n ? 0n : (distance + width - 1n) / width;
  if (count > BigInt(NESTED_PARTS_MAX)) throw tooManyParts();
  return Array.from({ length: Number(count) }, (_, i) => exactInteger(from + BigInt(i) * by));
}

/** Times by adding the step again and again, as long as that leads on. */
function times([start, end, step]: readonly Present[], type: DataType, withEnd: boolean): Value[] {
  if (start === undefined || end === undefined || step === undefined) return [];
  const second = arithmetic("+", start, step, type);
  const way = compareValues(second, start);
  if (way === 0) throw executionError("the step of a series cannot be zero");
  const all: Value[] = [];
  let time = start;
  for (;;) {
    const order = compareValues(time, end) * way;
    if (order > 0 || (order === 0 && !withEnd)) return all;
    if (all.push(time) > NESTED_PARTS_MAX) throw tooManyParts();
    const next = arithmetic("+", time, step, type);
    if (compareValues(next, time) * way <= 0)
      throw executionError("a series must lead one way; its step mixes months with days the other way");
    time = next;
  }
}

function series(name: string, withEnd: boolean): ScalarFunction {
  return strict(`${name}([start,] end[, step])`, seriesType, (args, call: FunctionCall) => {
    const { result } = call.type;
    const element = result.kind === "list" ? result.element : INT64;
    return resultOf(call, element.kind === "int" ? numbers(args, withEnd) : times(args, element, withEnd));
  });
}

/** The functions of this file. */
export const SERIES_FUNCTIONS: readonly ScalarFunction[] = [series("generate_series", true), series("range", false)];
