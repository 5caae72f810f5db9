/**
 * Values of a row while it goes through a pipeline. JavaScript's numbers cannot say whether JSON wrote `1` or `1.0`, so floats that happen
 * to be whole are boxed:
 *
 * | kind    | JavaScript                                                             |
 * |---------|------------------------------------------------------------------------|
 * | null    | `null`; `undefined` is a field that is absent                          |
 * | boolean | `boolean`                                                              |
 * | int     | a safe integer `number` (never -0), or a `bigint` beyond ±2^53         |
 * | float   | any other `number`, or a `WholeFloat`                                  |
 * | string  | `string`                                                               |
 * | time    | `PipelineTime`                                                         |
 * | array   | an array                                                               |
 * | object  | a plain object; its order of keys has no meaning                       |
 */
import type { TimeUnit } from "../../column/data-type.ts";
import { exactInteger } from "../../column/exact-integer.ts";
import { rescale } from "../../value/time-units.ts";

/** A float whose value is a whole number, so that it is not taken for an int. */
export class WholeFloat {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** A moment: units since 1970-01-01T00:00:00Z. */
export class PipelineTime {
  readonly value: bigint;
  readonly unit: TimeUnit;

  constructor(value: bigint, unit: TimeUnit) {
    this.value = value;
    this.unit = unit;
  }
}

/** See the file header. */
export type PipelineValue =
  | undefined
  | null
  | boolean
  | number
  | bigint
  | string
  | WholeFloat
  | PipelineTime
  | readonly PipelineValue[]
  | PipelineObject;

/** A row, or an object in it. Rows belong to the pipeline once they are handed to it: it changes them. */
export interface PipelineObject {
  [key: string]: PipelineValue;
}

/** What a value is. */
export type PipelineKind = "null" | "boolean" | "int" | "float" | "string" | "time" | "array" | "object";

/** The kind of a value; absent counts as null. */
export function kindOf(value: PipelineValue): PipelineKind {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? "int" : "float";
    case "boolean":
      return "boolean";
    case "bigint":
      return "int";
    case "undefined":
      return "null";
    default:
      if (value === null) return "null";
      if (Array.isArray(value)) return "array";
      if (value instanceof PipelineTime) return "time";
      return value instanceof WholeFloat ? "float" : "object";
  }
}

/** Whether a value is an object with fields. */
export function isObject(value: PipelineValue): value is PipelineObject {
  return kindOf(value) === "object";
}

/** A float as a value: boxed when it could be taken for an int. */
export function floatValue(value: number): PipelineValue {
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? new WholeFloat(value) : value;
}

/** An int as a value: a number where that is exact. */
export function intValue(value: bigint): PipelineValue {
  return exactInteger(value);
}

/** A moment in another unit, rounded down. */
export function timeIn(time: PipelineTime, unit: TimeUnit): bigint {
  return rescale(time.value, time.unit, unit);
}

/** Sets a field; `__proto__` is a name like any other. */
export function setField(row: PipelineObject, name: string, value: PipelineValue): void {
  if (name === "__proto__") Object.defineProperty(row, name, { value, writable: true, enumerable: true, configurable: true });
  else row[name] = value;
}

/** The value of a field; names of `Object.prototype` are absent unless the row has them. */
export function fieldOf(row: PipelineObject, name: string): PipelineValue {
  const value = row[name];
  if (value === undefined || typeof value === "function" || name === "__proto__") return Object.hasOwn(row, name) ? value : undefined;
  return value;
}
