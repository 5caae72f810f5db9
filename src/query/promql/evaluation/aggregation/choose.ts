/**
 * `topk`, `bottomk`, `limitk`, `limit_ratio`: series that a group keeps as they are.
 */
import type { AggregateExpression, Span } from "../../syntax/ast.ts";
import type { Aggregator } from "../../syntax/operators.ts";
import { sortedInTurns } from "../../../../base/scheduler/sorted-in-turns.ts";
import { ByLabels, type LabelChoice } from "../by-labels.ts";
import { dropHistograms, emptySteps, filterValues, hasStep, setHistogram, valueAt } from "../kernels/steps.ts";
import { withoutName } from "../labels.ts";
import {
  evaluationError,
  isTurnDue,
  type Scope,
  seriesBytes,
  type StepSeries,
  type StepVectorMaker,
  takeTurn,
  togetherMax,
} from "../scope.ts";
import type { NativeHistogram } from "../series-source.ts";
import { informIgnoredInAggregation, warn } from "../annotation.ts";
import { overSteps } from "../turns.ts";
import { LabelHasher } from "./label-hash.ts";
import { Chosen, type Wanted } from "./kernels/chosen.ts";

/** What operators keep. */
const WANTED: Readonly<Partial<Record<Aggregator, Wanted>>> = { topk: "largest", bottomk: "smallest", limitk: "first" };
/** What a step costs, in samples of other loops. */
const STEP_COST = 4;
/** The first number that 64 bits of a signed integer do not hold. */
const INTEGER_END = 2 ** 63;

/** The series of an aggregation that chooses. @throws DbError */
export async function* chosenSeries(
  node: AggregateExpression,
  parameters: Float64Array,
  grouping: LabelChoice,
  scope: Scope,
): StepVectorMaker {
  checkParameters(parameters, node);
  if (node.operator === "limit_ratio") {
    yield* ofRatio(node, parameters, scope);
    return;
  }
  const { run } = scope.query;
  const steps = scope.moments.count;
  let bytes = 0;
  const reserve = (more: number): void => {
    run.reserve(more);
    bytes += more;
  };
  const groups = new ByLabels<Chosen>(grouping);
  for await (const some of scope.query.vector(node.expression, scope)) {
    for (const series of some) {
      if (node.operator !== "limitk") ignoreHistograms(series, node.operator, node.expression.span, scope);
      if (isTurnDue(scope.query)) await takeTurn(scope.query);
      const group = groups.getOrMake(series.labels, () => new Chosen(steps, WANTED[node.operator] ?? "first", reserve));
      let number = -1;
      const rest = overSteps(scope.query, steps, (from, to) => void (number = group.add(series, parameters, from, to, number)), STEP_COST);
      if (rest !== undefined) await rest;
    }
  }
  for (const group of groups.all) yield* results(group, scope, reserve);
  run.release(bytes);
}

/** Takes away what an aggregation of numbers has no use for, and tells of it. */
export function ignoreHistograms(series: StepSeries, aggregation: string, span: Span, { query }: Scope): void {
  if (dropHistograms(series) > 0) informIgnoredInAggregation(query, aggregation, span);
}

/** What is kept of each series; of an instant query the best first. */
async function* results(group: Chosen, scope: Scope, reserve: (bytes: number) => void): StepVectorMaker {
  const { query, moments } = scope;
  const steps = moments.count;
  const found: (StepSeries | undefined)[] = [];
  const take = (number: number, step: number, value: number, histogram: NativeHistogram | undefined): void => {
    let series = found[number];
    if (series === undefined) {
      reserve(seriesBytes(steps));
      const { labels, dropsName } = group.kept[number] ?? { labels: [], dropsName: false };
      series = { labels, dropsName, ...emptySteps(steps) };
      found[number] = series;
    }
    if (histogram !== undefined) setHistogram(series, step, histogram);
    else {
      series.values[step] = value;
      series.present[step] = 1;
    }
  };
  await overSteps(query, steps, (from, to) => group.each(from, to, take), STEP_COST);
  const orderOf = (number: number): number => group.kept[number]?.order ?? 0;
  const valueOf = (number: number): number => found[number]?.values[0] ?? Number.NaN;
  const numbers = await sortedInTurns(
    [...found.keys()].filter((number) => found[number] !== undefined),
    (a, b) => {
      if (steps > 1) return orderOf(a) - orderOf(b);
      if (group.isWorse(valueOf(a), valueOf(b))) return 1;
      return group.isWorse(valueOf(b), valueOf(a)) ? -1 : orderOf(a) - orderOf(b);
    },
    query.run.pace,
  );
  const most = togetherMax(steps);
  for (let from = 0; from < numbers.length; from += most) {
    const some: StepSeries[] = [];
    for (const number of numbers.slice(from, from + most)) {
      const series = found[number];
      if (series !== undefined) some.push(series);
      found[number] = undefined;
    }
    yield some;
    if (isTurnDue(query)) await takeTurn(query);
  }
}

function checkParameters(parameters: Float64Array, { operator }: AggregateExpression): void {
  for (const parameter of parameters) {
    if (Number.isNaN(parameter)) throw evaluationError(operator === "limit_ratio" ? `Ratio value is NaN` : "Parameter value is NaN");
    if (operator === "limit_ratio") continue;
    if (parameter >= INTEGER_END) throw evaluationError(`Scalar value ${parameter} overflows int64`);
    if (parameter < -INTEGER_END) throw evaluationError(`Scalar value ${parameter} underflows int64`);
  }
}

/** A series is kept by a hash of its labels: the same ones at any time, and those of `r` and `r - 1` are all. */
async function* ofRatio(node: AggregateExpression, parameters: Float64Array, scope: Scope): StepVectorMaker {
  for (const ratio of new Set(parameters)) {
    if (ratio >= -1 && ratio <= 1) continue;
    const capped = ratio < 0 ? -1 : 1;
    warn(scope.query, `ratio value should be between -1 and 1, got ${ratio}, capping to ${capped}`, node.parameter?.span ?? node.span);
  }
  const hasher = new LabelHasher();
  for await (const some of scope.query.vector(node.expression, scope)) {
    const found: StepSeries[] = [];
    for (const series of some) {
      // Where Prometheus has dropped the name already, its hash is without it.
      const place = hasher.placeOf(series.dropsName ? withoutName(series.labels) : series.labels);
      const isKept = (_value: number, step: number): boolean => {
        const ratio = valueAt(parameters, step);
        return ratio >= 0 ? place < ratio : place >= 1 + ratio;
      };
      const rest = overSteps(scope.query, parameters.length, (from, to) => filterValues(series, isKept, from, to));
      if (rest !== undefined) await rest;
      if (isTurnDue(scope.query)) await takeTurn(scope.query);
      if (hasStep(series.present)) found.push(series);
    }
    yield found;
  }
}
