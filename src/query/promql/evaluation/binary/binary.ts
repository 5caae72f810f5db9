/**
 * Operators: of scalars, of a scalar and a vector, of two vectors; and signs.
 */
import type { BinaryExpression, UnaryExpression } from "../../syntax/ast.ts";
import { BINARY_OPERATORS } from "../../syntax/operators.ts";
import { filterValues, mapValues, valueAt, zipped } from "../kernels/steps.ts";
import { evaluationError, type Scope, type StepSeries } from "../scope.ts";
import { numberOperator } from "./kernels/operators.ts";
import { matchedVectors } from "./matching.ts";
import { setOperation } from "./set-operators.ts";

/** The numbers of an operation of two scalars. @throws DbError */
export async function scalarOperation({ operator, left, right }: BinaryExpression, scope: Scope): Promise<Float64Array> {
  const combine = numberOperator(operator);
  if (combine === undefined) throw evaluationError(`operator ${JSON.stringify(operator)} not allowed for Scalar operations`);
  return zipped(await scope.query.scalar(left, scope), await scope.query.scalar(right, scope), combine);
}

/** The series of an operation with a vector. @throws DbError */
export function vectorOperation(node: BinaryExpression, scope: Scope): AsyncIterable<StepSeries> {
  if (node.left.valueType === "scalar" || node.right.valueType === "scalar") return withScalar(node, scope);
  return BINARY_OPERATORS[node.operator].family === "set" ? setOperation(node, scope) : matchedVectors(node, scope);
}

async function* withScalar(node: BinaryExpression, scope: Scope): AsyncGenerator<StepSeries> {
  const { operator, left, right, returnsBool } = node;
  const combine = numberOperator(operator);
  if (combine === undefined) return; // `</` and `>/` are of histograms.
  const isScalarLeft = left.valueType === "scalar";
  const numbers = await scope.query.scalar(isScalarLeft ? left : right, scope);
  const ofStep = (value: number, step: number): number =>
    isScalarLeft ? combine(valueAt(numbers, step), value) : combine(value, valueAt(numbers, step));
  const filters = BINARY_OPERATORS[operator].family === "comparison" && !returnsBool;
  for await (const series of scope.query.vector(isScalarLeft ? right : left, scope)) {
    if (!filters) {
      mapValues(series, ofStep);
      yield { ...series, dropsName: true };
      continue;
    }
    filterValues(series, (value, step) => ofStep(value, step) === 1);
    if (series.present.includes(1)) yield series;
  }
}

/** The series under a sign. @throws DbError */
export async function* signedVector({ operator, expression }: UnaryExpression, scope: Scope): AsyncGenerator<StepSeries> {
  for await (const series of scope.query.vector(expression, scope)) {
    if (operator === "+") {
      yield series;
      continue;
    }
    mapValues(series, (value) => -value);
    yield { ...series, dropsName: true };
  }
}

/** The numbers under a sign. @throws DbError */
export async function signedScalar({ operator, expression }: UnaryExpression, scope: Scope): Promise<Float64Array> {
  const values = await scope.query.scalar(expression, scope);
  return operator === "+" ? values : values.map((value) => -value);
}
