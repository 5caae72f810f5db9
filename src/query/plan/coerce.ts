/** Implicit casts: how operands meet in comparisons, arithmetic and choices. */
import { BOOLEAN, type DataType, displayName, FLOAT64, INT64, sameType, STRING, type TimeUnit } from "../../column/data-type.ts";
import { canCast } from "../function/cast.ts";
import { commonNumber, commonType } from "../function/common-type.ts";
import type { Environment } from "../function/environment.ts";
import type { ArithmeticOperator } from "../function/integer.ts";
import { operatorFunction } from "../function/registry.ts";
import { parseTimestamp } from "../function/time/parse-time.ts";
import { finerUnit, NANOS_PER_UNIT } from "../function/time/time-units.ts";
import { textOf } from "../function/value.ts";
import { type CompareOperator, literal, type TypedExpression } from "./expression.ts";
import { fold } from "./fold.ts";
import { notSupported, planError } from "./plan-error.ts";

/** Types that parse but have no values yet. */
const NOT_YET: ReadonlySet<DataType["kind"]> = new Set(["decimal", "json", "vector"]);

/** `expression` as `type`; itself when it already is. @throws DbError PlanQuery when there is no such cast */
export function castTo(expression: TypedExpression, type: DataType, environment: Environment, safe = false): TypedExpression {
  if (sameType(expression.type, type)) return expression;
  if (expression.kind === "literal" && expression.value === undefined) return literal(type, undefined);
  if (NOT_YET.has(type.kind)) throw notSupported(`values of type ${displayName(type)}`);
  if (!canCast(expression.type, type)) {
    throw planError(
      `cannot cast ${displayName(expression.type)} to ${displayName(type)}; cast through a type that both know, such as STRING`,
    );
  }
  return fold({ kind: "cast", type, operand: expression, safe }, environment);
}

/** The type two operands meet at; a text constant with a point or an exponent meets an integer at Float64. */
function meetingType(left: TypedExpression, right: TypedExpression): DataType | undefined {
  const type = commonType(left.type, right.type);
  if (type?.kind !== "int") return type;
  const text = left.type.kind === "string" ? left : right.type.kind === "string" ? right : undefined;
  return text?.kind === "literal" && /[.eE]/.test(textOf(text.value)) ? FLOAT64 : type;
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
  const both = { kind: "compare", type: BOOLEAN, operator } as const;
  // Integers compare exactly whatever their widths, so they need no cast.
  if (left.type.kind === "int" && right.type.kind === "int") return fold({ ...both, left, right }, environment);
  const type = exactTimeType(left, right, environment) ?? exactTimeType(right, left, environment) ?? meetingType(left, right);
  if (type === undefined) {
    throw planError(
      `Cannot infer common argument type for comparison operation ${displayName(left.type)} ${operator} ${displayName(right.type)}`,
    );
  }
  return fold({ ...both, left: castTo(left, type, environment), right: castTo(right, type, environment) }, environment);
}

/** `left operator right`. @throws DbError PlanQuery when the types do not meet */
export function arithmeticOf(
  operator: ArithmeticOperator,
  left: TypedExpression,
  right: TypedExpression,
  environment: Environment,
): TypedExpression {
  const temporal = temporalArithmetic(operator, left, right, environment);
  if (temporal !== undefined) return fold(temporal, environment);
  const a = numberType(left.type);
  const b = numberType(right.type);
  if (a === undefined || b === undefined) {
    throw planError(`Cannot coerce arithmetic expression ${displayName(left.type)} ${operator} ${displayName(right.type)} to valid types`);
  }
  const type = commonNumber(a, b);
  return fold(
    { kind: "arithmetic", type, operator, left: castTo(left, type, environment), right: castTo(right, type, environment) },
    environment,
  );
}

function numberType(type: DataType): Extract<DataType, { kind: "int" | "float" }> | undefined {
  if (type.kind === "int" || type.kind === "float") return type;
  if (type.kind === "null") return INT64 as Extract<DataType, { kind: "int" }>;
  return type.kind === "string" ? (FLOAT64 as Extract<DataType, { kind: "float" }>) : undefined;
}

const isTime = (type: DataType): boolean => ["timestamp", "date", "interval", "duration"].includes(type.kind);

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
  if ((a.kind === "timestamp" || a.kind === "date") && b.kind === "interval") return node(a, left, right);
  if (plus && a.kind === "interval" && (b.kind === "timestamp" || b.kind === "date")) return node(b, left, right);
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
  return plus ? undefined : difference(left, right, node, environment);
}

function difference(
  left: TypedExpression,
  right: TypedExpression,
  node: (type: DataType, l: TypedExpression, r: TypedExpression) => TypedExpression,
  environment: Environment,
): TypedExpression | undefined {
  const type = meetingType(left, right);
  if (type?.kind === "date") return node(INT64, castTo(left, type, environment), castTo(right, type, environment));
  if (type?.kind !== "timestamp") return undefined;
  return node({ kind: "duration", unit: type.unit }, castTo(left, type, environment), castTo(right, type, environment));
}

/** All expressions cast to the one type they meet at. @throws DbError PlanQuery */
export function unify(expressions: readonly TypedExpression[], what: string, environment: Environment): readonly TypedExpression[] {
  let type: DataType | undefined = { kind: "null" };
  for (const expression of expressions) {
    const met: DataType | undefined = commonType(type, expression.type);
    if (met === undefined) throw planError(`${what} mixes ${displayName(type)} and ${displayName(expression.type)}; cast one of them`);
    type = met;
  }
  const target = type;
  return expressions.map((expression) => castTo(expression, target, environment));
}

/** A condition: Boolean, or a number or text that casts to it. @throws DbError PlanQuery */
export function condition(expression: TypedExpression, clause: string, environment: Environment): TypedExpression {
  if (expression.type.kind === "boolean" || expression.type.kind === "null") return castTo(expression, BOOLEAN, environment);
  throw planError(`${clause} must be a Boolean condition, but it is ${displayName(expression.type)}`);
}

/** `left || right` as text. */
export function concatenation(left: TypedExpression, right: TypedExpression, environment: Environment): TypedExpression {
  const args = [castTo(left, STRING, environment), castTo(right, STRING, environment)];
  return fold(
    { kind: "call", type: STRING, function: operatorFunction("concat_op"), functionType: { args: [STRING, STRING], result: STRING }, args },
    environment,
  );
}
