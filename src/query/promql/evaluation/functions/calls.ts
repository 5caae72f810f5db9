/**
 * Calls: which function gives a vector, which a scalar.
 */
import type { Call } from "../../syntax/ast.ts";
import { addToScalar, fillSteps, zipInto } from "../kernels/steps.ts";
import { evaluationError, type Scope, type StepSeries, type StepVector, type StepVectorMaker, unwrapped } from "../scope.ts";
import { instantSelector } from "../selectors.ts";
import { overSteps } from "../turns.ts";
import { absent, absentOverTime } from "./absent.ts";
import { histogramFraction, histogramQuantile, histogramQuantiles } from "./histogram-quantile.ts";
import { HISTOGRAM_FUNCTIONS, histogramFunction } from "./histogram-functions.ts";
import { info } from "./info.ts";
import { CALENDAR_FUNCTIONS, calendarFunction, INSTANT_FUNCTIONS, instantFunction } from "./instant-functions.ts";
import { labelJoin, labelReplace, sorted, sortedByLabel } from "./label-functions.ts";
import { RANGE_FUNCTIONS, rangeFunction } from "./range-functions.ts";

type VectorFunction = (call: Call, scope: Scope) => StepVector;

const VECTOR_FUNCTIONS: ReadonlyMap<string, VectorFunction> = new Map<string, VectorFunction>([
  ["absent", absent],
  ["absent_over_time", absentOverTime],
  ["histogram_fraction", histogramFraction],
  ["histogram_quantile", histogramQuantile],
  ["histogram_quantiles", histogramQuantiles],
  ["info", info],
  ["label_join", labelJoin],
  ["label_replace", labelReplace],
  ["sort", sorted],
  ["sort_by_label", sortedByLabel],
  ["sort_by_label_desc", sortedByLabel],
  ["sort_desc", sorted],
  ["start_timestamp", startTimestamp],
  ["timestamp", timestamp],
  ["vector", vectorOf],
]);

/** The series of a call. @throws DbError */
export function vectorCall(call: Call, scope: Scope): StepVector {
  const { name } = call.signature;
  const ofRange = RANGE_FUNCTIONS.get(name);
  if (ofRange !== undefined) return rangeFunction(call, ofRange, scope);
  const ofValue = INSTANT_FUNCTIONS.get(name);
  if (ofValue !== undefined) return instantFunction(call, ofValue, scope);
  const part = CALENDAR_FUNCTIONS.get(name);
  if (part !== undefined) return calendarFunction(call, part, scope);
  const ofHistogram = HISTOGRAM_FUNCTIONS.get(name);
  if (ofHistogram !== undefined) return histogramFunction(call, ofHistogram, scope);
  const ofVector = VECTOR_FUNCTIONS.get(name);
  if (ofVector !== undefined) return ofVector(call, scope);
  throw evaluationError(`cannot evaluate ${name}(): no such function gives an instant vector`);
}

/** The numbers of a call, one a step. @throws DbError */
export async function scalarCall(call: Call, scope: Scope): Promise<Float64Array> {
  const { count } = scope.moments;
  const { times } = scope.query;
  const constant = (value: number): Float64Array => new Float64Array(count).fill(value);
  const [first, second] = call.args;
  switch (call.signature.name) {
    case "time":
      return secondsOf(scope);
    case "pi":
      return constant(Math.PI);
    case "start":
      return constant(times.startMillis / 1000);
    case "end":
      return constant(times.endMillis / 1000);
    case "range":
      return constant((times.endMillis - times.startMillis) / 1000);
    case "step":
      return constant(times.startMillis === times.endMillis ? 0 : times.stepMillis / 1000);
    case "min_of":
    case "max_of": {
      if (first === undefined || second === undefined) break;
      const combine = call.signature.name === "min_of" ? Math.min : Math.max;
      const numbers = await scope.query.scalar(first, scope);
      const others = await scope.query.scalar(second, scope);
      await overSteps(scope.query, count, (from, to) => zipInto(numbers, others, combine, from, to));
      return numbers;
    }
    case "scalar": {
      if (first === undefined) break;
      const seen = new Uint8Array(count);
      const out = constant(Number.NaN);
      for await (const some of scope.query.vector(first, scope)) for (const series of some) addToScalar(out, seen, series);
      return out;
    }
    default:
      break;
  }
  throw evaluationError(`cannot evaluate ${call.signature.name}(): no such function gives a scalar`);
}

/** When each step is. */
async function secondsOf({ query, moments: { startMillis, stepMillis, count } }: Scope): Promise<Float64Array> {
  const out = new Float64Array(count);
  const ofStep = (step: number): number => (startMillis + step * stepMillis) / 1000;
  await overSteps(query, count, (from, to) => fillSteps(out, ofStep, from, to));
  return out;
}

async function* vectorOf({ args }: Call, scope: Scope): StepVectorMaker {
  const [scalar] = args;
  if (scalar === undefined) return;
  const present = new Uint8Array(scope.moments.count).fill(1);
  yield [{ labels: [], dropsName: false, values: await scope.query.scalar(scalar, scope), present, histograms: undefined }];
}

/** Of a selector the time of the sample, of all else that of the step. */
async function* timestamp({ args }: Call, scope: Scope): StepVectorMaker {
  const [argument] = args;
  if (argument === undefined) return;
  const inner = unwrapped(argument);
  if (inner.kind === "VectorSelector") {
    for await (const some of instantSelector(inner, scope, "time")) yield some.map(withoutItsName);
    return;
  }
  for await (const some of scope.query.vector(argument, scope)) {
    const found: StepSeries[] = [];
    for (const series of some) found.push({ ...series, dropsName: true, values: await secondsOf(scope), histograms: undefined });
    yield found;
  }
}

function withoutItsName(series: StepSeries): StepSeries {
  return { ...series, dropsName: true };
}

/** When the counting of a selector's sample began; of all else nobody knows. */
async function* startTimestamp({ args }: Call, scope: Scope): StepVectorMaker {
  const [argument] = args;
  const inner = argument === undefined ? undefined : unwrapped(argument);
  if (inner?.kind !== "VectorSelector") return;
  for await (const some of instantSelector(inner, scope, "start")) yield some.map(withoutItsName);
}
