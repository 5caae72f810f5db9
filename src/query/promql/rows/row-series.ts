/** What rows are made of: series with the values of one field or several, at every step. */
import { bytesOfHistograms } from "../evaluation/histogram/bytes.ts";
import { labelsKey } from "../evaluation/labels.ts";
import type { EvaluationRun, Labels, QueryResult, QueryTimes, SteppedSeries } from "../evaluation/series-source.ts";

/** Bytes of a series beside its steps, roughly. */
const SERIES_BYTES = 256;

/** A series of all fields. */
export interface RowSeries {
  readonly labels: Labels;
  /** A place for each field; undefined: the field has no such series. */
  readonly fields: readonly (SteppedSeries | undefined)[];
}

/** How many moments a query has. */
export function stepCount({ startMillis, endMillis, stepMillis }: QueryTimes): number {
  return Math.floor((endMillis - startMillis) / stepMillis) + 1;
}

/** Whether a step has a number. */
export function hasNumber(series: SteppedSeries | undefined, step: number): series is SteppedSeries {
  return series !== undefined && series.present?.[step] !== 0 && series.histograms?.[step] === undefined;
}

/** Whether any field has a number at a step. */
export function hasRow({ fields }: RowSeries, step: number): boolean {
  for (let field = 0; field < fields.length; field++) if (hasNumber(fields[field], step)) return true;
  return false;
}

/** The series of a result. */
export async function* seriesOf(result: QueryResult): AsyncGenerator<SteppedSeries> {
  if (result.kind === "scalar") yield { labels: [], values: result.values, present: undefined, histograms: undefined };
  if (result.kind === "vector") for await (const some of result.series) yield* some;
}

/** Copies of series, held. @throws DbError RuntimeResourcesExhausted */
export async function held(all: AsyncIterable<RowSeries>, run: EvaluationRun): Promise<readonly RowSeries[]> {
  const kept: RowSeries[] = [];
  for await (const { labels, fields } of all) {
    kept.push({ labels, fields: fields.map((field) => (field === undefined ? field : copyOf(field, run))) });
    if (run.pace.isDue()) await run.pace.turn();
  }
  return kept;
}

/** Series of several fields, joined by their labels; held until all fields are there. @throws DbError those of the results */
export async function* joined(results: readonly (() => Promise<QueryResult>)[], run: EvaluationRun): AsyncGenerator<RowSeries> {
  const byLabels = new Map<string, { readonly labels: Labels; readonly fields: (SteppedSeries | undefined)[] }>();
  for (const [field, result] of results.entries()) {
    for await (const series of seriesOf(await result())) {
      const key = labelsKey(series.labels);
      let row = byLabels.get(key);
      if (row === undefined) byLabels.set(key, (row = { labels: series.labels, fields: results.map(() => undefined) }));
      row.fields[field] = copyOf(series, run);
      if (run.pace.isDue()) await run.pace.turn();
    }
  }
  yield* byLabels.values();
}

function copyOf(series: SteppedSeries, run: EvaluationRun): SteppedSeries {
  const { values, present, histograms } = series;
  run.reserve(SERIES_BYTES + values.byteLength + (present?.byteLength ?? 0) + bytesOfHistograms(histograms));
  return {
    ...series,
    values: values.slice(),
    present: present?.slice(),
    histograms: histograms === undefined ? undefined : [...histograms],
  };
}
