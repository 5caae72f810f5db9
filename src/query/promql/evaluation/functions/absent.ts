/**
 * `absent` and `absent_over_time`: 1 where a selector has nothing, with the labels that it asks for.
 */
import type { Call, Expression, LabelMatcher } from "../../syntax/ast.ts";
import { unitePresent } from "../kernels/steps.ts";
import { windowsOf } from "../kernels/windows.ts";
import { METRIC_NAME, withLabel } from "../labels.ts";
import type { Scope, StepSeries } from "../scope.ts";
import { rangeVector } from "../selectors.ts";
import type { Labels } from "../series-source.ts";
import { emptySteps } from "../kernels/steps.ts";
import { PRESENT_OVER_TIME } from "./kernels/over-time.ts";
import { rangeArgument } from "./range-functions.ts";

/** @throws DbError */
export async function* absent(call: Call, scope: Scope): AsyncGenerator<StepSeries> {
  const [argument] = call.args;
  if (argument === undefined) return;
  const present = new Uint8Array(scope.moments.count);
  for await (const series of scope.query.vector(argument, scope)) unitePresent(present, series.present);
  yield* missing(present, argument);
}

/** @throws DbError */
export async function* absentOverTime(call: Call, scope: Scope): AsyncGenerator<StepSeries> {
  const range = rangeArgument(call);
  if (range === undefined) return;
  const { moments, rangeMillis, series } = rangeVector(range, scope);
  const present = new Uint8Array(scope.moments.count);
  for await (const { times, values, count } of series) {
    const out = emptySteps(scope.moments.count);
    const windows = windowsOf(times, count, moments, rangeMillis);
    PRESENT_OVER_TIME(
      { times, values, count, windows, moments, rangeMillis, evaluation: scope.moments, parameters: [] },
      out.values,
      out.present,
    );
    unitePresent(present, out.present);
  }
  yield* missing(present, range);
}

function* missing(present: Uint8Array, argument: Expression): Generator<StepSeries> {
  const missed = present.map((is) => 1 - is);
  if (missed.includes(1))
    yield { labels: labelsOf(argument), dropsName: false, values: new Float64Array(missed.length).fill(1), present: missed };
}

function labelsOf(argument: Expression): Labels {
  if (argument.kind === "MatrixSelector") return equalLabels(argument.selector.matchers);
  return argument.kind === "VectorSelector" ? equalLabels(argument.matchers) : [];
}

/** A label that is asked for twice, or otherwise than by `=`, is left out. */
function equalLabels(matchers: readonly LabelMatcher[]): Labels {
  let labels: Labels = [];
  const seen = new Set<string>();
  for (const { name, operator, value } of matchers) {
    if (name === METRIC_NAME) continue;
    labels = withLabel(labels, name, operator === "=" && !seen.has(name) ? value : "");
    if (operator === "=") seen.add(name);
  }
  return labels;
}
