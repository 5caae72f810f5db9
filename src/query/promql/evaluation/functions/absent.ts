/**
 * `absent` and `absent_over_time`: 1 where a selector has nothing, with the labels that it asks for.
 */
import type { Call, Expression, LabelMatcher } from "../../syntax/ast.ts";
import { Scratch } from "../kernels/scratch.ts";
import { markSeen, unitePresent } from "../kernels/steps.ts";
import { WindowFinder } from "../kernels/window-finder.ts";
import { METRIC_NAME, withLabel } from "../labels.ts";
import { isTurnDue, type Scope, type StepSeries, type StepVectorMaker, takeTurn } from "../scope.ts";
import { freshSamples, rangeVector } from "../selectors.ts";
import type { Labels } from "../series-source.ts";
import { inPieces } from "../turns.ts";
import { rangeArgument } from "./range-functions.ts";

/** @throws DbError */
export async function* absent(call: Call, scope: Scope): StepVectorMaker {
  const [argument] = call.args;
  if (argument === undefined) return;
  const present = new Uint8Array(scope.moments.count);
  for await (const some of scope.query.vector(argument, scope)) for (const series of some) unitePresent(present, series.present);
  yield* missing(present, argument);
}

/** @throws DbError */
export async function* absentOverTime(call: Call, scope: Scope): StepVectorMaker {
  const range = rangeArgument(call);
  if (range === undefined) return;
  const { moments, rangeMillis, series } = rangeVector(range, scope);
  const present = new Uint8Array(scope.moments.count);
  const scratch = new Scratch(scope.query.run);
  try {
    const finder = new WindowFinder(moments, rangeMillis, scratch);
    for await (const some of series) {
      for (const one of some) {
        const { times, count } = await freshSamples(one, scope.query);
        const work = finder.find(times, count);
        if (work !== undefined) await inPieces(work, scope.query);
        if (isTurnDue(scope.query)) await takeTurn(scope.query);
        markSeen(present, finder.windows);
      }
    }
  } finally {
    scratch.release();
  }
  yield* missing(present, range);
}

function* missing(present: Uint8Array, argument: Expression): Generator<readonly StepSeries[]> {
  const missed = present.map((is) => 1 - is);
  if (missed.includes(1))
    yield [
      {
        labels: labelsOf(argument),
        dropsName: false,
        values: new Float64Array(missed.length).fill(1),
        present: missed,
        histograms: undefined,
      },
    ];
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
