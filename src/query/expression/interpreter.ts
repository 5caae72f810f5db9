/**
 * Evaluates a typed expression on one row at a time. Slow and plain: it defines what an expression means, and the generated loops are
 * tested against it. It also runs whatever they do not cover.
 */
import { assert, unreachable } from "../../base/assert.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { DataType } from "../../column/data-type.ts";
import type { DecimalType } from "../../column/decimal.ts";
import { arithmetic } from "../function/number/arithmetic.ts";
import { castResult } from "../../value/cast.ts";
import { CastFailure } from "../../value/cast-failure.ts";
import { orderHolds } from "../../value/order-holds.ts";
import { compareDecimals, decimalArithmetic } from "../function/value/decimal.ts";
import type { Environment } from "../function/signature/environment.ts";
import type { Integer } from "../function/value/integer.ts";
import { likeTest } from "../function/text/like.ts";
import { compareValues, type Present, textOf, type Value, valueKey } from "../function/value/value.ts";
import type { TypedExpression } from "./expression.ts";
import { spendOnCall, spendOnCast, spendOnComparison, spendOnLike } from "./call-weights.ts";

/** Gives the value of a column of the current row. */
export type RowReader = (column: number) => Value;

/** The value of an expression on one row. @throws DbError EngineExecuteQuery for overflow, division by zero, bad casts */
export function evaluate(expression: TypedExpression, row: RowReader, environment: Environment): Value {
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "column":
      return row(expression.index);
    case "parameter":
      throw new Error(`parameters have values before they are read; got ${expression.name}`);
    case "call":
      return call(expression, row, environment);
    case "arithmetic": {
      const left = evaluate(expression.left, row, environment);
      const right = evaluate(expression.right, row, environment);
      if (left === undefined || right === undefined) return undefined;
      return expression.type.kind === "decimal"
        ? onDecimals(expression, left, right, expression.type)
        : arithmetic(expression.operator, left, right, expression.type);
    }
    case "compare": {
      const left = evaluate(expression.left, row, environment);
      const right = evaluate(expression.right, row, environment);
      if (left === undefined || right === undefined) return undefined;
      spendOnComparison(left, right);
      return orderHolds(expression.operator, orderOf(left, expression.left.type, right, expression.right.type));
    }
    case "logic":
      return logic(expression, row, environment);
    case "not": {
      const value = evaluate(expression.operand, row, environment);
      return value === undefined ? undefined : value !== true;
    }
    case "is":
      return isTest(evaluate(expression.operand, row, environment), expression.test) !== expression.negated;
    case "in-set": {
      const value = evaluate(expression.operand, row, environment);
      if (value === undefined) return undefined;
      spendOnComparison(value, value);
      if (expression.keys.has(valueKey(value))) return !expression.negated;
      return expression.hasNull ? undefined : expression.negated;
    }
    case "like":
      return like(expression, row, environment);
    case "case": {
      for (const branch of expression.branches) {
        if (evaluate(branch.when, row, environment) === true) return evaluate(branch.result, row, environment);
      }
      return evaluate(expression.otherwise, row, environment);
    }
    case "cast":
      return cast(expression, row, environment);
    default:
      return unreachable(expression);
  }
}

/** Order of two values of one type, or of two exact numbers whatever their types. */
function orderOf(a: Present, left: DataType, b: Present, right: DataType): number {
  const [scaleA, scaleB] = [scaleOf(left), scaleOf(right)];
  return scaleA === scaleB ? compareValues(a, b) : compareDecimals(a as Integer, scaleA, b as Integer, scaleB);
}

/** Digits after the point of an exact number: numbers of one scale compare as they lie. */
export const scaleOf = (type: DataType): number => (type.kind === "decimal" ? type.scale : 0);

function onDecimals({ operator, left, right }: Of<"arithmetic">, a: Present, b: Present, result: DecimalType): Present {
  assert(left.type.kind === "decimal" && right.type.kind === "decimal", "the planner makes both sides decimals");
  return decimalArithmetic(operator, a as Integer, left.type, b as Integer, right.type, result);
}

type Of<K extends TypedExpression["kind"]> = Extract<TypedExpression, { kind: K }>;

function call(expression: Of<"call">, row: RowReader, environment: Environment): Value {
  const args: Value[] = [];
  for (const argument of expression.args) {
    const value = evaluate(argument, row, environment);
    if (value === undefined && expression.function.nulls === "propagate") return undefined;
    args.push(value);
  }
  const { functionType: type } = expression;
  spendOnCall(expression.function, args, type);
  return expression.function.evaluate(args, { type, environment });
}

function logic(expression: Of<"logic">, row: RowReader, environment: Environment): Value {
  const decisive = expression.operator === "or";
  let unknown = false;
  for (const operand of expression.operands) {
    const value = evaluate(operand, row, environment);
    if (value === decisive) return decisive;
    if (value === undefined) unknown = true;
  }
  return unknown ? undefined : !decisive;
}

function isTest(value: Value, test: "null" | "true" | "false" | "unknown"): boolean {
  if (test === "null" || test === "unknown") return value === undefined;
  return value === (test === "true");
}

const literalOf = (expression: TypedExpression): Value => (expression.kind === "literal" ? expression.value : undefined);

const patterns = new WeakMap<TypedExpression, (text: string) => boolean>();

function like(expression: Of<"like">, row: RowReader, environment: Environment): Value {
  const value = evaluate(expression.operand, row, environment);
  if (value === undefined) return undefined;
  let test = patterns.get(expression);
  const pattern = test === undefined ? evaluate(expression.pattern, row, environment) : literalOf(expression.pattern);
  spendOnLike(value, pattern);
  if (test === undefined) {
    if (pattern === undefined) return undefined;
    test = likeTest(textOf(pattern), expression.escape, expression.insensitive);
    if (expression.pattern.kind === "literal") patterns.set(expression, test);
  }
  return test(textOf(value)) !== expression.negated;
}

/** Text of rows is in UTC; only constants that are compared with times are in the session's zone (`plan/bind/coerce.ts`). */
function cast(expression: Of<"cast">, row: RowReader, environment: Environment): Value {
  const { operand, type } = expression;
  const value = evaluate(operand, row, environment);
  spendOnCast(value, type);
  const result = castResult(value, operand.type, type, "UTC");
  if (!(result instanceof CastFailure)) return result;
  // TRY_CAST: a value without a counterpart is NULL.
  if (expression.safe && result.code === StatusCode.EngineExecuteQuery) return undefined;
  throw result.error();
}
