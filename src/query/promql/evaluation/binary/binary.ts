/**
 * Operators: of scalars, of a scalar and a vector, of two vectors; and signs.
 */
import type { BinaryExpression, UnaryExpression } from "../../syntax/ast.ts";
import { BINARY_OPERATORS } from "../../syntax/operators.ts";
import { filterValues, hasStep, mapValues, valueAt, zipInto } from "../kernels/steps.ts";
import { scaled } from "../histogram/arithmetic.ts";
import { eachHistogram } from "../histogram/turns.ts";
import { evaluationError, type Scope, type StepSeries, type StepVector, type StepVectorMaker } from "../scope.ts";
import { overSteps } from "../turns.ts";
import { numberOperator } from "./kernels/operators.ts";
import { hasHistograms, operateSteps, sampleAt } from "./mixed-steps.ts";
import { matchedVectors } from "./matching.ts";
import { type Sample, sampleOperation } from "./sample-operators.ts";
import { setOperation } from "./set-operators.ts";

/** The numbers of an operation of two scalars. @throws DbError */
export async function scalarOperation({ operator, left, right }: BinaryExpression, scope: Scope): Promise<Float64Array> {
  const combine = numberOperator(operator);
  if (combine === undefined) throw evaluationError(`operator ${JSON.stringify(operator)} not allowed for Scalar operations`);
  const numbers = await scope.query.scalar(left, scope);
  const others = await scope.query.scalar(right, scope);
  await overSteps(scope.query, numbers.length, (from, to) => zipInto(numbers, others, combine, from, to));
  return numbers;
}

/** The series of an operation with a vector. @throws DbError */
export function vectorOperation(node: BinaryExpression, scope: Scope): StepVector {
  if (node.left.valueType === "scalar" || node.right.valueType === "scalar") return withScalar(node, scope);
  return BINARY_OPERATORS[node.operator].family === "set" ? setOperation(node, scope) : matchedVectors(node, scope);
}

async function* withScalar(node: BinaryExpression, scope: Scope): StepVectorMaker {
  const { operator, left, right, returnsBool } = node;
  const combine = numberOperator(operator);
  const operation = sampleOperation(node, scope.query);
  const isScalarLeft = left.valueType === "scalar";
  const numbers = await scope.query.scalar(isScalarLeft ? left : right, scope);
  const numeric = combine ?? ((): number => Number.NaN);
  const ofStep = (value: number, step: number): number =>
    isScalarLeft ? numeric(valueAt(numbers, step), value) : numeric(value, valueAt(numbers, step));
  const { family } = BINARY_OPERATORS[operator];
  const filters = family === "comparison" && !returnsBool;
  const ofSeries = async (series: StepSeries): Promise<StepSeries | undefined> => {
    const sides = (step: number): readonly [Sample, Sample] | undefined => {
      if (series.present[step] === 0) return undefined;
      return isScalarLeft ? [valueAt(numbers, step), sampleAt(series, step)] : [sampleAt(series, step), valueAt(numbers, step)];
    };
    const kept = filters ? (isScalarLeft ? "right" : "left") : undefined;
    const steps = await operateSteps(numbers.length, sides, operation, kept, scope.query);
    const keepsName = filters || family === "trim";
    return steps && { ...series, ...steps, dropsName: series.dropsName || !keepsName };
  };
  for await (const some of scope.query.vector(isScalarLeft ? right : left, scope)) {
    const found: StepSeries[] = [];
    for (const series of some) {
      if (combine === undefined || hasHistograms(series)) {
        const one = await ofSeries(series);
        if (one !== undefined) found.push(one);
        continue;
      }
      const rest = overSteps(scope.query, numbers.length, (from, to) => {
        if (filters) filterValues(series, (value, step) => ofStep(value, step) === 1, from, to);
        else mapValues(series, ofStep, from, to);
      });
      if (rest !== undefined) await rest;
      if (!filters) found.push({ ...series, dropsName: true });
      else if (hasStep(series.present)) found.push(series);
    }
    yield found;
  }
}

/** The series under a sign. @throws DbError */
export async function* signedVector({ operator, expression }: UnaryExpression, scope: Scope): StepVectorMaker {
  for await (const some of scope.query.vector(expression, scope)) {
    if (operator === "+") {
      yield some;
      continue;
    }
    for (const series of some) {
      const rest = overSteps(scope.query, scope.moments.count, (from, to) => mapValues(series, (value) => -value, from, to));
      if (rest !== undefined) await rest;
      const { histograms } = series;
      if (histograms === undefined) continue;
      await eachHistogram(scope.query, histograms.length, (step) => {
        const histogram = histograms[step];
        if (histogram !== undefined) histograms[step] = scaled(histogram, -1);
      });
    }
    yield some.map((series) => ({ ...series, dropsName: true }));
  }
}

/** The numbers under a sign. @throws DbError */
export async function signedScalar({ operator, expression }: UnaryExpression, scope: Scope): Promise<Float64Array> {
  const values = await scope.query.scalar(expression, scope);
  return operator === "+" ? values : values.map((value) => -value);
}
