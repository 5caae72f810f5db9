/**
 * `label_replace`, `label_join`, and the functions that put series in order.
 */
import { sortedInTurns } from "../../../../base/scheduler/sorted-in-turns.ts";
import { compileLinearRegex, compileReplacement } from "../../../../base/text/linear-regex.ts";
import type { Call } from "../../syntax/ast.ts";
import { warn } from "../annotation.ts";
import { dropHistograms, hasStep, valueAt } from "../kernels/steps.ts";
import { compareLabels, labelValue, METRIC_NAME, withLabel } from "../labels.ts";
import { MergedSeries } from "../merged-series.ts";
import {
  collected,
  evaluationError,
  isTurnDue,
  type Scope,
  type StepSeries,
  type StepVector,
  type StepVectorMaker,
  stringOf,
  takeTurn,
  together,
} from "../scope.ts";

/** `label_replace(vector, target, replacement, source, pattern)`. @throws DbError */
export async function* labelReplace(call: Call, scope: Scope): StepVectorMaker {
  const [vector, ...texts] = call.args;
  const [target = "", replacement = "", source = "", pattern = ""] = texts.map(stringOf);
  const regex = compileLinearRegex(`^(?:${pattern})$`, { dotAll: true });
  if (!regex.ok) throw evaluationError(`invalid regular expression in label_replace(): ${pattern}`);
  if (!isLabelName(target)) throw evaluationError(`invalid destination label name in label_replace(): ${target}`);
  const fill = compileReplacement(replacement, regex.value);
  yield* relabelled(vector, scope, target, (series) => {
    const groups = regex.value.first(labelValue(series.labels, source));
    return groups === undefined ? undefined : fill(groups);
  });
}

/** `label_join(vector, target, separator, source, …)`. @throws DbError */
export async function* labelJoin(call: Call, scope: Scope): StepVectorMaker {
  const [vector, ...texts] = call.args;
  const [target = "", separator = "", ...sources] = texts.map(stringOf);
  for (const source of sources) if (!isLabelName(source)) throw evaluationError(`invalid source label name in label_join(): ${source}`);
  if (!isLabelName(target)) throw evaluationError(`invalid destination label name in label_join(): ${target}`);
  yield* relabelled(vector, scope, target, ({ labels }) => sources.map((source) => labelValue(labels, source)).join(separator));
}

function isLabelName(name: string): boolean {
  return name !== "" && name.isWellFormed();
}

async function* relabelled(
  vector: Call["args"][number] | undefined,
  scope: Scope,
  target: string,
  value: (series: StepSeries) => string | undefined,
): StepVectorMaker {
  if (vector === undefined) return;
  const merged = new MergedSeries(scope);
  for await (const some of scope.query.vector(vector, scope)) {
    for (const series of some) {
      if (isTurnDue(scope.query)) await takeTurn(scope.query);
      const text = value(series);
      if (text === undefined) merged.add(series);
      else merged.add({ ...series, labels: withLabel(series.labels, target, text), dropsName: series.dropsName && target !== METRIC_NAME });
    }
  }
  yield* together(merged.take(), scope);
}

/** `sort` and `sort_desc`: of an instant query, NaN last. @throws DbError */
export async function* sorted(call: Call, scope: Scope): StepVectorMaker {
  const [vector] = call.args;
  const isDescending = call.signature.name === "sort_desc";
  if (vector === undefined) return;
  if (scope.query.times.startMillis !== scope.query.times.endMillis) {
    warn(scope.query, "sort is ineffective for range queries since results are always ordered by labels", call.span);
    yield* numbersOf(scope.query.vector(vector, scope));
    return;
  }
  const { all, release } = await collected(numbersOf(scope.query.vector(vector, scope)), scope);
  const byValue = (a: StepSeries, b: StepSeries): number => compareValues(valueAt(a.values, 0), valueAt(b.values, 0), isDescending);
  yield* together(await sortedInTurns(all, byValue, scope.query.run.pace), scope);
  release();
}

/** Histograms have no order: they leave. */
async function* numbersOf(all: StepVector): StepVectorMaker {
  for await (const some of all) yield some.filter((series) => dropHistograms(series) === 0 || hasStep(series.present));
}

/** NaN comes last either way. */
export function compareValues(a: number, b: number, isDescending: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
  if (a === b) return 0;
  return a < b === isDescending ? 1 : -1;
}

/** `sort_by_label` and `sort_by_label_desc`: digits count as numbers; all labels decide between equals. @throws DbError */
export async function* sortedByLabel(call: Call, scope: Scope): StepVectorMaker {
  const [vector, ...texts] = call.args;
  if (vector === undefined) return;
  if (scope.query.times.startMillis !== scope.query.times.endMillis) {
    warn(scope.query, "sort is ineffective for range queries since results are always ordered by labels", call.span);
    yield* scope.query.vector(vector, scope);
    return;
  }
  const names = texts.map(stringOf);
  const sign = call.signature.name === "sort_by_label_desc" ? -1 : 1;
  const { all, release } = await collected(scope.query.vector(vector, scope), scope);
  yield* together(await sortedInTurns(all, (a, b) => sign * compareByLabels(a, b, names), scope.query.run.pace), scope);
  release();
}

/** By these labels, digits as numbers, then by all. */
export function compareByLabels(a: Pick<StepSeries, "labels">, b: Pick<StepSeries, "labels">, names: readonly string[]): number {
  for (const name of names) {
    const order = compareNatural(labelValue(a.labels, name), labelValue(b.labels, name));
    if (order !== 0) return order;
  }
  return compareLabels(a.labels, b.labels);
}

function compareNatural(a: string, b: string): number {
  const [partsA, partsB] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []];
  for (let at = 0; at < Math.min(partsA.length, partsB.length); at++) {
    const [x = "", y = ""] = [partsA[at], partsB[at]];
    const order = /^\d/.test(x) && /^\d/.test(y) ? Number(x) - Number(y) : 0;
    if (order !== 0) return order;
    if (x !== y) return x < y ? -1 : 1;
  }
  return partsA.length - partsB.length;
}
