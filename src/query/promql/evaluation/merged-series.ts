/**
 * Series by their labels: those of equal labels become one, when no step has a value of both.
 */
import { ALL_LABELS, ByLabels } from "./by-labels.ts";
import { bytesOfHistograms } from "./histogram/bytes.ts";
import { mergeInto } from "./kernels/steps.ts";
import { evaluationError, seriesBytes, type Scope, type StepSeries } from "./scope.ts";

/** See the file header. */
export class MergedSeries {
  private readonly byLabels = new ByLabels<{ series: StepSeries | undefined }>(ALL_LABELS);
  /** The first series, until there is another one: most queries have one, and need no labels to find it by. */
  private only: StepSeries | undefined;
  private hasSeveral = false;
  private readonly scope: Scope;
  private histogramBytes = 0;

  constructor(scope: Scope) {
    this.scope = scope;
  }

  /** @throws DbError when two have a value at one step, and for memory */
  add(series: StepSeries): void {
    if (series.histograms !== undefined) this.countHistograms(series);
    if (!this.hasSeveral) {
      const first = this.only;
      if (first === undefined) {
        this.scope.query.run.reserve(seriesBytes(this.scope.moments.count));
        this.only = series;
        return;
      }
      this.only = undefined;
      this.hasSeveral = true;
      this.byLabels.getOrMake(first.labels, () => ({ series: first }));
    }
    const place = this.byLabels.getOrMake(series.labels, () => ({ series: undefined }));
    const known = place.series;
    if (known === undefined) {
      this.scope.query.run.reserve(seriesBytes(this.scope.moments.count));
      place.series = series;
      return;
    }
    if (!mergeInto(known, series)) throw evaluationError("vector cannot contain metrics with the same labelset");
    if (series.dropsName && !known.dropsName) place.series = { ...known, dropsName: true };
  }

  /** All, once, in the order in which their labels came. Each is counted until the next one is asked for, and no longer held. */
  *take(): Generator<StepSeries> {
    const { only } = this;
    if (only !== undefined) {
      this.only = undefined;
      yield only;
      this.scope.query.run.release(seriesBytes(this.scope.moments.count));
    }
    for (const place of this.byLabels.all) {
      const { series } = place;
      place.series = undefined;
      if (series !== undefined) yield series;
      this.scope.query.run.release(seriesBytes(this.scope.moments.count));
    }
    this.scope.query.run.release(this.histogramBytes);
  }

  private countHistograms({ histograms }: StepSeries): void {
    const bytes = bytesOfHistograms(histograms);
    this.scope.query.run.reserve(bytes);
    this.histogramBytes += bytes;
  }
}
