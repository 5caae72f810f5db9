/** Steps of operations where a side has histograms. */
import { eachHistogram } from "../histogram/turns.ts";
import { emptySteps, setHistogram } from "../kernels/steps.ts";
import type { QueryScope, Steps, StepSeries } from "../scope.ts";
import type { Combination, OneSide } from "./kernels/matched.ts";
import type { Sample, SampleOperation } from "./sample-operators.ts";

/** What a step has; there must be something. */
export function sampleAt({ values, histograms }: Steps, step: number): Sample {
  return histograms?.[step] ?? (values[step] as number);
}

/** Whether operations of the series need samples, not numbers alone. */
export function hasHistograms(series: Steps | undefined): boolean {
  return series?.histograms !== undefined;
}

/**
 * The results of an operation at each step of which `sides` gives both samples; undefined when there are none.
 *
 * @param kept what stays where a comparison holds; undefined: 1, and 0 where it does not
 */
export async function operateSteps(
  count: number,
  sides: (step: number) => readonly [left: Sample, right: Sample] | undefined,
  operation: SampleOperation,
  kept: "left" | "right" | undefined,
  query: QueryScope,
): Promise<Steps | undefined> {
  const out = emptySteps(count);
  await eachHistogram(query, count, (step) => {
    const both = sides(step);
    if (both === undefined) return;
    const result = operation(...both);
    if (result === undefined || (result === false && kept !== undefined)) return;
    const sample = typeof result !== "boolean" ? result : kept === undefined ? Number(result) : both[kept === "left" ? 0 : 1];
    if (typeof sample === "object") setHistogram(out, step, sample);
    else out.values[step] = sample;
    out.present[step] = 1;
  });
  return out.present.includes(1) ? out : undefined;
}

/** An operation of two vectors. */
export interface VectorOperation extends Omit<Combination, "combine"> {
  /** Of numbers; undefined: there is none. */
  readonly combine: Combination["combine"] | undefined;
  readonly ofSamples: SampleOperation;
  readonly query: QueryScope;
}

/** See `matchSteps`. */
export async function matchedSteps(many: StepSeries, one: OneSide, id: number, operation: VectorOperation): Promise<Steps | undefined> {
  const { ofSamples, filters, isManyLeft, fillOne, query } = operation;
  const member = id === 0 ? undefined : one.members[id - 1];
  const sides = (step: number): readonly [Sample, Sample] | undefined => {
    if (many.present[step] === 0 || one.owner[step] !== id) return undefined;
    const other = member === undefined ? (fillOne ?? Number.NaN) : sampleAt(member, step);
    return isManyLeft ? [sampleAt(many, step), other] : [other, sampleAt(many, step)];
  };
  return operateSteps(many.present.length, sides, ofSamples, filters ? "left" : undefined, query);
}

/** See `unmatchedSteps`. */
export async function fillingSteps(one: StepSeries, matched: Uint8Array, operation: VectorOperation): Promise<Steps | undefined> {
  const { ofSamples, filters, isManyLeft, fillMany = Number.NaN, query } = operation;
  const sides = (step: number): readonly [Sample, Sample] | undefined => {
    if (one.present[step] === 0 || matched[step] === 1) return undefined;
    return isManyLeft ? [fillMany, sampleAt(one, step)] : [sampleAt(one, step), fillMany];
  };
  return operateSteps(matched.length, sides, ofSamples, filters ? "left" : undefined, query);
}
