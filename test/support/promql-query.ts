/**
 * PromQL text to plain results, over any source: what tests of evaluation compare.
 */
import { Pace } from "../../src/base/scheduler/pace.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { evaluate } from "../../src/query/promql/evaluation/evaluate.ts";
import type { EvaluationRun, Labels, NativeHistogram, QueryTimes, SeriesSource } from "../../src/query/promql/evaluation/series-source.ts";
import { parsePromql } from "../../src/query/promql/syntax/parse.ts";
import { eachOf } from "./each-of.ts";

/** A number or a histogram. */
export type Sample = number | NativeHistogram;

/** A series: its samples by milliseconds. */
export interface PlainSeries {
  readonly labels: Labels;
  readonly points: ReadonlyMap<number, Sample>;
}

/** What a query answers; of a scalar one series without labels. */
export interface PlainAnswer {
  readonly kind: "scalar" | "string" | "vector" | "matrix";
  readonly text: string;
  readonly series: readonly PlainSeries[];
  readonly isOrdered: boolean;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

/** Prometheus' look-back. */
export const LOOKBACK_MILLIS = 300_000;

/** A run that counts bytes up to a bound. */
export class TestRun implements EvaluationRun {
  readonly signal: AbortSignal = new AbortController().signal;
  readonly pace: Pace = new Pace(new Scheduler());
  held = 0;
  most = 0;
  private readonly bytesMax: number;

  constructor(bytesMax: number = Number.POSITIVE_INFINITY) {
    this.bytesMax = bytesMax;
  }

  readonly reserve = (bytes: number): void => {
    this.held += bytes;
    this.most = Math.max(this.most, this.held);
    if (this.held > this.bytesMax) throw new Error("out of memory");
  };

  readonly release = (bytes: number): void => {
    this.held -= bytes;
  };
}

/** Evaluates a query. @throws Error for what is no query; DbError */
export async function answerOf(
  text: string,
  times: QueryTimes,
  source: SeriesSource,
  run: EvaluationRun = new TestRun(),
): Promise<PlainAnswer> {
  const query = parsePromql(text);
  if (!query.ok) throw new Error(query.problem.message);
  const annotations = { warnings: new Set<string>(), infos: new Set<string>() };
  const result = await evaluate(query.expression, times, source, run, annotations, text);
  const series: PlainSeries[] = [];
  const timeOf = (step: number): number => times.startMillis + step * times.stepMillis;
  switch (result.kind) {
    case "scalar":
      series.push({ labels: [], points: new Map(Array.from(result.values, (value, step) => [timeOf(step), value])) });
      break;
    case "vector":
      for await (const { labels, values, present, histograms } of eachOf(result.series)) {
        const points = new Map<number, Sample>();
        for (const [step, value] of values.entries())
          if (present === undefined || present[step] === 1) points.set(timeOf(step), histograms?.[step] ?? value);
        series.push({ labels, points });
      }
      break;
    case "matrix":
      for await (const { labels, times: at, values, histograms, count } of result.series)
        series.push({
          labels,
          points: new Map(Array.from({ length: count }, (_, index) => [at[index]!, histograms?.[index] ?? values[index]!])),
        });
      break;
    case "string":
      break;
  }
  return {
    kind: result.kind,
    text: result.kind === "string" ? result.value : "",
    series,
    isOrdered: result.kind === "vector" && result.isOrdered,
    warnings: [...annotations.warnings],
    infos: [...annotations.infos],
  };
}
