/** Implicit casts: how operands meet in comparisons, arithmetic and choices. */
import { StatusCode } from "../../../base/status-code.ts";
import {
  BOOLEAN,
  type DataType,
  DATE,
  displayName,
  FLOAT64,
  INT64,
  INTERVAL,
  sameType,
  STRING,
  TIME_NANOSECOND,
  TIMESTAMP_NANOSECOND,
  type TimeUnit,
  UINT64,
} from "../../../column/data-type.ts";
import { DECIMAL_DIGITS_MAX, decimalOfDecimal, decimalOfText, decimalTypeOfText, rescaledDecimal } from "../../../column/decimal.ts";
import { canCast, castResult } from "../../../value/cast.ts";
import { CastFailure } from "../../../value/cast-failure.ts";
import { commonNumber, commonType } from "../../function/signature/common-type.ts";
import { asDecimal, decimalResult } from "../../function/value/decimal.ts";
import type { Environment } from "../../function/signature/environment.ts";
import type { ArithmeticOperator } from "../../function/value/integer.ts";
import { isJsonScalar } from "../../function/family/json-functions.ts";
import { operatorFunction } from "../../function/registry.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";
import { finerUnit, NANOS_PER_UNIT } from "../../../value/time-units.ts";
import { textOf, type Value } from "../../function/value/value.ts";
import { type CompareOperator, literal, type TypedExpression } from "../../expression/expression.ts";
import { fold } from "../../expression/fold.ts";
import { planError } from "./plan-error.ts";

/** `expression` as `type`; itself when it already is. @throws DbError PlanQuery when there is no such cast */
export function castTo(expression: TypedExpression, type: DataType, environment: Environment, safe = false): TypedExpression {
  if (sameType(expression.type, type)) return expression;
  if (expression.kind === "literal" && expression.value === undefined) return literal(type, undefined);
  if (expression.kind === "parameter" && expression.id < 0) return typedPlaceholder(expression, type, environment);
  if (type.kind === "timestamp" && expression.kind === "literal" && expression.type.kind === "string")
    return literal(type, castLiteral(expression, type, environment, safe));
  const typedMember = jsonMemberAs(expression, type);
  if (typedMember !== undefined) return fold(typedMember, environment);
  // What was written, not the float that stands for it.
  const source = type.kind === "decimal" ? writtenText(expression) : expression;
  if (!canCast(expression.type, type)) {
    throw planError(
      `cannot cast ${displayName(expression.type)} to ${displayName(type)}; cast through a type that both know, such as STRING`,
    );
  }
  return fold({ kind: "cast", type, operand: source, safe }, environment);
}

/** A placeholder of a statement that is described, whose place asks for a type. What it became first counts. */
function typedPlaceholder(
  expression: Extract<TypedExpression, { kind: "parameter" }>,
  type: DataType,
  environment: Environment,
): TypedExpression {
  environment.placeholders?.note(-1 - expression.id, type);
  return { ...expression, type };
}

/** A text as a time: here, unlike where rows are computed, in the session's zone. @throws DbError EngineExecuteQuery */
function castLiteral(
  { value, type: from }: Extract<TypedExpression, { kind: "literal" }>,
  type: DataType,
  environment: Environment,
  safe: boolean,
): Value {
  const result = castResult(value, from, type, environment.timeZone);
  if (!(result instanceof CastFailure)) return result;
  if (safe && result.code === StatusCode.EngineExecuteQuery) return undefined;
  throw result.error();
}

/** `json_get(j, path)` as a type that it can give by itself: what has no value of that type is then NULL, not an error. */
function jsonMemberAs(expression: TypedExpression, type: DataType): TypedExpression | undefined {
  if (!isUntypedMember(expression) || !isJsonScalar(type)) return undefined;
  const functionType = { args: [...expression.functionType.args, type], result: type };
  return { ...expression, type, functionType, args: [...expression.args, literal(type, undefined)] };
}

/** Whether an expression is `json_get(j, path)`, whose type is whatever it is cast to. */
export function isUntypedMember(expression: TypedExpression): expression is Extract<TypedExpression, { kind: "call" }> {
  return expression.kind === "call" && expression.function.name === "json_get" && expression.args.length === 2;
}

/** A float constant as the text that it was written as. */
function writtenText(expression: TypedExpression): TypedExpression {
  return expression.kind === "literal" && expression.text !== undefined ? literal(STRING, expression.text) : expression;
}

/** A number or text constant as a decimal of as many digits as it was written with; anything else, and what has too many, as it is. */
export function asWrittenDecimal(expression: TypedExpression): TypedExpression {
  const text = expression.kind !== "literal" ? undefined : expression.type.kind === "string" ? textOf(expression.value) : expression.text;
  const type = text === undefined ? undefined : decimalTypeOfText(text);
  const parsed = text === undefined || type === undefined ? undefined : decimalOfText(text, type);
  return type === undefined || parsed?.ok !== true ? expression : literal(type, parsed.value);
}

/** Both sides of a comparison with a decimal, which is exact whatever the scales: a constant at the other's scale if it can be. */
function compareDecimal(left: TypedExpression, right: TypedExpression): readonly [TypedExpression, TypedExpression] | undefined {
  const [a, b] = [asWrittenDecimal(left), asWrittenDecimal(right)];
  const [x, y] = [asDecimal(a.type), asDecimal(b.type)];
  if (x === undefined || y === undefined) return undefined;
  return [atScale(a, y.scale), atScale(b, x.scale)];
}

/** A constant at another scale where that holds it exactly: loops and statistics then compare it with a column as it lies. */
function atScale(expression: TypedExpression, scale: number): TypedExpression {
  const type = asDecimal(expression.type);
  if (expression.kind !== "literal" || type === undefined || type.scale === scale || expression.value === undefined) return expression;
  const target: DataType = { kind: "decimal", precision: DECIMAL_DIGITS_MAX, scale };
  const scaled = decimalOfDecimal(expression.value as number | bigint, type.scale, target);
  const isExact = scaled.ok && rescaledDecimal(scaled.value, scale, type.scale) === BigInt(expression.value as number | bigint);
  return isExact ? literal(target, scaled.value) : expression;
}

/** The type two operands meet at; a text constant with a point or an exponent meets an integer at Float64. */
function meetingType(left: TypedExpression, right: TypedExpression): DataType | undefined {
  const type = commonType(left.type, right.type);
  if (type?.kind !== "int") return type;
  const text = left.type.kind === "string" ? left : right.type.kind === "string" ? right : undefined;
  return text?.kind === "literal" && /[.eE]/.test(textOf(text.value)) ? FLOAT64 : type;
}

/** Whether an expression is text that need not be a number: no constant, whose text is known, and nothing out of JSON. */
export function isFreeText(expression: TypedExpression): boolean {
  return expression.type.kind === "string" && expression.kind !== "literal" && !isUntypedMember(expression);
}

/** `host = 1` asks whether the text is "1": a text that is no number is merely unequal. Order is that of numbers. */
function equalTextType(operator: CompareOperator, left: TypedExpression, right: TypedExpression): DataType | undefined {
  if (operator !== "=" && operator !== "<>") return undefined;
  return (isFreeText(left) && right.type.kind === "int") || (left.type.kind === "int" && isFreeText(right)) ? STRING : undefined;
}

/** The coarsest timestamp type that holds both a time column and a constant text exactly, so that no digit of the text is dropped. */
function exactTimeType(time: TypedExpression, text: TypedExpression, environment: Environment): DataType | undefined {
  if (time.type.kind !== "timestamp" || text.kind !== "literal" || typeof text.value !== "string") return undefined;
  const nanos = parseTimestamp(text.value, environment.timeZone);
  if (nanos === undefined) return undefined;
  const own = NANOS_PER_UNIT[time.type.unit];
  const unit = UNITS.find((candidate) => NANOS_PER_UNIT[candidate] <= own && nanos % NANOS_PER_UNIT[candidate] === 0n);
  return unit === undefined ? undefined : { kind: "timestamp", unit };
}

const UNITS: readonly TimeUnit[] = ["second", "millisecond", "microsecond", "nanosecond"];

/** `left operator right` with both sides brought to one type. @throws DbError PlanQuery */
export function compare(
  operator: CompareOperator,
  left: TypedExpression,
  right: TypedExpression,
  environment: Environment,
): TypedExpression {
  const [a, b] = comparable(operator, left, right, environment);
  return fold({ kind: "compare", type: BOOLEAN, operator, left: a, right: b }, environment);
}

/** `left IS [NOT] DISTINCT FROM right`: a comparison for which NULL is a value. @throws DbError PlanQuery */
export function distinctFrom(negated: boolean, left: TypedExpression, right: TypedExpression, environment: Environment): TypedExpression {
  const args = comparable(negated ? "=" : "<>", left, right, environment);
  const functionType = { args: args.map((argument) => argument.type), result: BOOLEAN };
  const found = operatorFunction(negated ? "is_not_distinct_op" : "is_distinct_op");
  return fold({ kind: "call", type: BOOLEAN, function: found, functionType, args }, environment);
}

/** Both sides of a comparison, brought to one type. @throws DbError PlanQuery */
function comparable(
  operator: CompareOperator,
  left: TypedExpression,
  right: TypedExpression,
  environment: Environment,
): readonly [TypedExpression, TypedExpression] {
  // Integers compare exactly whatever their widths, so they need no cast.
  if (left.type.kind === "int" && right.type.kind === "int") return [left, right];
  if (left.type.kind === "decimal" || right.type.kind === "decimal") {
    const [a, b] = compareDecimal(left, right) ?? [];
    if (a !== undefined && b !== undefined) return [a, b];
  }
  const type =
    exactTimeType(left, right, environment) ??
    exactTimeType(right, left, environment) ??
    equalTextType(operator, left, right) ??
    meetingType(left, right);
  if (type === undefined) {
    throw planError(
      `Cannot infer common argument type for comparison operation ${displayName(left.type)} ${operator} ${displayName(right.type)}`,
    );
  }
  return [castTo(left, type, environment), castTo(right, type, environment)];
}

const isUnsigned64 = ({ type }: TypedExpression): boolean => type.kind === "int" && type.bits === 64 && !type.signed;

/**
 * Expressions of which one is UInt64, with whole constants that are not negative as UInt64 too: `u + 1` is of the type of `u`, whose values
 * Int64 does not hold. Others are as they are.
 */
export function besideUnsigned(expressions: readonly TypedExpression[]): readonly TypedExpression[] {
  if (!expressions.some(isUnsigned64)) return expressions;
  return expressions.map((expression) => {
    const { kind, type } = expression;
    const isWhole = kind === "literal" && type.kind === "int" && type.signed && expression.value !== undefined;
    return isWhole && Number(expression.value) >= 0 ? literal(UINT64, expression.value) : expression;
  });
}

/** `left operator right`. @throws DbError PlanQuery when the types do not meet */
export function arithmeticOf(
  operator: ArithmeticOperator,
  leftGiven: TypedExpression,
  rightGiven: TypedExpression,
  environment: Environment,
): TypedExpression {
  const [left = leftGiven, right = rightGiven] = besideUnsigned([leftGiven, rightGiven]);
  const temporal = temporalArithmetic(operator, left, right, environment);
  if (temporal !== undefined) return fold(temporal, environment);
  // NULL has the type of what it meets.
  if (left.type.kind === "null" && right.type.kind !== "null")
    return arithmeticOf(operator, castTo(left, right.type, environment), right, environment);
  if (right.type.kind === "null" && left.type.kind !== "null")
    return arithmeticOf(operator, left, castTo(right, left.type, environment), environment);
  const decimals = decimalArithmeticOf(operator, left, right, environment);
  if (decimals !== undefined) return fold(decimals, environment);
  // What JSON holds is of the type that the other side is.
  const a = numberType(isUntypedMember(left) ? right.type : left.type);
  const b = numberType(isUntypedMember(right) ? left.type : right.type);
  if (a === undefined || b === undefined) {
    throw planError(`Cannot coerce arithmetic expression ${displayName(left.type)} ${operator} ${displayName(right.type)} to valid types`);
  }
  const type = commonNumber(a, b);
  return fold(
    { kind: "arithmetic", type, operator, left: castTo(left, type, environment), right: castTo(right, type, environment) },
    environment,
  );
}

/** A decimal with a decimal or a whole number; undefined where a side is something else, which makes a float of both. */
function decimalArithmeticOf(
  operator: ArithmeticOperator,
  left: TypedExpression,
  right: TypedExpression,
  environment: Environment,
): TypedExpression | undefined {
  if (left.type.kind !== "decimal" && right.type.kind !== "decimal") return undefined;
  const [a, b] = [asDecimal(left.type), asDecimal(right.type)];
  if (a === undefined || b === undefined) return undefined;
  const type = decimalResult(operator, a, b);
  return { kind: "arithmetic", type, operator, left: castTo(left, a, environment), right: castTo(right, b, environment) };
}

function numberType(type: DataType): Extract<DataType, { kind: "int" | "float" }> | undefined {
  if (type.kind === "int" || type.kind === "float") return type;
  if (type.kind === "null") return INT64 as Extract<DataType, { kind: "int" }>;
  return type.kind === "string" || type.kind === "decimal" ? (FLOAT64 as Extract<DataType, { kind: "float" }>) : undefined;
}

const DURATION_NANOSECOND: DataType = { kind: "duration", unit: "nanosecond" };

const isTime = (type: DataType): boolean => ["timestamp", "date", "time", "interval", "duration"].includes(type.kind);

/** Whether an interval can be added. */
const isPoint = (type: DataType): boolean => ["timestamp", "date", "time"].includes(type.kind);

function temporalArithmetic(
  operator: ArithmeticOperator,
  left: TypedExpression,
  right: TypedExpression,
  environment: Environment,
): TypedExpression | undefined {
  const [a, b] = [left.type, right.type];
  if (!isTime(a) && !isTime(b)) return undefined;
  const node = (type: DataType, l: TypedExpression, r: TypedExpression): TypedExpression => ({
    kind: "arithmetic",
    type,
    operator,
    left: l,
    right: r,
  });
  const plus = operator === "+";
  if (!plus && operator !== "-") return undefined;
  if (a.kind === "date" && b.kind === "int") return node(DATE, left, castTo(right, INT64, environment));
  if (plus && a.kind === "int" && b.kind === "date") return node(DATE, right, castTo(left, INT64, environment));
  if (isPoint(a) && b.kind === "interval") return node(a, left, right);
  if (plus && a.kind === "interval" && isPoint(b)) return node(b, left, right);
  if (a.kind === "interval" && b.kind === "interval") return node(a, left, right);
  if (a.kind === "timestamp" && b.kind === "duration") {
    const unit = finerUnit(a.unit, b.unit);
    const type: DataType = { kind: "timestamp", unit };
    return node(type, castTo(left, type, environment), castTo(right, { kind: "duration", unit }, environment));
  }
  if (a.kind === "duration" && b.kind === "duration") {
    const type: DataType = { kind: "duration", unit: finerUnit(a.unit, b.unit) };
    return node(type, castTo(left, type, environment), castTo(right, type, environment));
  }
  return plus ? sumOfTimes(left, right, node, environment) : difference(left, right, node, environment);
}

type Node = (type: DataType, l: TypedExpression, r: TypedExpression) => TypedExpression;

/** What can be added in either order: a duration and a time or an interval, a date and a time of day. */
function sumOfTimes(left: TypedExpression, right: TypedExpression, node: Node, environment: Environment): TypedExpression | undefined {
  const kinds = [left.type.kind, right.type.kind].sort().join(" ");
  if (kinds === "duration interval") return node(INTERVAL, castTo(left, INTERVAL, environment), castTo(right, INTERVAL, environment));
  if (left.type.kind === "duration" && right.type.kind === "timestamp") return arithmeticOf("+", right, left, environment);
  if (kinds !== "date time") return undefined;
  const [date, clock] = left.type.kind === "date" ? [left, right] : [right, left];
  const span = castTo(castTo(castTo(clock, TIME_NANOSECOND, environment), INT64, environment), DURATION_NANOSECOND, environment);
  return arithmeticOf("+", castTo(date, TIMESTAMP_NANOSECOND, environment), span, environment);
}

function difference(
  left: TypedExpression,
  right: TypedExpression,
  node: (type: DataType, l: TypedExpression, r: TypedExpression) => TypedExpression,
  environment: Environment,
): TypedExpression | undefined {
  if (left.type.kind === "int" || right.type.kind === "int") return undefined;
  const kinds = [left.type.kind, right.type.kind].sort().join(" ");
  if (kinds === "duration interval") return node(INTERVAL, castTo(left, INTERVAL, environment), castTo(right, INTERVAL, environment));
  const type = meetingType(left, right);
  if (type?.kind === "date") return node(INT64, castTo(left, type, environment), castTo(right, type, environment));
  if (type?.kind !== "timestamp" && type?.kind !== "time") return undefined;
  return node({ kind: "duration", unit: type.unit }, castTo(left, type, environment), castTo(right, type, environment));
}

/** All expressions cast to the one type they meet at, by default that of a comparison. @throws DbError PlanQuery */
export function unify(
  given: readonly TypedExpression[],
  what: string,
  environment: Environment,
  meet: typeof commonType = commonType,
): readonly TypedExpression[] {
  const expressions = besideUnsigned(given);
  let type: DataType | undefined = { kind: "null" };
  for (const expression of expressions) {
    const met: DataType | undefined = meet(type, expression.type);
    if (met === undefined) throw planError(`${what} mixes ${displayName(type)} and ${displayName(expression.type)}; cast one of them`);
    type = met;
  }
  const target = type;
  return expressions.map((expression) => castTo(expression, target, environment));
}

/** A condition: Boolean, or a number or text that casts to it. @throws DbError PlanQuery */
export function condition(expression: TypedExpression, clause: string, environment: Environment): TypedExpression {
  const canBe = expression.type.kind === "boolean" || expression.type.kind === "null" || isUntypedMember(expression);
  if (canBe) return castTo(expression, BOOLEAN, environment);
  throw planError(`${clause} must be a Boolean condition, but it is ${displayName(expression.type)}`);
}

/** `left || right` as text, of which one must be text. @throws DbError PlanQuery */
export function concatenation(left: TypedExpression, right: TypedExpression, environment: Environment): TypedExpression {
  if (left.type.kind !== "string" && right.type.kind !== "string") {
    const operation = `${displayName(left.type)} || ${displayName(right.type)}`;
    throw planError(`Cannot infer common string type for string concat operation ${operation}; cast one to STRING`);
  }
  const args = [castTo(left, STRING, environment), castTo(right, STRING, environment)];
  return fold(
    { kind: "call", type: STRING, function: operatorFunction("concat_op"), functionType: { args: [STRING, STRING], result: STRING }, args },
    environment,
  );
}
