/** The samples of a series that are numbers. */
import type { SampledSeries } from "../series-source.ts";

/** Without the samples that are native histograms: the series itself where there are none. Bits of stale markers stay as they are. */
export function numberSamples(series: SampledSeries): SampledSeries {
  const { histograms, count, labels } = series;
  if (histograms === undefined) return series;
  const times = series.times.slice(0, count);
  const values = series.values.slice(0, count);
  const words = new Uint32Array(values.buffer);
  let kept = 0;
  for (let at = 0; at < count; at++) {
    if (histograms[at] !== undefined) continue;
    times[kept] = times[at]!;
    words[2 * kept] = words[2 * at]!;
    words[2 * kept + 1] = words[2 * at + 1]!;
    kept++;
  }
  return kept === count ? series : { labels, count: kept, times, values, histograms: undefined };
}
