/**
 * Series in memory as a source for PromQL: what tests of evaluation read instead of tables.
 */
import { compileLinearRegex } from "../../src/base/text/linear-regex.ts";
import type { LabelMatcher } from "../../src/query/promql/syntax/ast.ts";
import { isReset } from "../../src/query/promql/evaluation/histogram/reset.ts";
import { haveSameBounds } from "../../src/query/promql/evaluation/histogram/terms.ts";
import type {
  Labels,
  NativeHistogram,
  SampledSeries,
  SelectorRead,
  SeriesSource,
} from "../../src/query/promql/evaluation/series-source.ts";

/** A sample; `stale` is a stale marker. */
type MemoryValue = number | "stale" | NativeHistogram;

interface MemorySample {
  readonly value: MemoryValue;
  /** When it began, milliseconds; 0: nobody says. */
  readonly start: number;
}

/** See the file header. */
export class MemorySeries implements SeriesSource {
  private readonly series = new Map<string, { readonly labels: Labels; readonly samples: Map<number, MemorySample> }>();
  /** Reads so far. */
  reads = 0;

  /** Adds a sample; the last one of a moment stays. */
  add(labels: ReadonlyMap<string, string>, millis: number, value: MemoryValue, start: number = 0): void {
    const sorted = [...labels].filter(([, text]) => text !== "").toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(sorted);
    let known = this.series.get(key);
    if (known === undefined) {
      known = { labels: sorted, samples: new Map() };
      this.series.set(key, known);
    }
    known.samples.set(millis, { value, start });
  }

  clear(): void {
    this.series.clear();
  }

  async *select({ matchers, firstMillis, lastMillis }: SelectorRead): AsyncGenerator<readonly SampledSeries[]> {
    this.reads++;
    const tests = matchers.map(testOf);
    for (const { labels, samples } of this.series.values()) {
      if (!tests.every((test) => test(labels))) continue;
      const all = hinted([...samples].toSorted(([a], [b]) => a - b));
      const taken = all.filter(([time]) => time >= firstMillis && time <= lastMillis);
      if (taken.length > 0) yield [sampled(labels, taken)];
    }
  }
}

type Sample = readonly [time: number, sample: MemorySample];

/** Hints as Prometheus' storage gives them: a histogram that goes on with the one before was not reset, of all others nothing is known. */
function hinted(samples: readonly Sample[]): readonly Sample[] {
  let before: NativeHistogram | undefined;
  return samples.map(([time, sample]): Sample => {
    const previous = before;
    before = typeof sample.value === "object" ? sample.value : undefined;
    return before === undefined ? [time, sample] : [time, { ...sample, value: hintedAfter(before, previous) }];
  });
}

/** A histogram with the hint that Prometheus' store gives it behind another one: that nothing began anew, where it can tell. */
export function hintedAfter(histogram: NativeHistogram, previous: NativeHistogram | undefined): NativeHistogram {
  if (previous === undefined || histogram.resetHint !== "unknown" || previous.resetHint === "gauge") return histogram;
  const { schema, zeroThreshold } = previous;
  const isLike = histogram.schema === schema && histogram.zeroThreshold === zeroThreshold && haveSameBounds(histogram, previous);
  return !isLike || isReset(histogram, previous) ? histogram : { ...histogram, resetHint: "not-reset" };
}

function sampled(labels: Labels, samples: readonly Sample[]): SampledSeries {
  const times = Float64Array.from(samples, ([time]) => time);
  const values = Float64Array.from(samples, ([, { value }]) => (typeof value === "number" ? value : 0));
  const bits = new Uint32Array(values.buffer);
  for (const [at, [, { value }]] of samples.entries()) if (value === "stale") bits.set([2, 0x7ff00000], 2 * at);
  const histograms = samples.map(([, { value }]) => (typeof value === "object" ? value : undefined));
  const starts = Float64Array.from(samples, ([, { start }]) => start);
  return {
    labels,
    count: samples.length,
    times,
    values,
    histograms: histograms.some((one) => one !== undefined) ? histograms : undefined,
    starts: starts.some((start) => start !== 0) ? starts : undefined,
  };
}

function testOf({ name, operator, value }: LabelMatcher): (labels: Labels) => boolean {
  const valueOf = (labels: Labels): string => labels.find(([key]) => key === name)?.[1] ?? "";
  if (operator === "=") return (labels) => valueOf(labels) === value;
  if (operator === "!=") return (labels) => valueOf(labels) !== value;
  const regex = compileLinearRegex(`^(?:${value})$`, { dotAll: true });
  if (!regex.ok) throw new Error(regex.reason);
  const wanted = operator === "=~";
  return (labels) => regex.value.test(valueOf(labels)) === wanted;
}
