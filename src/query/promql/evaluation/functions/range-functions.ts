/**
 * Functions of a range vector, one line each.
 */
import type { Call, MatrixSelector, SubqueryExpression } from "../../syntax/ast.ts";
import { inform, warn } from "../annotation.ts";
import { hasNumbers, hasStep, valueAt } from "../kernels/steps.ts";
import { PIECE, sequence, type Work } from "../kernels/pieces.ts";
import { Scratch } from "../kernels/scratch.ts";
import { WindowFinder } from "../kernels/window-finder.ts";
import { isWithoutStale, type Windows } from "../kernels/windows.ts";
import { labelValue, METRIC_NAME } from "../labels.ts";
import {
  evaluationError,
  isTurnDue,
  type Scope,
  type Steps,
  type StepSeries,
  type StepVectorMaker,
  takeTurn,
  togetherMax,
  unwrapped,
} from "../scope.ts";
import { freshSamples, type RangeSeries, rangeVector } from "../selectors.ts";
import { type MixedRange, mixedRange } from "./mixed-range.ts";
import { inPieces } from "../turns.ts";
import { extendedKernel } from "./kernels/extended.ts";
import * as extremes from "./kernels/extremes.ts";
import { CHANGES, RESETS } from "./kernels/falls.ts";
import { INTEGRAL, isStrategy } from "./kernels/integral.ts";
import * as lines from "./kernels/lines.ts";
import * as picked from "./kernels/picked.ts";
import type { RangeKernel } from "./kernels/range-input.ts";
import { MAD_OVER_TIME, QUANTILE_OVER_TIME } from "./kernels/ranked.ts";
import * as rate from "./kernels/rate.ts";
import { SMOOTHING } from "./kernels/smoothing.ts";
import { AVG_OVER_TIME, SUM_OVER_TIME } from "./kernels/sums.ts";
import { STDDEV_OVER_TIME, STDVAR_OVER_TIME } from "./kernels/variance.ts";

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
  ["avg_over_time", { kernel: AVG_OVER_TIME }],
  ["changes", { kernel: CHANGES }],
  ["count_over_time", { kernel: picked.COUNT_OVER_TIME }],
  ["delta", { kernel: rate.DELTA }],
  ["deriv", { kernel: lines.DERIV }],
  ["double_exponential_smoothing", { kernel: SMOOTHING, check: checkSmoothing }],
  ["first_over_time", { kernel: picked.FIRST_OVER_TIME, keepsName: true }],
  ["idelta", { kernel: picked.IDELTA }],
  ["increase", { kernel: rate.INCREASE, wantsCounter: true }],
  ["integral", { kernel: INTEGRAL, check: checkStrategy }],
  ["irate", { kernel: picked.IRATE }],
  ["last_over_time", { kernel: picked.LAST_OVER_TIME, keepsName: true }],
  ["mad_over_time", { kernel: MAD_OVER_TIME }],
  ["max_over_time", { kernel: extremes.MAX_OVER_TIME }],
  ["min_over_time", { kernel: extremes.MIN_OVER_TIME }],
  ["predict_linear", { kernel: lines.PREDICT_LINEAR }],
  ["present_over_time", { kernel: picked.PRESENT_OVER_TIME }],
  ["quantile_over_time", { kernel: QUANTILE_OVER_TIME, check: checkQuantile }],
  ["rate", { kernel: rate.RATE, wantsCounter: true }],
  ["resets", { kernel: RESETS }],
  ["stddev_over_time", { kernel: STDDEV_OVER_TIME }],
  ["stdvar_over_time", { kernel: STDVAR_OVER_TIME }],
  ["sum_over_time", { kernel: SUM_OVER_TIME }],
  ["ts_of_first_over_time", { kernel: picked.TS_OF_FIRST }],
  ["ts_of_last_over_time", { kernel: picked.TS_OF_LAST }],
  ["ts_of_max_over_time", { kernel: extremes.TS_OF_MAX }],
  ["ts_of_min_over_time", { kernel: extremes.TS_OF_MIN }],
]);

/** The series of a call. @throws DbError */
export async function* rangeFunction(call: Call, { kernel, keepsName, wantsCounter, check }: RangeFunction, scope: Scope): StepVectorMaker {
  const parameters: Float64Array[] = [];
  for (const arg of call.args) if (arg.valueType === "scalar") parameters.push(await scope.query.scalar(arg, scope));
  check?.(call, parameters, scope);
  const range = rangeArgument(call);
  if (range === undefined) return;
  const extended = extensionOf(call, range, scope);
  const { moments, rangeMillis, series } = rangeVector(range, scope);
  const { moments: evaluation, query } = scope;
  const scratch = new Scratch(query.run);
  const computed = (samples: PlainSamples, windows: Windows, find?: () => Work | undefined): Steps | Promise<Steps> => {
    const { times, values, count } = samples;
    const out = query.spare.take(evaluation.count);
    const input = { times, values, count, windows, moments, rangeMillis, evaluation, parameters, scratch };
    const compute = (): Work => (extended ?? kernel)(input, out.values, out.present);
    const finding = find?.();
    const rest = inPieces(finding === undefined ? compute() : sequence(() => finding, compute), query);
    return rest === undefined ? out : rest.then(() => out);
  };
  /** Of histograms whose series nobody has taken yet. */
  let bytes = 0;
  const mixed = async (one: RangeSeries): Promise<Steps> => {
    const { name } = call.signature;
    const ofNumbers: MixedRange["ofNumbers"] = async (samples, windows) => computed(samples, windows);
    const of = { name, series: one, mode: modeOf(range), span: range.span, moments, rangeMillis, query, ofNumbers };
    const made = await mixedRange(of);
    bytes += made.bytes;
    return made.steps;
  };
  try {
    const finder = new WindowFinder(moments, rangeMillis, scratch);
    const most = togetherMax(evaluation.count);
    for await (const group of series) {
      let found: StepSeries[] = [];
      for (const one of group) {
        const { labels } = one;
        const isMixed = one.histograms !== undefined || one.starts !== undefined;
        const samples = isMixed || isFresh(one) ? one : await freshSamples(one, query);
        const made = isMixed ? mixed(one) : computed(samples, finder.windows, () => finder.find(samples.times, samples.count));
        const steps = made instanceof Promise ? await made : made;
        if (isTurnDue(query)) await takeTurn(query);
        if (!hasStep(steps.present)) continue;
        if (wantsCounter === true && hasNumbers(steps)) checkCounterName(labelValue(labels, METRIC_NAME), range, scope);
        found.push({ labels, dropsName: one.dropsName || keepsName !== true, ...steps });
        if (found.length < most && bytes === 0) continue;
        yield found;
        found = [];
        query.run.release(bytes);
        bytes = 0;
      }
      if (found.length > 0) yield found;
    }
  } finally {
    query.run.release(bytes);
    scratch.release();
  }
}

/** Of one series, numbers alone. */
type PlainSamples = Pick<RangeSeries, "times" | "values" | "count">;

/** Whether no sample is a stale marker, which is told at once of all series but long ones. */
function isFresh({ mayBeStale, values, count }: RangeSeries): boolean {
  return !mayBeStale || (count <= PIECE && isWithoutStale(values, count));
}

/** What stands for the function's own kernel when the range is anchored or smoothed. @throws DbError for a function that takes none */
function extensionOf(call: Call, range: MatrixSelector | SubqueryExpression, { query }: Scope): RangeKernel | undefined {
  const mode = modeOf(range);
  if (mode === undefined) return undefined;
  const { name } = call.signature;
  const kernel = extendedKernel(name, mode, query.times.lookbackMillis);
  if (kernel !== undefined) return kernel;
  const functions = mode === "anchored" ? "changes, delta, increase, rate, resets" : "delta, increase, rate";
  throw evaluationError(`${mode} modifier can only be used with: ${functions} - not with ${name}`);
}

function modeOf(range: MatrixSelector | SubqueryExpression): "anchored" | "smoothed" | undefined {
  if (range.kind !== "MatrixSelector") return undefined;
  if (range.selector.isAnchored) return "anchored";
  return range.selector.isSmoothed ? "smoothed" : undefined;
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

function checkStrategy(_call: Call, [strategies]: readonly Float64Array[], _scope: Scope): void {
  const [strategy] = strategies ?? [];
  if (strategies === undefined || strategy === undefined) return;
  if (!isStrategy(strategy)) throw evaluationError(`invalid strategy of integral(): ${strategy}; it is 0 (left), 1 (right) or 2 (line)`);
  if (strategies.some((other) => other !== strategy))
    throw evaluationError("invalid strategy of integral(): it is not the same at all steps");
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
