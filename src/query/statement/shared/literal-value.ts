/** Values of INSERT and of DEFAULT clauses as values of a column (contract query.md 1.6). */
import { planFailure } from "../../plan/bind/plan-error.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import { type DataType, displayName, STRING } from "../../../column/data-type.ts";
import { evaluate } from "../../expression/interpreter.ts";
import { castValue, canCast } from "../../../value/cast.ts";
import type { Environment } from "../../function/signature/environment.ts";
import { integerOfText } from "../../../value/number-text.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";
import { rescale } from "../../../value/time-units.ts";
import { textOf, type Value } from "../../function/value/value.ts";
import { bind } from "../../plan/bind/bind.ts";
import { fold } from "../../expression/fold.ts";
import { isVolatile, type TypedExpression } from "../../expression/expression.ts";
import type { Expression } from "../../sql/syntax/ast.ts";
import { INT64_MAX, INT64_MIN } from "../../../column/exact-integer.ts";

/** The error of a value that a column cannot hold. */
function cannotParse(why: string): DbError {
  return new DbError(StatusCode.InvalidSyntax, `Failed to parse value: ${why}`);
}

/** Within values, a double-quoted name is text. */
function asText(expression: Expression): Expression {
  const isText = expression.kind === "column" && expression.quoted && expression.name.length === 1;
  return isText ? { kind: "string", value: expression.name[0] ?? "", span: expression.span } : expression;
}

/**
 * The value of an expression for a column of a type. NULL stays NULL.
 *
 * @throws DbError InvalidSyntax for a literal that the column cannot hold, PlanQuery for an expression that is no constant
 */
export function literalValue(expression: Expression, column: string, type: DataType, environment: Environment): Value {
  const constant = boundValue(expression, environment);
  // A computation that fails is left as it is when expressions fold; here it is needed, so that it says why.
  if (constant.kind !== "literal" && !isVolatile(constant)) evaluate(constant, () => undefined, environment);
  return valueForColumn(constant, column, type, environment);
}

/** The expression of a value, bound and folded: a literal unless it is no constant, fails, or takes long. @throws DbError PlanQuery */
export function boundValue(expression: Expression, environment: Environment): TypedExpression {
  return fold(bind(expression, { scope: [], environment, intercept: (node) => textNode(node, environment) }), environment);
}

/** The value of a constant for a column of a type. @throws DbError as `literalValue` */
export function valueForColumn(constant: TypedExpression, column: string, type: DataType, environment: Environment): Value {
  if (constant.kind !== "literal") throw planFailure(`the value of column ${column} is no constant`);
  if (constant.value === undefined) return undefined;
  if (constant.type.kind === "string" && type.kind === "timestamp") return timestampOf(textOf(constant.value), type, environment);
  if (type.kind === "string" && constant.type.kind !== "string") {
    if (["int", "float"].includes(constant.type.kind)) {
      throw cannotParse(`Fail to parse number ${textOf(constant.value)}, invalid column type: String(StringType { size_type: Utf8 })`);
    }
  }
  if (constant.text !== undefined) {
    if (type.kind === "decimal") return converted({ kind: "literal", type: STRING, value: constant.text }, column, type, environment);
    checkNumber(constant.text, constant.value, type);
  }
  return converted(constant, column, type, environment);
}

/** A number with a fraction is no whole number, and one beyond a type is not its nearest value. @throws DbError InvalidSyntax */
function checkNumber(text: string, value: Value, type: DataType): void {
  const isWhole = type.kind === "int" || type.kind === "timestamp";
  // Whole numbers come here only when they exceed 64 bits.
  const refused = isWhole
    ? !Number.isInteger(value) || /^[+-]?\d+$/.test(text)
    : type.kind === "float" && !Number.isFinite(type.bits === 32 ? Math.fround(Number(value)) : value);
  if (refused) throw cannotParse(`Fail to parse number ${text.slice(0, 80)}, invalid column type: ${displayName(type)}`);
}

function textNode(node: Expression, environment: Environment): TypedExpression | undefined {
  const text = asText(node);
  return text === node ? undefined : bind(text, { scope: [], environment });
}

function converted(
  constant: Extract<TypedExpression, { kind: "literal" }>,
  column: string,
  type: DataType,
  environment: Environment,
): Value {
  if (!canCast(constant.type, type))
    throw cannotParse(`column ${column} holds ${displayName(type)}, but the value is ${displayName(constant.type)}`);
  try {
    return castValue(constant.value, constant.type, type, environment);
  } catch (thrown) {
    // Texts of JSON and vectors have errors of their own (contract query.md 1.6).
    if (!(thrown instanceof DbError) || type.kind === "json" || type.kind === "vector") throw thrown;
    throw new DbError(StatusCode.InvalidSyntax, `Failed to parse value: column ${column}: ${thrown.message}`, { cause: thrown });
  }
}

/** Text as a timestamp: a time, or a whole number in the column's unit. */
function timestampOf(text: string, type: Extract<DataType, { kind: "timestamp" }>, environment: Environment): bigint {
  const trimmed = text.trim();
  const nanos = parseTimestamp(trimmed, environment.timeZone);
  const value = nanos === undefined ? integerOfText(trimmed) : rescale(nanos, "nanosecond", type.unit);
  if (value === undefined || value < INT64_MIN || value > INT64_MAX)
    throw cannotParse(`Failed to parse ${text.slice(0, 80)} to Timestamp value`);
  return BigInt(value);
}
