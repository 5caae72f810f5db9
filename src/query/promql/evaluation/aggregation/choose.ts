/**
 * `topk`, `bottomk`, `limitk`, `limit_ratio`: series that a group keeps as they are.
 */
import type { AggregateExpression } from "../../syntax/ast.ts";
import { compareValues } from "../functions/label-functions.ts";
import { emptySteps, filterValues, valueAt } from "../kernels/steps.ts";
import { labelsKey } from "../labels.ts";
import { evaluationError, isTurnDue, type Scope, seriesBytes, type StepSeries, takeTurn } from "../scope.ts";
import type { Labels } from "../series-source.ts";
import { warn } from "../annotation.ts";
import { hashOf } from "./label-hash.ts";
import { Chosen } from "./kernels/chosen.ts";

/** Bytes of a value that is kept. */
const KEPT_BYTES = 48;
/** The first number that 64 bits of a signed integer do not hold. */
const INTEGER_END = 2 ** 63;

/** The series of an aggregation that chooses. @throws DbError */
export async function* chosenSeries(
  node: AggregateExpression,
  parameters: Float64Array,
  grouping: (labels: Labels) => Labels,
  scope: Scope,
): AsyncGenerator<StepSeries> {
  checkParameters(parameters, node);
  if (node.operator === "limit_ratio") {
    yield* ofRatio(node, parameters, scope);
    return;
  }
  const { run } = scope.query;
  const steps = scope.moments.count;
  const groups = new Map<string, Chosen>();
  const known: { readonly labels: Labels; readonly dropsName: boolean }[] = [];
  let bytes = 0;
  for await (const series of scope.query.vector(node.expression, scope)) {
    const key = labelsKey(grouping(series.labels));
    let group = groups.get(key);
    if (group === undefined) {
      group = new Chosen(steps, worse(node));
      groups.set(key, group);
    }
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
    const taken = group.add(series, known.length, parameters);
    if (taken === 0) continue;
    run.reserve(taken * KEPT_BYTES + 256);
    bytes += taken * KEPT_BYTES + 256;
    known.push({ labels: series.labels, dropsName: series.dropsName });
  }
  for (const group of groups.values()) {
    const results = new Map<number, StepSeries>();
    group.each((id, step, value) => {
      let series = results.get(id);
      if (series === undefined) {
        run.reserve(seriesBytes(steps));
        bytes += seriesBytes(steps);
        series = { labels: [], dropsName: false, ...known[id], ...emptySteps(steps) };
        results.set(id, series);
      }
      series.values[step] = value;
      series.present[step] = 1;
    });
    yield* results.values();
    if (isTurnDue(scope.query)) await takeTurn(scope.query);
  }
  run.release(bytes);
}

function worse({ operator }: AggregateExpression): (a: number, b: number) => boolean {
  if (operator === "limitk") return () => false;
  const isTop = operator === "topk";
  return (a, b) => compareValues(a, b, isTop) > 0;
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
async function* ofRatio(node: AggregateExpression, parameters: Float64Array, scope: Scope): AsyncGenerator<StepSeries> {
  for (const ratio of new Set(parameters)) {
    if (ratio >= -1 && ratio <= 1) continue;
    const capped = ratio < 0 ? -1 : 1;
    warn(scope.query, `ratio value should be between -1 and 1, got ${ratio}, capping to ${capped}`, node.parameter?.span ?? node.span);
  }
  for await (const series of scope.query.vector(node.expression, scope)) {
    const place = hashOf(labelsKey(series.labels));
    filterValues(series, (_value, step) => {
      const ratio = valueAt(parameters, step);
      return ratio >= 0 ? place < ratio : place >= 1 + ratio;
    });
    if (series.present.includes(1)) yield series;
  }
}
