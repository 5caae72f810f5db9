/** What types, values and expressions are made of, for the plan format: functions go by their names. */
import { assert } from "../../base/assert.ts";
import type { DataType, StructField, TimeUnit } from "../../column/data-type.ts";
import type { ColumnHeader } from "../../column/batch.ts";
import { anyFunctionNamed } from "../function/registry.ts";
import type { FunctionType, ScalarFunction } from "../function/signature/scalar-function.ts";
import { type Present, type Value, valueKey } from "../function/value/value.ts";
import type { IntervalValue } from "../sql/syntax/ast.ts";
import { NO_TABLES, readBytes } from "../plan-format/plan-reader.ts";
import { PlanWriter } from "../plan-format/plan-writer.ts";
import {
  absent,
  bigint,
  bool,
  type Changes,
  derived,
  kinds,
  list,
  once,
  oneOf,
  optional,
  record,
  type RecordShape,
  type Shape,
  text,
  whole,
} from "../plan-format/shape.ts";
import { TAG } from "../plan-format/tags.ts";
import type { TypedExpression } from "./expression.ts";

/** Units of times. */
export const timeUnit: Shape<TimeUnit> = oneOf("second", "millisecond", "microsecond", "nanosecond");

/** Types. */
export const dataType: Shape<DataType> = once(() => dataTypes);

const structField: Shape<StructField> = record({ name: text, type: dataType });

const dataTypes: Shape<DataType> = kinds<DataType>({
  null: {},
  boolean: {},
  int: { bits: oneOf(8, 16, 32, 64), signed: bool, oid: absent(oneOf(true)) },
  float: { bits: oneOf(32, 64) },
  string: {},
  binary: {},
  date: {},
  timestamp: { unit: timeUnit },
  time: { unit: timeUnit },
  duration: { unit: timeUnit },
  interval: {},
  decimal: { precision: whole(1, 76), scale: whole(-76, 76) },
  json: { structured: absent(oneOf(true)) },
  vector: { dimension: whole(0) },
  list: { element: dataType, vector: absent(oneOf("int2vector", "oidvector")) },
  struct: { fields: list(structField) },
  map: { key: dataType, value: dataType },
});

/** Headers of columns. */
export const header: Shape<ColumnHeader> = once(() => record<ColumnHeader>({ name: text, type: dataType }));

/** Intervals. */
export const interval: RecordShape<IntervalValue> = record({ months: whole(), days: whole(), nanos: bigint });

/** Values; NULL is one. */
export const value: Shape<Value> = {
  write: (given, to) => {
    if (typeof given === "object" && !(given instanceof Uint8Array)) interval.write(given, to);
    else to.plain(given);
  },
  read: (from) => {
    const tag = from.tag();
    return tag === TAG.record ? interval.readRest(from, from.length(2), {}) : from.scalar(tag);
  },
};

/** Values that are not NULL. */
const present: Shape<Present> = {
  write: (given, to) => value.write(given, to),
  read: (from) => value.read(from) ?? from.fail("a value that is not NULL is wanted"),
};

/** Types of a call. */
export const functionType: Shape<FunctionType> = once(() => record<FunctionType>({ args: list(dataType), result: dataType }));

/** Scalar functions, by name. */
const scalarFunction: Shape<ScalarFunction> = {
  write: (given, to) => {
    const { name } = given;
    assert(anyFunctionNamed(name) === given, `a function is the registry's own under its name; got ${name}`);
    to.tag(TAG.function);
    to.word(name);
  },
  read: (from) => {
    from.expect(TAG.function, "a function");
    const name = from.word();
    return anyFunctionNamed(name) ?? from.fail(`there is no function ${name.slice(0, 80)}`);
  },
};

const inner: Shape<TypedExpression> = once(() => expressions);

/** Expressions that whoever changes those of an operator leaves as they are: they read other columns than the operator's. */
export const ownExpression: Shape<TypedExpression> = inner;

/** Expressions of an operator. */
export const expression: Shape<TypedExpression> = {
  ...inner,
  map: (given, changes) => changes.expression(given) as TypedExpression, // Whoever changes expressions gives expressions.
  visit: (given, visit) => visit(given),
};

/** A value with other expressions in the place of those that lie in it. */
export function withExpressions<T>(shape: Shape<T>, given: T, change: (expression: TypedExpression) => TypedExpression): T {
  const changes: Changes = { plan: (plan) => plan, expression: (each) => change(each as TypedExpression) }; // Shapes give expressions.
  return shape.map?.(given, changes) ?? given;
}

const type = dataType;
const expressions: Shape<TypedExpression> = kinds<TypedExpression>({
  literal: { type, value: optional(value), text: absent(text) },
  column: { type, index: whole(0), name: text },
  parameter: { type, id: whole(0), name: text },
  call: { type, function: scalarFunction, functionType, args: list(inner) },
  arithmetic: { type, operator: oneOf("+", "-", "*", "/", "%"), left: inner, right: inner },
  compare: { type, operator: oneOf("=", "<>", "<", "<=", ">", ">="), left: inner, right: inner },
  logic: { type, operator: oneOf("and", "or"), operands: list(inner) },
  not: { type, operand: inner },
  is: { type, operand: inner, test: oneOf("null", "true", "false", "unknown"), negated: bool },
  "in-set": {
    type,
    operand: inner,
    values: list(present),
    keys: derived(({ values }: { readonly values: readonly Present[] }) => new Set(values.map(valueKey))),
    numbers: derived(() => undefined), // The set is made where it is needed.
    hasNull: bool,
    negated: bool,
  },
  like: { type, operand: inner, pattern: inner, escape: optional(text), insensitive: bool, negated: bool },
  case: {
    type,
    branches: list(record<{ readonly when: TypedExpression; readonly result: TypedExpression }>({ when: inner, result: inner })),
    otherwise: inner,
  },
  cast: { type, operand: inner, safe: bool },
});

/** An expression as bytes. @throws DbError Unsupported when it is too large */
export function encodeExpression(given: TypedExpression): Uint8Array<ArrayBuffer> {
  const to = new PlanWriter();
  inner.write(given, to);
  return to.finish();
}

/** The expression again. @throws DbError InvalidArguments for other bytes, Unsupported for those of a newer version */
export function decodeExpression(bytes: Uint8Array): TypedExpression {
  return readBytes(bytes, NO_TABLES, inner.read);
}
