/**
 * Functions that give a relation of one column, `value`:
 *
 *   generate_series([start,] end [, step])   numbers or times from start to end, end included
 *   range([start,] end [, step])             the same without the end
 *
 * Numbers begin at 0. Times need a step, an interval, which is added again and again, so that months keep their lengths. A series that
 * leads away from its end is empty, and so is one with a NULL. Rows are made while they are read.
 */
import type { Batch } from "../../../column/batch.ts";
import { type DataType, displayName, INT64, TIMESTAMP_NANOSECOND } from "../../../column/data-type.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { addInterval } from "../../function/time/interval.ts";
import { NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";
import { exactInteger, isInterval, NANOS_PER_DAY } from "../../function/value/value.ts";
import { valuesVector } from "../../expression/vector-values.ts";
import type { Expression, IntervalValue } from "../../sql/syntax/ast.ts";
import { bindConstant } from "../bind/bind.ts";
import { castTo, unify } from "../bind/coerce.ts";
import type { TypedExpression } from "../../expression/expression.ts";
import { notSupported, planError } from "../bind/plan-error.ts";
import type { ComputedRows } from "../common/computed-rows.ts";
import type { RowSource, TimeSeries } from "../../operator/source/node.ts";

/** Rows of a batch that a series gives. */
const BATCH_ROWS = 8192;

type Constant = Extract<TypedExpression, { kind: "literal" }>;

/** The relation of a call in FROM. @throws DbError Unsupported, PlanQuery for arguments that are no series */
export function tableFunction(name: string, args: readonly Expression[], environment: Environment): ComputedRows {
  if (name !== "generate_series" && name !== "range") throw notSupported(`table function ${name}`);
  if (args.length === 0 || args.length > 3) throw planError(`${name} takes one to three arguments: ${name}([start,] end [, step])`);
  const bound = args.map((argument) => bindConstant(argument, environment));
  const [first, last, step] = bound.length === 1 ? [{ ...ZERO, type: INT64 }, bound[0], undefined] : bound;
  if (first === undefined || last === undefined) throw planError(`${name} needs an end`);
  const excluded = name === "range";
  if (bound.some((argument) => argument.value === undefined))
    return { columns: [{ name: "value", type: INT64 }], source: { kind: "no-rows" } };
  if (first.type.kind === "int" && last.type.kind === "int") return numbers(name, first, last, step, excluded);
  return times(name, [first, last], step, excluded, environment);
}

const ZERO: Constant = { kind: "literal", type: INT64, value: 0 };

function numbers(name: string, first: Constant, last: Constant, step: Constant | undefined, excluded: boolean): ComputedRows {
  if (step !== undefined && step.type.kind !== "int")
    throw planError(`${name} of numbers takes a whole number as its step, not ${displayName(step.type)}`);
  const by = step === undefined ? 1n : BigInt(step.value as number | bigint);
  if (by === 0n) throw planError(`${name}: the step cannot be zero`);
  const [start, end] = [BigInt(first.value as number | bigint), BigInt(last.value as number | bigint)];
  if (start > INT64_MAX || end > INT64_MAX) throw planError(`${name}: the numbers of a series are of type Int64`);
  const count = lengthOf(start, end, by, excluded);
  return { columns: [{ name: "value", type: INT64 }], source: { kind: "series", start, step: by, count } };
}

/** The rows of a series of numbers. */
export function numberSeries({ start, step: by, count }: Extract<RowSource, { kind: "series" }>): Iterable<Batch> {
  const lastValue = start + (count - 1n) * by;
  const isSmall = Number.isSafeInteger(Number(start)) && Number.isSafeInteger(Number(lastValue));
  return cut(count, (from, rowCount) => {
    const base = start + from * by;
    if (!isSmall) {
      const wide = Array.from({ length: rowCount }, (_, i) => exactInteger(base + BigInt(i) * by));
      return { rowCount, vectors: [valuesVector(INT64, wide)] };
    }
    const values = new Float64Array(rowCount);
    const [small, width] = [Number(base), Number(by)];
    for (let row = 0; row < rowCount; row++) values[row] = small + row * width;
    return { rowCount, vectors: [{ kind: "number", values, validity: undefined }] };
  });
}

/** Rows of a series of equal steps. */
function lengthOf(start: bigint, end: bigint, by: bigint, excluded: boolean): bigint {
  const distance = by > 0n ? end - start : start - end;
  const width = by > 0n ? by : -by;
  if (distance < 0n || (excluded && distance === 0n)) return 0n;
  return excluded ? (distance + width - 1n) / width : distance / width + 1n;
}

function* cut(count: bigint, batch: (from: bigint, rowCount: number) => Batch): Iterable<Batch> {
  for (let from = 0n; from < count; from += BigInt(BATCH_ROWS)) {
    const left = count - from;
    yield batch(from, left < BATCH_ROWS ? Number(left) : BATCH_ROWS);
  }
}

function times(
  name: string,
  ends: readonly [Constant, Constant],
  step: Constant | undefined,
  excluded: boolean,
  environment: Environment,
): ComputedRows {
  const stride = step === undefined ? undefined : castTo(step, { kind: "interval" }, environment);
  const by = stride?.kind === "literal" ? stride.value : undefined;
  if (!ends.every(({ type }) => ["timestamp", "date", "string"].includes(type.kind)) || !isInterval(by)) {
    const given = [...ends, ...(step === undefined ? [] : [step])].map(({ type }) => displayName(type)).join(", ");
    throw planError(`${name} takes whole numbers, or two times and an interval as its step; got ${given}`);
  }
  const type = typeOf(ends, by, environment);
  const [start, end] = ends.map((each): bigint => {
    const cast = castTo(each, type, environment);
    if (cast.kind !== "literal" || typeof cast.value !== "bigint") throw planError(`${name}: the ends of a series are times`);
    return cast.value;
  });
  if (start === undefined || end === undefined) throw planError(`${name} needs two ends`);
  const unit = type.kind === "timestamp" ? type.unit : "nanosecond";
  const next = addInterval(start, unit, by, 1);
  if (next === start) throw planError(`${name}: the step cannot be zero`);
  return { columns: [{ name: "value", type }], source: { kind: "time-series", start, end, step: by, unit, isUp: next > start, excluded } };
}

/** The type of both ends; in nanoseconds where a step is no whole number of their unit. */
function typeOf(ends: readonly [Constant, Constant], by: IntervalValue, environment: Environment): DataType {
  const isTime = ends.some(({ type }) => type.kind === "timestamp");
  const met = isTime ? (unify(ends, "a series", environment)[0]?.type ?? TIMESTAMP_NANOSECOND) : TIMESTAMP_NANOSECOND;
  return met.kind === "timestamp" && (BigInt(by.days) * NANOS_PER_DAY + by.nanos) % NANOS_PER_UNIT[met.unit] === 0n
    ? met
    : TIMESTAMP_NANOSECOND;
}

/** Times by adding a step again and again, as long as that leads on and stays within 64 bits. */
export function* timeSeries({ start, end, step, unit, isUp, excluded }: TimeSeries): Iterable<Batch> {
  const type: DataType = { kind: "timestamp", unit };
  const isWithin = (time: bigint): boolean => (time === end ? !excluded : time < end === isUp) && time <= INT64_MAX && time >= INT64_MIN;
  let time = start;
  while (isWithin(time)) {
    const values: bigint[] = [];
    while (values.length < BATCH_ROWS && isWithin(time)) {
      values.push(time);
      const next = addInterval(time, unit, step, 1);
      // A month less a day may stand still or turn round at the end of a short month.
      if (next > time !== isUp || next === time)
        throw planError("a series must lead one way; its step mixes months with days the other way");
      time = next;
    }
    yield { rowCount: values.length, vectors: [valuesVector(type, values)] };
  }
}
