/** Constant folding: an expression over constants becomes a constant when it is planned. */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type DataType, sameType } from "../../column/data-type.ts";
import { evaluate } from "./interpreter.ts";
import { unlessLong } from "./call-weights.ts";
import type { Environment } from "../function/signature/environment.ts";
import { type Present, valueKey } from "../function/value/value.ts";
import { comparisonOf, expressionKey, isVolatile, literal, operandsOf, type TypedExpression } from "./expression.ts";

const NO_ROW = (): never => {
  throw new Error("a constant reads no column");
};

/**
 * The value of `expression` if all its operands are constants and it is not volatile, else `expression` itself.
 * Operands are folded already. A failing computation stays as it is and fails when a row needs it; a failing cast fails now. One that
 * takes long stays as it is, too, and is done while the query runs.
 */
export function fold(expression: TypedExpression, environment: Environment): TypedExpression {
  if (expression.kind === "literal" || expression.kind === "column" || expression.kind === "parameter") return expression;
  if (expression.kind === "call" && expression.function.volatility === "volatile") return expression;
  if (!operandsOf(expression).every((operand) => operand.kind === "literal")) return simplify(expression);
  try {
    const folded = unlessLong(() => literal(expression.type, evaluate(expression, NO_ROW, environment)));
    return folded ?? expression;
  } catch (thrown) {
    if (expression.kind !== "cast" && thrown instanceof DbError && thrown.code === StatusCode.EngineExecuteQuery) return expression;
    throw thrown;
  }
}

/** Drops operands of AND and OR that decide nothing, and lets deciding ones decide. */
function simplify(expression: TypedExpression): TypedExpression {
  if (expression.kind !== "logic") return expression;
  const decisive = expression.operator === "or";
  const isConstant = (operand: TypedExpression, value: boolean): boolean => operand.kind === "literal" && operand.value === value;
  const found = expression.operands.find((operand) => isConstant(operand, decisive));
  if (found !== undefined) return found;
  const rest = withSets(
    expression.operands.filter((operand) => !isConstant(operand, !decisive)),
    expression.operator,
  );
  const [first] = rest;
  return rest.length === 1 && first !== undefined ? first : { ...expression, operands: rest };
}

/** Comparisons of one expression with constants from which they become a set. */
const SET_COMPARISONS_MIN = 16;

/**
 * `x = 1 OR x = 2 OR …` as `x IN (1, 2, …)`, and `x <> 1 AND x <> 2 AND …` as `x NOT IN (1, 2, …)`, where there are many: a set is looked
 * into once a row, each comparison is made once a row. NULL and NaN mean the same in both.
 */
function withSets(operands: readonly TypedExpression[], operator: "and" | "or"): readonly TypedExpression[] {
  if (operands.length < SET_COMPARISONS_MIN) return operands;
  const wanted = operator === "or" ? "=" : "<>";
  const bySubject = new Map<string, { readonly first: number; readonly subject: TypedExpression; readonly values: Present[] }>();
  const kept: (TypedExpression | undefined)[] = [];
  for (const operand of operands) {
    const comparison = comparisonOf(operand);
    const value = comparison?.operator === wanted ? comparison.constant.value : undefined;
    if (comparison === undefined || value === undefined || !isSetOf(comparison.subject, comparison.constant.type)) {
      kept.push(operand);
      continue;
    }
    const key = expressionKey(comparison.subject);
    const known = bySubject.get(key);
    if (known === undefined) {
      bySubject.set(key, { first: kept.length, subject: comparison.subject, values: [value] });
      kept.push(operand);
    } else {
      known.values.push(value);
      kept.push(undefined);
    }
  }
  return placedSets(operands, kept, [...bySubject.values()], operator);
}

function placedSets(
  operands: readonly TypedExpression[],
  kept: (TypedExpression | undefined)[],
  sets: readonly { readonly first: number; readonly subject: TypedExpression; readonly values: readonly Present[] }[],
  operator: "and" | "or",
): readonly TypedExpression[] {
  for (const { first, subject, values } of sets) {
    if (values.length < 2) continue;
    const keys = new Set(values.map(valueKey));
    const type = operands[first]?.type ?? { kind: "boolean" };
    kept[first] = { kind: "in-set", type, operand: subject, values, keys, hasNull: false, negated: operator === "and" };
  }
  return kept.filter((operand) => operand !== undefined);
}

/** Whether values of a constant's type are values of the subject's as they are, and the subject is one thing to all comparisons. */
export function isSetOf(subject: TypedExpression, type: DataType): boolean {
  const { kind } = subject.type;
  const isSame = kind === "int" ? type.kind === "int" : sameType(subject.type, type);
  const isPlain = kind === "int" || kind === "string" || kind === "float" || kind === "timestamp" || kind === "date";
  return isSame && isPlain && !isVolatile(subject);
}
