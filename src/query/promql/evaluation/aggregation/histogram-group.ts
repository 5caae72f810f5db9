/**
 * The histograms of a group: a sum a step. Numbers of the same step make it nothing.
 */
import type { Span } from "../../syntax/ast.ts";
import { informBounds, warn, warnHints, warnMixedSchemas } from "../annotation.ts";
import { HistogramSum } from "../histogram/sum.ts";
import { eachHistogram } from "../histogram/turns.ts";
import { setHistogram } from "../kernels/steps.ts";
import { labelValue, METRIC_NAME } from "../labels.ts";
import type { Scope, StepSeries, Steps } from "../scope.ts";

/** See the file header. */
export class HistogramGroup {
  private readonly sums = new Map<number, HistogramSum>();
  private readonly isMean: boolean;
  private readonly span: Span;
  private readonly scope: Scope;
  private bytes = 0;

  /** @param span of what is aggregated, for annotations */
  constructor(isMean: boolean, span: Span, scope: Scope) {
    this.isMean = isMean;
    this.span = span;
    this.scope = scope;
  }

  /** Takes the histograms of a series in. @throws DbError for memory */
  async add({ labels, histograms, present }: StepSeries): Promise<void> {
    const { query } = this.scope;
    await eachHistogram(query, present.length, (step) => {
      const histogram = histograms?.[step];
      if (histogram === undefined || present[step] === 0) return;
      let sum = this.sums.get(step);
      if (sum === undefined) {
        sum = new HistogramSum(this.isMean);
        this.sums.set(step, sum);
      }
      const [before, wasMixed] = [sum.bytes, sum.isMixed];
      sum.add(histogram);
      this.bytes += sum.bytes - before;
      query.run.reserve(sum.bytes - before);
      if (sum.isMixed && !wasMixed) warnMixedSchemas(query, labelValue(labels, METRIC_NAME), this.span);
    });
  }

  /** Puts the results beside those of the numbers. Steps that had both get nothing. */
  async addTo(steps: Steps): Promise<void> {
    const { query } = this.scope;
    await eachHistogram(query, steps.present.length, (step) => {
      const sum = this.sums.get(step);
      if (sum === undefined) return;
      if (sum.doHintsCollide) warnHints(query, "aggregation", this.span);
      if (sum.wereBoundsReconciled) informBounds(query, "aggregation", this.span);
      if (steps.present[step] === 1) {
        warn(query, "encountered a mix of histograms and floats for aggregation", this.span);
        steps.present[step] = 0;
        return;
      }
      const result = sum.result();
      if (result !== undefined) setHistogram(steps, step, result);
      this.sums.delete(step);
    });
  }

  /** Gives its memory back. */
  release(): void {
    this.sums.clear();
    this.scope.query.run.release(this.bytes);
    this.bytes = 0;
  }
}
