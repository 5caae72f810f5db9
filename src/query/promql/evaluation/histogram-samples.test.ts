import { expect, test } from "bun:test";
import { answerOf, type PlainAnswer } from "../../../../test/support/promql-query.ts";
import type { NativeHistogram, SampledSeries, SeriesSource } from "./series-source.ts";

const HISTOGRAM: NativeHistogram = {
  schema: 0,
  zeroThreshold: 0,
  zeroCount: 0,
  count: 3,
  sum: 5,
  positiveSpans: [],
  negativeSpans: [],
  customValues: undefined,
  resetHint: "unknown",
};

/** Two series of `lat`: histograms alone, and a number after a histogram. */
const SOURCE: SeriesSource = {
  async *select(): AsyncGenerator<SampledSeries> {
    const times = Float64Array.of(1000, 2000);
    yield { labels: labels("a"), count: 2, times, values: new Float64Array(2), histograms: [HISTOGRAM, HISTOGRAM] };
    yield { labels: labels("b"), count: 2, times, values: Float64Array.of(0, 7), histograms: [HISTOGRAM, undefined] };
  },
};

function labels(host: string): SampledSeries["labels"] {
  return [
    ["__name__", "lat"],
    ["host", host],
  ];
}

const TIMES = { startMillis: 3000, endMillis: 3000, stepMillis: 1, lookbackMillis: 300_000 };
const WARNING = 'PromQL warning: native histograms are not evaluated yet; their samples were left out: "lat"';

/** Values by host, and the warnings. */
async function answered(query: string): Promise<unknown> {
  const { series, warnings }: PlainAnswer = await answerOf(query, TIMES, SOURCE);
  return [series.map((one) => [one.labels.find(([name]) => name === "host")?.[1], [...one.points.values()]]), warnings];
}

test("samples that are native histograms are left out, and a warning names their metric once", async () => {
  expect(await answered("lat")).toEqual([[["b", [7]]], [WARNING]]);
  expect(await answered("lat[5m]")).toEqual([[["b", [7]]], [WARNING]]);
  expect(await answered("count_over_time(lat[5m])")).toEqual([[["b", [1]]], [WARNING]]);
  expect(await answered("lat + lat")).toEqual([[["b", [14]]], [WARNING]]);
  expect(await answered('absent(lat{host="a"})')).toEqual([[], [WARNING]]);
});
