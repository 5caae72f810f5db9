/**
 * Functions of a range vector, one line each.
 */
import type { Call, MatrixSelector, SubqueryExpression } from "../../syntax/ast.ts";
import { inform, warn } from "../annotation.ts";
import { emptySteps, valueAt } from "../kernels/steps.ts";
import { windowsOf } from "../kernels/windows.ts";
import { labelValue, METRIC_NAME } from "../labels.ts";
import { evaluationError, isTurnDue, type Scope, type StepSeries, takeTurn, unwrapped } from "../scope.ts";
import { rangeVector } from "../selectors.ts";
import { extendedKernel } from "./kernels/extended.ts";
import * as overTime from "./kernels/over-time.ts";
import type { RangeKernel } from "./kernels/range-input.ts";
import { MAD_OVER_TIME, QUANTILE_OVER_TIME } from "./kernels/ranked.ts";
import * as rate from "./kernels/rate.ts";

interface RangeFunction {
  readonly kernel: RangeKernel;
  /** The metric's name stays. */
  readonly keepsName?: true;
  /** A name that is none of a counter's is worth an info. */
  readonly wantsCounter?: true;
  /** What must hold for the parameters. */
  readonly check?: (call: Call, parameters: readonly Float64Array[], scope: Scope) => void;
}

/** Functions by name. */
export const RANGE_FUNCTIONS: ReadonlyMap<string, RangeFunction> = new Map<string, RangeFunction>([
  ["avg_over_time", { kernel: overTime.AVG_OVER_TIME }],
  ["changes", { kernel: rate.CHANGES }],
  ["count_over_time", { kernel: overTime.COUNT_OVER_TIME }],
  ["delta", { kernel: rate.DELTA }],
  ["deriv", { kernel: overTime.DERIV }],
  ["double_exponential_smoothing", { kernel: overTime.SMOOTHING, check: checkSmoothing }],
  ["first_over_time", { kernel: overTime.FIRST_OVER_TIME, keepsName: true }],
  ["idelta", { kernel: rate.IDELTA }],
  ["increase", { kernel: rate.INCREASE, wantsCounter: true }],
  ["irate", { kernel: rate.IRATE }],
  ["last_over_time", { kernel: overTime.LAST_OVER_TIME, keepsName: true }],
  ["mad_over_time", { kernel: MAD_OVER_TIME }],
  ["max_over_time", { kernel: overTime.MAX_OVER_TIME }],
  ["min_over_time", { kernel: overTime.MIN_OVER_TIME }],
  ["predict_linear", { kernel: overTime.PREDICT_LINEAR }],
  ["present_over_time", { kernel: overTime.PRESENT_OVER_TIME }],
  ["quantile_over_time", { kernel: QUANTILE_OVER_TIME, check: checkQuantile }],
  ["rate", { kernel: rate.RATE, wantsCounter: true }],
  ["resets", { kernel: rate.RESETS }],
  ["stddev_over_time", { kernel: overTime.STDDEV_OVER_TIME }],
  ["stdvar_over_time", { kernel: overTime.STDVAR_OVER_TIME }],
  ["sum_over_time", { kernel: overTime.SUM_OVER_TIME }],
  ["ts_of_first_over_time", { kernel: overTime.TS_OF_FIRST }],
  ["ts_of_last_over_time", { kernel: overTime.TS_OF_LAST }],
  ["ts_of_max_over_time", { kernel: overTime.TS_OF_MAX }],
  ["ts_of_min_over_time", { kernel: overTime.TS_OF_MIN }],
]);

/** The series of a call. @throws DbError */
export async function* rangeFunction(
  call: Call,
  { kernel, keepsName, wantsCounter, check }: RangeFunction,
  scope: Scope,
): AsyncGenerator<StepSeries> {
  const parameters: Float64Array[] = [];
  for (const arg of call.args) if (arg.valueType === "scalar") parameters.push(await scope.query.scalar(arg, scope));
  check?.(call, parameters, scope);
  const range = rangeArgument(call);
  if (range === undefined) return;
  const extended = extensionOf(call, range, scope);
  const { moments, rangeMillis, series } = rangeVector(range, scope);
  const { moments: evaluation, query } = scope;
  for await (const { labels, dropsName, times, values, count } of series) {
    const out = emptySteps(evaluation.count);
    const windows = windowsOf(times, count, moments, rangeMillis);
    if (isTurnDue(query)) await takeTurn(query);
    (extended ?? kernel)({ times, values, count, windows, moments, rangeMillis, evaluation, parameters }, out.values, out.present);
    if (isTurnDue(query)) await takeTurn(query);
    if (!out.present.includes(1)) continue;
    if (wantsCounter === true) checkCounterName(labelValue(labels, METRIC_NAME), range, scope);
    yield { labels, dropsName: dropsName || keepsName !== true, ...out };
  }
}

/** What stands for the function's own kernel when the range is anchored or smoothed. @throws DbError for a function that takes none */
function extensionOf(call: Call, range: MatrixSelector | SubqueryExpression, { query }: Scope): RangeKernel | undefined {
  if (range.kind !== "MatrixSelector" || !(range.selector.isAnchored || range.selector.isSmoothed)) return undefined;
  const mode = range.selector.isAnchored ? "anchored" : "smoothed";
  const { name } = call.signature;
  const kernel = extendedKernel(name, mode, query.times.lookbackMillis);
  if (kernel !== undefined) return kernel;
  const functions = mode === "anchored" ? "changes, delta, increase, rate, resets" : "delta, increase, rate";
  throw evaluationError(`${mode} modifier can only be used with: ${functions} - not with ${name}`);
}

/** The argument that is a range vector. */
export function rangeArgument(call: Call): MatrixSelector | SubqueryExpression | undefined {
  for (const arg of call.args) {
    const inner = unwrapped(arg);
    if (inner.kind === "MatrixSelector" || inner.kind === "SubqueryExpression") return inner;
  }
  return undefined;
}

const COUNTER_NAME = /_(?:total|sum|count|bucket)$/;

function checkCounterName(name: string, range: MatrixSelector | SubqueryExpression, { query }: Scope): void {
  if (name === "" || COUNTER_NAME.test(name)) return;
  const what = `metric might not be a counter, name does not end in _total/_sum/_count/_bucket: ${JSON.stringify(name)}`;
  inform(query, what, range.span);
}

function checkQuantile(call: Call, [quantiles = new Float64Array()]: readonly Float64Array[], scope: Scope): void {
  warnQuantiles(quantiles, call.args[0]?.span ?? call.span, scope);
}

/** Warns of what is no quantile. */
export function warnQuantiles(quantiles: Float64Array, span: Call["span"], { query }: Scope): void {
  for (const quantile of new Set(quantiles)) {
    if (quantile >= 0 && quantile <= 1) continue;
    const shown = Number.isFinite(quantile) ? String(quantile) : Number.isNaN(quantile) ? "NaN" : quantile > 0 ? "+Inf" : "-Inf";
    warn(query, `quantile value should be between 0 and 1, got ${shown}`, span);
  }
}

function checkSmoothing(_call: Call, parameters: readonly Float64Array[], { moments }: Scope): void {
  for (let step = 0; step < moments.count; step++) {
    for (const [index, values] of parameters.entries()) {
      const factor = valueAt(values, step);
      if (factor > 0 && factor < 1) continue;
      const name = index === 0 ? "smoothing" : "trend";
      throw evaluationError(`invalid ${name} factor. Expected: 0 < ${index === 0 ? "sf" : "tf"} < 1, got: ${factor}`);
    }
  }
}
