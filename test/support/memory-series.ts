/**
 * Series in memory as a source for PromQL: what tests of evaluation read instead of tables.
 */
import { compileLinearRegex } from "../../src/base/text/linear-regex.ts";
import type { LabelMatcher } from "../../src/query/promql/syntax/ast.ts";
import type { Labels, SampledSeries, SelectorRead, SeriesSource } from "../../src/query/promql/evaluation/series-source.ts";

/** A sample; `stale` is a stale marker. */
type MemoryValue = number | "stale";

/** See the file header. */
export class MemorySeries implements SeriesSource {
  private readonly series = new Map<string, { readonly labels: Labels; readonly samples: Map<number, MemoryValue> }>();
  /** Reads so far. */
  reads = 0;

  /** Adds a sample; the last one of a moment stays. */
  add(labels: ReadonlyMap<string, string>, millis: number, value: MemoryValue): void {
    const sorted = [...labels].filter(([, text]) => text !== "").toSorted(([a], [b]) => (a < b ? -1 : 1));
    const key = JSON.stringify(sorted);
    let known = this.series.get(key);
    if (known === undefined) {
      known = { labels: sorted, samples: new Map() };
      this.series.set(key, known);
    }
    known.samples.set(millis, value);
  }

  clear(): void {
    this.series.clear();
  }

  async *select({ matchers, firstMillis, lastMillis }: SelectorRead): AsyncGenerator<SampledSeries> {
    this.reads++;
    const tests = matchers.map(testOf);
    for (const { labels, samples } of this.series.values()) {
      if (!tests.every((test) => test(labels))) continue;
      const taken = [...samples].filter(([time]) => time >= firstMillis && time <= lastMillis).toSorted(([a], [b]) => a - b);
      if (taken.length > 0) yield sampled(labels, taken);
    }
  }
}

function sampled(labels: Labels, samples: readonly (readonly [number, MemoryValue])[]): SampledSeries {
  const times = Float64Array.from(samples, ([time]) => time);
  const values = Float64Array.from(samples, ([, value]) => (value === "stale" ? 0 : value));
  const bits = new Uint32Array(values.buffer);
  for (const [at, [, value]] of samples.entries()) if (value === "stale") bits.set([2, 0x7ff00000], 2 * at);
  return { labels, count: samples.length, times, values, histograms: undefined };
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
