/**
 * Aggregations: series go by their grouping labels into groups, and each is folded as it comes.
 */
import type { AggregateExpression } from "../../syntax/ast.ts";
import { numberText } from "../../syntax/value-text.ts";
import { quantileOf } from "../functions/kernels/ranked.ts";
import { warnQuantiles } from "../functions/range-functions.ts";
import { ByLabels, type LabelChoice } from "../by-labels.ts";
import { histogramText } from "../histogram/text.ts";
import { dropHistograms, emptySteps, valueAt } from "../kernels/steps.ts";
import { labelsKey, METRIC_NAME, onlyLabels, withLabel, withoutLabels } from "../labels.ts";
import {
  evaluationError,
  isTurnDue,
  type Scope,
  seriesBytes,
  type Steps,
  type StepSeries,
  type StepVectorMaker,
  stringOf,
  takeTurn,
  together,
  togetherMax,
} from "../scope.ts";
import type { Labels, NativeHistogram } from "../series-source.ts";
import { overSteps } from "../turns.ts";
import { chosenSeries, ignoreHistograms } from "./choose.ts";
import { HistogramGroup } from "./histogram-group.ts";
import { type Accumulator, AGGREGATIONS, accumulatorBytes, finished, newAccumulator } from "./kernels/accumulators.ts";
import { countValues } from "./kernels/counted-values.ts";
import { Listed, type StepValues } from "./kernels/listed.ts";

/** What a value that nobody has counted yet costs, in samples: an array of steps, and the text of a histogram. */
const COUNTED_COST = 4096;
/** Label sets whose group is remembered. */
const KNOWN_MAX = 4096;

/** How often a value is looked at until a quantile is found, nearly. */
const LOOKS = 8;

/** The grouping labels of a series. */
function groupingOf({ grouping, isWithout }: AggregateExpression): (labels: Labels) => Labels {
  const names = new Set(isWithout ? [...grouping, METRIC_NAME] : grouping);
  return isWithout ? (labels) => withoutLabels(labels, names) : (labels) => onlyLabels(labels, names);
}

/** Which labels tell groups apart. */
function choiceOf({ grouping, isWithout }: AggregateExpression): LabelChoice {
  return { names: new Set(isWithout ? [...grouping, METRIC_NAME] : grouping), areKept: !isWithout };
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
  add: (state: State, series: StepSeries) => Promise<void> | undefined,
): Promise<Iterable<Group<State>>> {
  const groups = new ByLabels<Group<State>>(choiceOf(node));
  // Sources that were told which labels count give one object for equal ones.
  const known = new Map<Labels, Group<State>>();
  const grouping = groupingOf(node);
  for await (const some of scope.query.vector(node.expression, scope)) {
    for (const series of some) {
      let group = known.get(series.labels);
      if (group === undefined) {
        group = groups.getOrMake(series.labels, () => ({ labels: grouping(series.labels), dropsName: false, state: make() }));
        if (known.size < KNOWN_MAX) known.set(series.labels, group);
      }
      if (series.dropsName) group.dropsName = true;
      const rest = add(group.state, series);
      if (rest !== undefined) await rest;
    }
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  return groups.all;
}

/** What a group has folded. */
interface Folded {
  readonly numbers: Accumulator;
  /** Undefined: it has seen none. */
  histograms: HistogramGroup | undefined;
}

/** Takes the histograms out of a series that the aggregation does not count as it counts numbers. */
async function takeHistograms(
  state: Folded,
  series: StepSeries,
  { operator, expression }: AggregateExpression,
  scope: Scope,
): Promise<void> {
  if (operator === "count" || operator === "group") return;
  if (operator === "sum" || operator === "avg") {
    state.histograms ??= new HistogramGroup(operator === "avg", expression.span, scope);
    await state.histograms.add(series);
    dropHistograms(series);
  } else ignoreHistograms(series, operator, expression.span, scope);
}

/** The series of an aggregation. @throws DbError */
export async function* aggregate(node: AggregateExpression, scope: Scope): StepVectorMaker {
  const { operator, parameter } = node;
  const { run } = scope.query;
  const steps = scope.moments.count;
  const aggregation = AGGREGATIONS.get(operator);
  if (aggregation !== undefined) {
    const most = togetherMax(steps);
    const make = (): Folded => {
      run.reserve(accumulatorBytes(steps));
      return { numbers: newAccumulator(steps), histograms: undefined };
    };
    const add = (state: Folded, series: StepSeries): Promise<void> | undefined => {
      if (series.histograms !== undefined) return addMixed(state, series);
      aggregation.add(state.numbers, series);
      scope.query.spare.give(series, most);
      return undefined;
    };
    const addMixed = async (state: Folded, series: StepSeries): Promise<void> => {
      await takeHistograms(state, series, node, scope);
      aggregation.add(state.numbers, series);
    };
    for (const { labels, dropsName, state } of await grouped(node, scope, make, add)) {
      const results = finished(state.numbers, aggregation);
      await state.histograms?.addTo(results);
      yield [{ labels, dropsName, ...results }];
      if (isTurnDue(scope.query)) await takeTurn(scope.query);
      state.histograms?.release();
      run.release(accumulatorBytes(steps));
    }
    return;
  }
  if (parameter === undefined) return;
  if (operator === "count_values") yield* valueCounts(node, stringOf(parameter), scope);
  else if (operator === "quantile") yield* quantile(node, await scope.query.scalar(parameter, scope), scope);
  else yield* chosenSeries(node, await scope.query.scalar(parameter, scope), choiceOf(node), scope);
}

async function* quantile(node: AggregateExpression, quantiles: Float64Array, scope: Scope): StepVectorMaker {
  const { run } = scope.query;
  const steps = scope.moments.count;
  warnQuantiles(quantiles, node.parameter?.span ?? node.span, scope);
  let bytes = 0;
  const reserve = (more: number): void => {
    run.reserve(more);
    bytes += more;
  };
  const add = (state: Listed, series: StepSeries): undefined => {
    ignoreHistograms(series, "quantile", node.expression.span, scope);
    state.add(series);
  };
  for (const { labels, dropsName, state } of await grouped(node, scope, () => new Listed(steps, reserve), add)) {
    const results = emptySteps(steps);
    const ofStep = (values: StepValues, step: number): number =>
      quantileOf(valueAt(quantiles, step), values.count, (place) => values.at(place));
    await overSteps(scope.query, steps, (from, to) => state.results(results, from, to, ofStep), LOOKS * state.size);
    yield [{ labels, dropsName, ...results }];
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  run.release(bytes);
}

async function* valueCounts(node: AggregateExpression, label: string, scope: Scope): StepVectorMaker {
  const { run } = scope.query;
  const { count } = scope.moments;
  if (label === "" || !label.isWellFormed()) throw evaluationError(`invalid label name ${JSON.stringify(label)}`);
  const counts = new Map<string, StepSeries>();
  const grouping = groupingOf(node);
  const keeps = new Set([label]);
  for await (const some of scope.query.vector(node.expression, scope)) {
    for (const { labels, dropsName, ...steps } of some) {
      const base = node.isWithout ? withoutLabels(grouping(labels), keeps) : grouping(labels);
      const countsOf = (value: number | NativeHistogram): Steps => {
        const own = withLabel(base, label, typeof value === "number" ? valueText(value) : histogramText(value));
        const key = labelsKey(own);
        let known = counts.get(key);
        if (known === undefined) {
          run.reserve(seriesBytes(count));
          known = { labels: own, dropsName, ...emptySteps(count) };
          counts.set(key, known);
        }
        return known;
      };
      const rest = overSteps(scope.query, count, (from, to) => countValues(steps, countsOf, from, to), COUNTED_COST);
      if (rest !== undefined) await rest;
      if (isTurnDue(scope.query)) await takeTurn(scope.query);
    }
  }
  yield* together(counts.values(), scope);
  run.release(seriesBytes(count) * counts.size);
}

/** Digits without an exponent, as labels have them. */
function valueText(value: number): string {
  return Number.isFinite(value) && Math.abs(value) < 1e21 && Math.abs(value) >= 1e-6 ? String(value) : numberText(value);
}
