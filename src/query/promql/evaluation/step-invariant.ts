/**
 * Parts of a query that are the same at every step, since `@` fixes what they read: they are evaluated once.
 */
import type { Expression } from "../syntax/ast.ts";
import { CALENDAR_FUNCTIONS } from "./functions/instant-functions.ts";
import { type Scope, type StepSeries, type StepVector, type StepVectorMaker, together } from "./scope.ts";

const known = new WeakMap<Expression, boolean>();

/** Whether a part gives the same at every step. */
export function isStepInvariant(node: Expression): boolean {
  let is = known.get(node);
  if (is === undefined) {
    is = found(node);
    known.set(node, is);
  }
  return is;
}

function found(node: Expression): boolean {
  switch (node.kind) {
    case "NumberLiteral":
    case "StringLiteral":
      return true;
    case "VectorSelector":
    case "SubqueryExpression":
      return node.at !== undefined;
    case "MatrixSelector":
      return node.selector.at !== undefined;
    case "ParenExpression":
    case "UnaryExpression":
      return isStepInvariant(node.expression);
    case "AggregateExpression":
      return isStepInvariant(node.expression) && (node.parameter === undefined || isStepInvariant(node.parameter));
    case "BinaryExpression":
      return isStepInvariant(node.left) && isStepInvariant(node.right);
    case "Call": {
      const { name } = node.signature;
      if (name === "time" || name === "timestamp" || name === "predict_linear" || name === "info") return false;
      return (node.args.length > 0 || !CALENDAR_FUNCTIONS.has(name)) && node.args.every(isStepInvariant);
    }
  }
}

/** The first step alone. */
export function atOneMoment({ query, moments }: Scope): Scope {
  return { query, moments: { ...moments, count: 1 } };
}

/** The numbers of one step at all. */
export function repeatedScalar([value = Number.NaN]: Float64Array, count: number): Float64Array {
  return new Float64Array(count).fill(value);
}

/** The series of one step at all. */
export async function* repeatedVector(vector: StepVector, scope: Scope): StepVectorMaker {
  for await (const some of vector) yield* together(repeatedSeries(some, scope.moments.count), scope);
}

function* repeatedSeries(series: readonly StepSeries[], count: number): Generator<StepSeries> {
  for (const { values, present, histograms, ...rest } of series) {
    const repeated = { values: repeatedScalar(values, count), present: new Uint8Array(count).fill(present.includes(1) ? 1 : 0) };
    yield { ...rest, ...repeated, histograms: histograms && new Array(count).fill(histograms[0]) };
  }
}
