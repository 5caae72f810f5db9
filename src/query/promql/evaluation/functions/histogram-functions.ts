/**
 * Functions of each histogram for itself, one line each. Numbers are left out.
 */
import type { Call } from "../../syntax/ast.ts";
import { varianceOfHistogram } from "../histogram/variance.ts";
import { eachHistogram } from "../histogram/turns.ts";
import { emptySteps } from "../kernels/steps.ts";
import type { Scope, StepSeries, StepVectorMaker } from "../scope.ts";
import type { NativeHistogram } from "../series-source.ts";

type OfHistogram = (histogram: NativeHistogram) => number;

/** By name. */
export const HISTOGRAM_FUNCTIONS: ReadonlyMap<string, OfHistogram> = new Map<string, OfHistogram>([
  ["histogram_avg", ({ sum, count }) => sum / count],
  ["histogram_count", ({ count }) => count],
  ["histogram_stddev", (histogram) => Math.sqrt(varianceOfHistogram(histogram))],
  ["histogram_stdvar", varianceOfHistogram],
  ["histogram_sum", ({ sum }) => sum],
]);

/** The series of a call. @throws DbError */
export async function* histogramFunction(call: Call, ofHistogram: OfHistogram, scope: Scope): StepVectorMaker {
  const [argument] = call.args;
  if (argument === undefined) return;
  const { query, moments } = scope;
  for await (const some of query.vector(argument, scope)) {
    const found: StepSeries[] = [];
    for (const { labels, histograms, present } of some) {
      if (histograms === undefined) continue;
      const out = emptySteps(moments.count);
      await eachHistogram(query, moments.count, (step) => {
        const histogram = histograms[step];
        if (present[step] === 0 || histogram === undefined) return;
        out.values[step] = ofHistogram(histogram);
        out.present[step] = 1;
      });
      found.push({ labels, ...out, dropsName: true });
    }
    yield found;
  }
}
