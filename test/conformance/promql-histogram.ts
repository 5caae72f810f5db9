/** Native histograms as scripts write them: `{{schema:0 count:3 sum:2 buckets:[1 2]}}`. */
import { plus } from "../../src/query/promql/evaluation/histogram/arithmetic.ts";
import { isEqual } from "../../src/query/promql/evaluation/histogram/equality.ts";
import { histogramText } from "../../src/query/promql/evaluation/histogram/text.ts";
import { boundsOf, CUSTOM_SCHEMA } from "../../src/query/promql/evaluation/histogram/terms.ts";
import { populated } from "../../src/query/promql/evaluation/histogram/kernels/spans.ts";
import type { NativeHistogram } from "../../src/query/promql/evaluation/series-source.ts";
import { parsedNumber } from "./promql-number.ts";

/** A histogram, and whether the script tells its hint. */
export interface HistogramPoint {
  readonly histogram: NativeHistogram;
  readonly tellsHint: boolean;
}

const HINTS: Readonly<Record<string, NativeHistogram["resetHint"]>> = {
  unknown: "unknown",
  reset: "reset",
  not_reset: "not-reset",
  gauge: "gauge",
};

/** `{{…}}`, `{{…}}x3`, `{{…}}+{{…}}x3`. @throws Error for what is none */
export function parsedHistograms(token: string): readonly HistogramPoint[] {
  const found = /^(\{\{.*?\}\})(?:([+-])(\{\{.*?\}\}))?(?:x(\d+))?$/.exec(token);
  if (found === null) throw new Error(`no histograms: ${token}`);
  const [, text = "", sign, change, times = "0"] = found;
  const first = parsedHistogram(text);
  const points = [first];
  const step = change === undefined ? undefined : parsedHistogram(change).histogram;
  for (let at = 0; at < Number(times); at++) {
    const { histogram, tellsHint } = points.at(-1) ?? first;
    const next = step === undefined ? histogram : summed(histogram, step, sign === "-");
    points.push({ histogram: next, tellsHint });
  }
  return points;
}

function summed(histogram: NativeHistogram, step: NativeHistogram, isNegative: boolean): NativeHistogram {
  if (isNegative) throw new Error("no script subtracts histograms");
  const sum = plus(histogram, step);
  if (sum === undefined) throw new Error("no sum of a custom histogram and another");
  return sum.histogram;
}

function parsedHistogram(text: string): HistogramPoint {
  const parts = new Map<string, string>();
  for (const [, name = "", value = ""] of text.slice(2, -2).matchAll(/(\w+):(\[[^\]]*\]|\S+)/g)) parts.set(name, value);
  const numberOf = (name: string): number => {
    const number = parsedNumber(parts.get(name) ?? "0");
    if (number === undefined) throw new Error(`no number: ${name} of ${text}`);
    return number;
  };
  const numbersOf = (name: string): Float64Array => Float64Array.from((parts.get(name) ?? "").match(/[^\s[\],]+/g) ?? [], Number);
  const side = (buckets: string, offset: string): NativeHistogram["positiveSpans"] =>
    parts.has(buckets) && numbersOf(buckets).length > 0 ? [{ index: numberOf(offset), counts: numbersOf(buckets) }] : [];
  const hint = parts.get("counter_reset_hint");
  const schema = numberOf("schema");
  const histogram: NativeHistogram = {
    schema,
    zeroThreshold: numberOf("z_bucket_w"),
    zeroCount: numberOf("z_bucket"),
    count: numberOf("count"),
    sum: numberOf("sum"),
    positiveSpans: side("buckets", "offset"),
    negativeSpans: side("n_buckets", "n_offset"),
    customValues: schema === CUSTOM_SCHEMA ? numbersOf("custom_values") : undefined,
    resetHint: HINTS[hint ?? "unknown"] ?? "unknown",
  };
  return { histogram, tellsHint: hint !== undefined };
}

/** What is unlike the histogram that a script wants; undefined: nothing. */
export function histogramFinding(
  { histogram: wanted, tellsHint }: HistogramPoint,
  got: NativeHistogram,
  isClose: (a: number, b: number) => boolean,
): string | undefined {
  const terms = `schema ${got.schema} zero ${got.zeroThreshold} bounds ${boundsOf(got).join(" ")}`;
  const shown = `${histogramText(got)} ${terms} hint ${got.resetHint}`;
  if (tellsHint && wanted.resetHint !== got.resetHint) return `${shown}: not ${wanted.resetHint}`;
  if (isEqual(wanted, got)) return undefined;
  const isLike =
    wanted.schema === got.schema &&
    wanted.zeroThreshold === got.zeroThreshold &&
    boundsOf(wanted).join(" ") === boundsOf(got).join(" ") &&
    isClose(wanted.count, got.count) &&
    isClose(wanted.sum, got.sum) &&
    isClose(wanted.zeroCount, got.zeroCount) &&
    areClose(wanted.positiveSpans, got.positiveSpans, isClose) &&
    areClose(wanted.negativeSpans, got.negativeSpans, isClose);
  return isLike ? undefined : shown;
}

function areClose(
  wanted: NativeHistogram["positiveSpans"],
  got: NativeHistogram["positiveSpans"],
  isClose: (a: number, b: number) => boolean,
): boolean {
  const [left, right] = [[...populated(wanted)], [...populated(got)]];
  return (
    left.length === right.length && left.every(([index, count], at) => index === right[at]?.[0] && isClose(count, right[at]?.[1] ?? 0))
  );
}
