/**
 * The entry: a tree, moments and a source of series to a result. Every part is evaluated for all steps at once, series by series.
 */
import { unreachable } from "../../../base/assert.ts";
import type { Expression } from "../syntax/ast.ts";
import { aggregate } from "./aggregation/aggregate.ts";
import { scalarOperation, signedScalar, signedVector, vectorOperation } from "./binary/binary.ts";
import { scalarCall, vectorCall } from "./functions/calls.ts";
import { selectorsOfStatistics } from "./histogram/resolved-hints.ts";
import { withoutName } from "./labels.ts";
import { MergedSeries } from "./merged-series.ts";
import { evaluationError, isTurnDue, type QueryScope, type Scope, type StepVector, takeTurn, together, unwrapped } from "./scope.ts";
import { SelectionCache } from "./selection-cache.ts";
import { freshSamples, instantSelector, rangeVector } from "./selectors.ts";
import type { Annotations, EvaluationRun, QueryResult, QueryTimes, SampledSeries, SeriesSource, SteppedSeries } from "./series-source.ts";
import { atOneMoment, isStepInvariant, repeatedScalar, repeatedVector } from "./step-invariant.ts";
import { mixedSamplesIn } from "./kernels/mixed-samples.ts";
import { SpareSteps } from "./kernels/spare-steps.ts";
import { hasAllSteps, hasStep } from "./kernels/steps.ts";

/** Most steps of a query. Reason: each series has an array of them. */
const STEPS_MAX = 4_000_000;

/**
 * Evaluates a checked tree. Series of a result are made as they are asked for, and errors come then, too.
 *
 * @param text that the tree was parsed from, for the places in annotations; without it all is on one line
 * @throws DbError
 */
export async function evaluate(
  expression: Expression,
  times: QueryTimes,
  source: SeriesSource,
  run: EvaluationRun,
  annotations: Annotations,
  text?: string,
): Promise<QueryResult> {
  const count = Math.floor((times.endMillis - times.startMillis) / times.stepMillis) + 1;
  if (!(count >= 1)) throw evaluationError("cannot evaluate the query: its end is before its start");
  if (count > STEPS_MAX)
    throw evaluationError(`cannot evaluate the query: it has ${count} steps, at most ${STEPS_MAX}; take a longer step`);
  const selections = new SelectionCache(expression);
  const ofStatistics = selectorsOfStatistics(expression);
  const spare = new SpareSteps();
  const query: QueryScope = { times, source, run, annotations, text, selections, spare, ofStatistics, vector, scalar };
  const scope: Scope = { query, moments: { startMillis: times.startMillis, stepMillis: times.stepMillis, count } };
  const node = unwrapped(expression);
  switch (node.valueType) {
    case "scalar":
      return { kind: "scalar", values: await scalar(node, scope) };
    case "string":
      return { kind: "string", value: node.kind === "StringLiteral" ? node.value : "" };
    case "vector":
      return { kind: "vector", series: named(vector(node, scope), scope), isOrdered: count === 1 && isOrdered(node) };
    case "matrix":
      return { kind: "matrix", series: rawSamples(node, scope) };
    default:
      return unreachable(node);
  }
}

function isOrdered(node: Expression): boolean {
  if (node.kind === "AggregateExpression") return node.operator === "topk" || node.operator === "bottomk";
  return node.kind === "Call" && node.signature.name.startsWith("sort");
}

function vector(node: Expression, scope: Scope): StepVector {
  if (scope.moments.count > 1 && isStepInvariant(node)) return repeatedVector(vectorOf(node, atOneMoment(scope)), scope);
  return vectorOf(node, scope);
}

function vectorOf(node: Expression, scope: Scope): StepVector {
  switch (node.kind) {
    case "ParenExpression":
      return vectorOf(node.expression, scope);
    case "VectorSelector":
      return instantSelector(node, scope, "value");
    case "AggregateExpression":
      return aggregate(node, scope);
    case "BinaryExpression":
      return vectorOperation(node, scope);
    case "UnaryExpression":
      return signedVector(node, scope);
    case "Call":
      return vectorCall(node, scope);
    case "NumberLiteral":
    case "StringLiteral":
    case "MatrixSelector":
    case "SubqueryExpression":
      throw evaluationError(`cannot evaluate the query: a ${node.valueType} stands where an instant vector is needed`);
    default:
      return unreachable(node);
  }
}

async function scalar(node: Expression, scope: Scope): Promise<Float64Array> {
  const { count } = scope.moments;
  if (count > 1 && node.kind !== "NumberLiteral" && isStepInvariant(node))
    return repeatedScalar(await scalarOf(node, atOneMoment(scope)), count);
  return scalarOf(node, scope);
}

async function scalarOf(node: Expression, scope: Scope): Promise<Float64Array> {
  if (isTurnDue(scope.query)) await takeTurn(scope.query);
  switch (node.kind) {
    case "ParenExpression":
      return scalarOf(node.expression, scope);
    case "NumberLiteral":
      return new Float64Array(scope.moments.count).fill(node.value);
    case "BinaryExpression":
      return scalarOperation(node, scope);
    case "UnaryExpression":
      return signedScalar(node, scope);
    case "Call":
      return scalarCall(node, scope);
    case "StringLiteral":
    case "VectorSelector":
    case "MatrixSelector":
    case "SubqueryExpression":
    case "AggregateExpression":
      throw evaluationError(`cannot evaluate the query: a ${node.valueType} stands where a scalar is needed`);
    default:
      return unreachable(node);
  }
}

/** The result with names gone that are to go. Series that are equal without become one. */
async function* named(all: StepVector, scope: Scope): AsyncGenerator<readonly SteppedSeries[], void, void> {
  const merged = new MergedSeries(scope);
  const { query } = scope;
  for await (const some of all) {
    for (const one of some) {
      if (!hasStep(one.present)) continue;
      const { labels, values, present, histograms } = one;
      merged.add(one.dropsName ? { labels: withoutName(labels), dropsName: false, values, present, histograms } : one);
    }
    if (isTurnDue(query)) await takeTurn(query);
  }
  for (const some of together(merged.take(), scope)) {
    if (isTurnDue(query)) await takeTurn(query);
    yield some.map(({ labels, values, present, histograms }) => {
      return { labels, values, present: hasAllSteps(present) ? undefined : present, histograms };
    });
  }
}

/** Of an instant query. */
async function* rawSamples(node: Expression, scope: Scope): AsyncGenerator<SampledSeries> {
  if (node.kind !== "MatrixSelector" && node.kind !== "SubqueryExpression") return;
  const { moments, rangeMillis, series } = rangeVector(node, scope);
  for await (const some of series) {
    for (const one of some) {
      const { labels, dropsName } = one;
      const samples = mixedSamplesIn(await freshSamples(one, scope.query), moments.startMillis - rangeMillis, moments.startMillis);
      if (samples.count > 0) yield { labels: dropsName ? withoutName(labels) : labels, ...samples };
    }
  }
}
