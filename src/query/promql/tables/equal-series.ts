/**
 * Series of one table that have the same labels: to PromQL a tag that is "" is absent, as one that is NULL is. They become one, samples in
 * the order of their times; of two at one time that of the later series counts. Only tables that have such tags pay for it: all series of
 * a selector are held.
 */
import type { Table } from "../../../table/catalog.ts";
import { isPhysicalTable } from "../../../table/metric.ts";
import { bytesOfHistograms } from "../evaluation/histogram/bytes.ts";
import { labelsKey } from "../evaluation/labels.ts";
import type { EvaluationRun, NativeHistogram, SampledSeries } from "../evaluation/series-source.ts";
import { labelColumnsOf, METRIC_NAME } from "./metric-columns.ts";
import { FIELD_LABEL } from "./table-selection.ts";

/** Bytes of a time, a value, a start. */
const NUMBER_BYTES = 8;
/** Bytes of a series beside its samples, roughly. */
const SERIES_BYTES = 256;

/** Whether a tag of the table is "" anywhere, in series known so far. */
export function mayHaveEqualSeries({ schema, series }: Pick<Table, "schema" | "series">): boolean {
  if (isPhysicalTable(schema)) return false; // Its labels are those of many metrics, which are not read here.
  return labelColumnsOf(schema).some((name) => series.hasValue(name, ""));
}

/** Series that are held, those of equal labels as one. */
export class EqualSeries {
  private readonly byLabels: Map<string, SampledSeries> = new Map();
  private readonly run: Pick<EvaluationRun, "reserve" | "release">;
  private held = 0;

  constructor(run: Pick<EvaluationRun, "reserve" | "release">) {
    this.run = run;
  }

  /** Copies a series. @throws DbError RuntimeResourcesExhausted */
  add(series: SampledSeries): void {
    const bytes = SERIES_BYTES + series.count * (series.starts === undefined ? 2 : 3) * NUMBER_BYTES + histogramBytes(series);
    this.run.reserve(bytes);
    this.held += bytes;
    const key = labelsKey(series.labels);
    const known = this.byLabels.get(key);
    this.byLabels.set(key, known === undefined ? copied(series) : mergedSamples(known, series));
  }

  /**
   * All of them, in the order in which their labels came.
   *
   * @param wanted the tags that labels show; undefined: all
   * @param newestOnly whether the newest sample of each will do
   */
  *all(wanted: ReadonlySet<string> | undefined, newestOnly: boolean): Generator<SampledSeries> {
    for (const series of this.byLabels.values()) {
      const isShown = (name: string): boolean => wanted === undefined || wanted.has(name) || name === METRIC_NAME || name === FIELD_LABEL;
      const labels = series.labels.filter(([name]) => isShown(name));
      yield { ...(newestOnly ? newestOf(series) : series), labels };
    }
  }

  /** Lets go of all memory. To be called once. */
  close(): void {
    this.run.release(this.held);
  }
}

function histogramBytes({ histograms, count }: SampledSeries): number {
  return bytesOfHistograms(histograms?.slice(0, count));
}

function copied({ labels, count, times, values, histograms, starts }: SampledSeries): SampledSeries {
  const numbers = { times: times.slice(0, count), values: values.slice(0, count), starts: starts?.slice(0, count) };
  return { labels, count, histograms: histograms?.slice(0, count), ...numbers };
}

function newestOf({ labels, count, times, values, histograms, starts }: SampledSeries): SampledSeries {
  const [from, to] = [Math.max(0, count - 1), count];
  const numbers = { times: times.slice(from, to), values: values.slice(from, to), starts: starts?.slice(from, to) };
  return { labels, count: to - from, histograms: histograms?.slice(from, to), ...numbers };
}

/** The samples of both, by time. Values are copied as arrays: a number would lose the bits of a stale marker. */
function mergedSamples(a: SampledSeries, b: SampledSeries): SampledSeries {
  const times = new Float64Array(a.count + b.count);
  const values = new Float64Array(times.length);
  const isHistogram = a.histograms !== undefined || b.histograms !== undefined;
  const histograms: (NativeHistogram | undefined)[] = [];
  const starts = a.starts === undefined && b.starts === undefined ? undefined : new Float64Array(times.length);
  let count = 0;
  const take = (from: SampledSeries, at: number): void => {
    times[count] = from.times[at] as number;
    values.set(from.values.subarray(at, at + 1), count);
    if (isHistogram) histograms.push(from.histograms?.[at]);
    if (starts !== undefined) starts[count] = from.starts?.[at] ?? 0;
    count++;
  };
  for (let i = 0, j = 0; i < a.count || j < b.count; ) {
    const left = i < a.count ? (a.times[i] as number) : Number.POSITIVE_INFINITY;
    const right = j < b.count ? (b.times[j] as number) : Number.POSITIVE_INFINITY;
    if (left < right) take(a, i++);
    else {
      if (left === right) i++;
      take(b, j++);
    }
  }
  return { labels: a.labels, count, times, values, histograms: isHistogram ? histograms : undefined, starts };
}
