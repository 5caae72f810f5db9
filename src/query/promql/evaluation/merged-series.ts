/**
 * Series by their labels: those of equal labels become one, when no step has a value of both.
 */
import { labelsKey } from "./labels.ts";
import { mergeInto } from "./kernels/steps.ts";
import { evaluationError, seriesBytes, type Scope, type StepSeries } from "./scope.ts";

/** See the file header. */
export class MergedSeries {
  private readonly byLabels = new Map<string, StepSeries>();
  private readonly scope: Scope;

  constructor(scope: Scope) {
    this.scope = scope;
  }

  /** @throws DbError when two have a value at one step, and for memory */
  add(series: StepSeries): void {
    const key = labelsKey(series.labels);
    const known = this.byLabels.get(key);
    if (known === undefined) {
      this.scope.query.run.reserve(seriesBytes(this.scope.moments.count));
      this.byLabels.set(key, series);
      return;
    }
    if (!mergeInto(known, series)) throw evaluationError("vector cannot contain metrics with the same labelset");
    if (series.dropsName && !known.dropsName) this.byLabels.set(key, { ...known, dropsName: true });
  }

  /** All, in the order in which their labels came; each is counted until the next one is asked for. */
  *take(): Generator<StepSeries> {
    for (const series of this.byLabels.values()) {
      yield series;
      this.scope.query.run.release(seriesBytes(this.scope.moments.count));
    }
  }
}
