/**
 * Aggregations: series go by their grouping labels into groups, and each is folded as it comes.
 */
import type { AggregateExpression } from "../../syntax/ast.ts";
import { shortNumberText } from "../../syntax/value-text.ts";
import { quantileOf } from "../functions/kernels/ranked.ts";
import { warnQuantiles } from "../functions/range-functions.ts";
import { emptySteps, valueAt } from "../kernels/steps.ts";
import { labelsKey, METRIC_NAME, onlyLabels, withLabel, withoutLabels } from "../labels.ts";
import { evaluationError, isTurnDue, type Scope, seriesBytes, type StepSeries, stringOf, takeTurn } from "../scope.ts";
import type { Labels } from "../series-source.ts";
import { AGGREGATIONS, accumulatorBytes, finished, newAccumulator } from "./kernels/accumulators.ts";
import { countValues, Listed } from "./kernels/chosen.ts";
import { chosenSeries } from "./choose.ts";

/** The grouping labels of a series. */
function groupingOf({ grouping, isWithout }: AggregateExpression): (labels: Labels) => Labels {
  const names = new Set(isWithout ? [...grouping, METRIC_NAME] : grouping);
  return isWithout ? (labels) => withoutLabels(labels, names) : (labels) => onlyLabels(labels, names);
}

/** A group and what it holds. */
interface Group<State> {
  readonly labels: Labels;
  dropsName: boolean;
  readonly state: State;
}

/** Groups by their labels, in the order in which they came. */
async function grouped<State>(
  node: AggregateExpression,
  scope: Scope,
  make: () => State,
  add: (state: State, series: StepSeries) => void,
): Promise<Iterable<Group<State>>> {
  const groups = new Map<string, Group<State>>();
  const grouping = groupingOf(node);
  for await (const series of scope.query.vector(node.expression, scope)) {
    const labels = grouping(series.labels);
    const key = labelsKey(labels);
    let group = groups.get(key);
    if (group === undefined) {
      group = { labels, dropsName: false, state: make() };
      groups.set(key, group);
    }
    if (series.dropsName) group.dropsName = true;
    add(group.state, series);
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  return groups.values();
}

/** The series of an aggregation. @throws DbError */
export async function* aggregate(node: AggregateExpression, scope: Scope): AsyncGenerator<StepSeries> {
  const { operator, parameter } = node;
  const { run } = scope.query;
  const steps = scope.moments.count;
  const aggregation = AGGREGATIONS.get(operator);
  if (aggregation !== undefined) {
    const make = (): ReturnType<typeof newAccumulator> => {
      run.reserve(accumulatorBytes(steps));
      return newAccumulator(steps);
    };
    for (const { labels, dropsName, state } of await grouped(node, scope, make, aggregation.add)) {
      yield { labels, dropsName, ...finished(state, aggregation) };
      if (isTurnDue(scope.query)) await takeTurn(scope.query);
      run.release(accumulatorBytes(steps));
    }
    return;
  }
  if (parameter === undefined) return;
  if (operator === "count_values") yield* valueCounts(node, stringOf(parameter), scope);
  else if (operator === "quantile") yield* quantile(node, await scope.query.scalar(parameter, scope), scope);
  else yield* chosenSeries(node, await scope.query.scalar(parameter, scope), groupingOf(node), scope);
}

async function* quantile(node: AggregateExpression, quantiles: Float64Array, scope: Scope): AsyncGenerator<StepSeries> {
  const { run } = scope.query;
  const steps = scope.moments.count;
  warnQuantiles(quantiles, node.parameter?.span ?? node.span, scope);
  let bytes = 0;
  const add = (state: Listed, series: StepSeries): void => {
    run.reserve(8 * steps);
    bytes += 8 * steps;
    state.add(series);
  };
  for (const { labels, dropsName, state } of await grouped(node, scope, () => new Listed(steps), add)) {
    const results = state.results((ordered, step) => quantileOf(valueAt(quantiles, step), ordered.length, (place) => ordered[place] ?? 0));
    yield { labels, dropsName, ...results };
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  run.release(bytes);
}

async function* valueCounts(node: AggregateExpression, label: string, scope: Scope): AsyncGenerator<StepSeries> {
  const { run } = scope.query;
  const steps = scope.moments.count;
  if (label === "" || !label.isWellFormed()) throw evaluationError(`invalid label name ${JSON.stringify(label)}`);
  const counts = new Map<string, StepSeries>();
  const grouping = groupingOf(node);
  const keeps = new Set([label]);
  for await (const { labels, dropsName, values, present } of scope.query.vector(node.expression, scope)) {
    const base = node.isWithout ? withoutLabels(grouping(labels), keeps) : grouping(labels);
    countValues({ labels, dropsName, values, present }, (value) => {
      const own = withLabel(base, label, shortValueText(value));
      const key = labelsKey(own);
      let known = counts.get(key);
      if (known === undefined) {
        run.reserve(seriesBytes(steps));
        known = { labels: own, dropsName, ...emptySteps(steps) };
        counts.set(key, known);
      }
      return known;
    });
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  yield* counts.values();
  run.release(seriesBytes(steps) * counts.size);
}

/** Digits without an exponent up to 10²¹, as labels have them. */
function shortValueText(value: number): string {
  return Number.isFinite(value) && Math.abs(value) < 1e21 && Math.abs(value) >= 1e-6 ? String(value) : shortNumberText(value);
}
