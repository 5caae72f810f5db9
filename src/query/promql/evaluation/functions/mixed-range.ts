/**
 * Functions of a range where a series has histograms, or tells when its counting began.
 *
 * | functions | of a window of numbers | of histograms | of both |
 * |---|---|---|---|
 * | `count`, `present`, `first`, `last`, times of the first and last | all samples count | | |
 * | `changes`, `resets` | neighbours are compared; a number and a histogram differ | | |
 * | `sum`, `avg`, `rate`, `increase`, `delta` | a number | a histogram | nothing, and a warning |
 * | `irate`, `idelta` | the same of the last two | | |
 * | all others | a number | nothing | that of the numbers, and an info |
 */
import {
  type HistogramOperation,
  informBounds,
  informIgnoredInRange,
  warn,
  warnHints,
  warnHistogramType,
  warnMixedSamples,
  warnMixedSchemas,
} from "../annotation.ts";
import { minus, divided } from "../histogram/arithmetic.ts";
import { bytesOfHistogram } from "../histogram/bytes.ts";
import { isEqual } from "../histogram/equality.ts";
import { isGauge, isReset } from "../histogram/reset.ts";
import { betweenTurns, eachHistogram } from "../histogram/turns.ts";
import { slideObjects } from "../kernels/slide-objects.ts";
import { emptySteps, setHistogram } from "../kernels/steps.ts";
import { mixedWindows } from "../kernels/mixed-samples.ts";
import type { Windows } from "../kernels/windows.ts";
import { labelValue, METRIC_NAME } from "../labels.ts";
import type { Moments, QueryScope, Steps } from "../scope.ts";
import type { RangeSeries } from "../selectors.ts";
import type { NativeHistogram } from "../series-source.ts";
import type { Span } from "../../syntax/ast.ts";
import { type ChangeWindows, extrapolatedChanges, isOverlapping, isStartReset } from "./kernels/counter-change.ts";
import { anchoredChanges, anchoredWindows, type OuterSamples, outerSamples, smoothedChanges } from "./kernels/histogram-extended.ts";
import { histogramCounter, type HistogramNotes, sumFold } from "./kernels/histogram-samples.ts";
import { countNeighbours, type SplitSamples, splitSamples } from "./kernels/split-samples.ts";
import { startedNumbers } from "./kernels/started-numbers.ts";

/** A call and one of its series. */
export interface MixedRange {
  readonly name: string;
  readonly series: RangeSeries;
  /** Ends of the windows. */
  readonly moments: Moments;
  readonly rangeMillis: number;
  readonly mode: "anchored" | "smoothed" | undefined;
  /** Where the range stands in the query. */
  readonly span: Span;
  readonly query: QueryScope;
  /** The function of samples that are numbers. */
  readonly ofNumbers: (samples: Pick<RangeSeries, "times" | "values" | "count">, windows: Windows) => Promise<Steps>;
}

/** The results, and the bytes of histograms among them, which the caller releases. @throws DbError for memory */
export async function mixedRange(range: MixedRange): Promise<{ steps: Steps; bytes: number }> {
  return new MixedFunction(range).result();
}

class MixedFunction {
  private readonly range: MixedRange;
  private readonly windows: Windows;
  private readonly split: SplitSamples;
  private readonly outer: OuterSamples;
  private readonly out: Steps;
  private bytes = 0;

  constructor(range: MixedRange) {
    const { series, moments, rangeMillis, query } = range;
    this.range = range;
    this.windows = mixedWindows(series, moments, rangeMillis);
    this.split = splitSamples(series);
    const input = { windows: this.windows, moments, rangeMillis, isRate: false };
    this.outer = outerSamples(series.times, series.count, input, query.times.lookbackMillis);
    this.out = emptySteps(moments.count);
  }

  async result(): Promise<{ steps: Steps; bytes: number }> {
    const { range, windows } = this;
    switch (range.name) {
      case "count_over_time":
      case "present_over_time":
      case "ts_of_first_over_time":
      case "ts_of_last_over_time":
        return { steps: await range.ofNumbers(range.series, windows), bytes: 0 };
      case "first_over_time":
        this.pick(({ first }, step) => first[step] as number);
        break;
      case "last_over_time":
        this.pick(({ end }, step) => (end[step] as number) - 1);
        break;
      case "changes":
      case "resets":
        await this.compareNeighbours(range.name === "changes");
        break;
      case "irate":
      case "idelta":
        await this.lastTwo(range.name === "irate");
        break;
      case "sum_over_time":
      case "avg_over_time":
        await this.either(this.sums(range.name === "avg_over_time"));
        break;
      case "rate":
      case "increase":
      case "delta":
        await this.either(this.changes());
        break;
      default:
        await this.numbersAlone();
    }
    return { steps: this.out, bytes: this.bytes };
  }

  private put(step: number, sample: NativeHistogram | number): void {
    if (typeof sample === "number") {
      this.out.values[step] = sample;
      this.out.present[step] = 1;
      return;
    }
    const bytes = bytesOfHistogram(sample);
    this.range.query.run.reserve(bytes);
    this.bytes += bytes;
    setHistogram(this.out, step, sample);
  }

  private metric(): string {
    return labelValue(this.range.series.labels, METRIC_NAME);
  }

  /** What the kernels have to tell, as annotations. */
  private notes(): HistogramNotes {
    const { query, span } = this.range;
    return {
      mixedSchemas: () => warnMixedSchemas(query, this.metric(), span),
      notOfType: (wanted) => warnHistogramType(query, wanted, this.metric(), span),
      bounds: (operation: HistogramOperation) => informBounds(query, operation, span),
      hints: () => warnHints(query, "aggregation", span),
    };
  }

  private pick(place: (windows: Windows, step: number) => number): void {
    const { histograms, values } = this.range.series;
    const { first, end } = this.windows;
    for (let i = 0; i < first.length; i++) {
      if ((end[i] as number) <= (first[i] as number)) continue;
      const at = place(this.windows, i);
      const histogram = histograms?.[at];
      if (histogram !== undefined) setHistogram(this.out, i, histogram);
      else this.put(i, values[at] as number);
    }
  }

  private async compareNeighbours(isOfChanges: boolean): Promise<void> {
    const { series, mode } = this.range;
    const { values, histograms } = series;
    const windows = mode === "anchored" ? anchoredWindows(this.windows, this.outer) : this.windows;
    const differs = (at: number): boolean => {
      const [before, now] = [histograms?.[at - 1], histograms?.[at]];
      if (before !== undefined && now !== undefined) return isOfChanges ? !isEqual(now, before) : isReset(now, before);
      if (before !== undefined || now !== undefined) return true;
      const [a, b] = [values[at - 1] as number, values[at] as number];
      return isOfChanges ? a !== b && !(Number.isNaN(a) && Number.isNaN(b)) : b < a;
    };
    const isIt = (at: number): boolean => (!isOfChanges && isStartReset(series, at)) || differs(at);
    const so = new Uint8Array(series.count);
    await eachHistogram(this.range.query, series.count, (at) => void (so[at] = at > 0 && isIt(at) ? 1 : 0));
    countNeighbours(so, windows, (step, count) => this.put(step, count));
  }

  private async lastTwo(isRate: boolean): Promise<void> {
    const { first, end } = this.windows;
    await eachHistogram(this.range.query, first.length, (i) => {
      const last = (end[i] as number) - 1;
      if (last <= (first[i] as number)) return;
      const change = this.lastChange(last, isRate);
      if (change === undefined) return;
      const { times } = this.range.series;
      const seconds = isRate ? ((times[last] as number) - (times[last - 1] as number)) / 1000 : 1;
      this.put(i, typeof change === "number" ? change / seconds : divided(change, seconds));
    });
  }

  private lastChange(last: number, isRate: boolean): number | NativeHistogram | undefined {
    const { series, query, span } = this.range;
    const { values, histograms } = series;
    const [before, now] = [histograms?.[last - 1], histograms?.[last]];
    if (isRate && isOverlapping(series, last)) this.warnOverlap();
    const begins = isRate && isStartReset(series, last);
    if (before === undefined && now === undefined) {
      const [a, b] = [values[last - 1] as number, values[last] as number];
      return isRate && (begins || b < a) ? b : b - a;
    }
    if (before === undefined || now === undefined) {
      warnMixedSamples(query, this.metric(), span);
      return undefined;
    }
    if (isRate ? isGauge(now) || isGauge(before) : !isGauge(now) || !isGauge(before)) this.notes().notOfType(isRate ? "counter" : "gauge");
    if (isRate && (begins || isReset(now, before))) return { ...now, resetHint: "gauge" };
    const change = minus(now, before);
    if (change === undefined) {
      warnMixedSchemas(query, this.metric(), span);
      return undefined;
    }
    if (change.wereBoundsReconciled) informBounds(query, "subtraction", span);
    return { ...change.histogram, resetHint: "gauge" };
  }

  private warnOverlap(): void {
    const { query, span } = this.range;
    const what = "sample has start time that overlaps with previous sample timestamp for metric";
    warn(query, `${what} ${JSON.stringify(this.metric())}`, span);
  }

  /** The windows that hold numbers alone and those that hold histograms alone; the others warn. */
  private async either(histogramSteps: Iterable<readonly [step: number, histogram: NativeHistogram] | undefined>): Promise<void> {
    const { range, split } = this;
    const seen = this.seenWindows();
    const [numbers, histograms] = [split.numberWindows(seen), split.histogramWindows(seen)];
    const has = ({ first, end }: Windows, step: number): boolean => (end[step] as number) > (first[step] as number);
    if (split.numbers.count > 0) {
      const { values, present } = await this.numberSteps();
      for (let i = 0; i < present.length; i++) if (present[i] === 1 && !has(histograms, i)) this.put(i, values[i] as number);
    }
    for await (const one of betweenTurns(histogramSteps, range.query)) if (!has(numbers, one[0])) this.put(...one);
    for (let i = 0; i < seen.first.length; i++)
      if (has(numbers, i) && has(histograms, i)) warnMixedSamples(range.query, this.metric(), range.span);
  }

  /** The samples that a step looks at. */
  private seenWindows(): Windows {
    const { mode } = this.range;
    const { outer, windows } = this;
    if (mode === undefined) return windows;
    if (mode === "anchored") return anchoredWindows(windows, outer);
    return {
      first: windows.first.map((at, step) => (outer.hasBefore(step) ? at - 1 : at)),
      end: windows.end.map((at, step) => (outer.hasAfter(step) ? at + 1 : at)),
    };
  }

  private async numberSteps(): Promise<Steps> {
    const { range, windows } = this;
    const { numbers } = this.split;
    const isCounter = range.name === "rate" || range.name === "increase";
    if (numbers.starts === undefined || !isCounter || range.mode !== undefined)
      return range.ofNumbers(numbers, this.split.numberWindows(windows));
    const out = emptySteps(range.moments.count);
    const samples = startedNumbers(numbers.times, numbers.values, numbers.starts, numbers.count);
    this.warnOverlaps(this.split.numberWindows(windows), numbers);
    const changes = extrapolatedChanges(samples, this.changeInput(this.split.numberWindows(windows)), range.query.run);
    for await (const [step, value] of betweenTurns(changes, range.query)) {
      out.values[step] = value;
      out.present[step] = 1;
    }
    return out;
  }

  private warnOverlaps(windows: Windows, samples: { readonly times: Float64Array; readonly starts: Float64Array | undefined }): void {
    if (samples.starts === undefined) return;
    const so = Uint8Array.from(samples.times, (_, at) => (at > 0 && isOverlapping(samples, at) ? 1 : 0));
    countNeighbours(so, windows, (_step, count) => {
      if (count > 0) this.warnOverlap();
    });
  }

  private changeInput(windows: Windows): ChangeWindows {
    const { moments, rangeMillis, name } = this.range;
    return { windows, moments, rangeMillis, isRate: name === "rate" };
  }

  private *sums(isMean: boolean): Generator<readonly [step: number, histogram: NativeHistogram] | undefined> {
    const { range, split } = this;
    const { first, end } = split.histogramWindows(this.windows);
    const notes = this.notes();
    for (const one of slideObjects(sumFold(split.histograms, isMean), first, end, range.query.run)) {
      if (one === undefined) {
        yield undefined;
        continue;
      }
      const [step, sum] = one;
      if (split.hasNumbers(this.windows, step)) continue;
      const result = sum.result();
      if (sum.doHintsCollide) notes.hints();
      if (sum.wereBoundsReconciled) notes.bounds("aggregation");
      if (result === undefined) notes.mixedSchemas();
      else yield [step, result];
    }
  }

  private changes(): Iterable<readonly [step: number, histogram: NativeHistogram] | undefined> {
    const { range, split } = this;
    const { run } = range.query;
    const isCounter = range.name !== "delta";
    const samples = histogramCounter(split.histogramTimes, split.histograms, isCounter, this.notes());
    const windows = split.histogramWindows(range.mode === "anchored" ? this.seenWindows() : this.windows, this.seenWindows());
    const input = this.changeInput(windows);
    if (range.mode === "anchored") return anchoredChanges(samples, input, run);
    if (range.mode === "smoothed") return smoothedChanges(samples, split.histograms, input, this.outerHistograms(), run, this.notes());
    if (isCounter) this.warnOverlaps(windows, split.histogramTimes);
    return extrapolatedChanges(samples, input, run);
  }

  /** Those of steps that see no number. */
  private outerHistograms(): OuterSamples {
    const seen = this.seenWindows();
    const { outer, split } = this;
    return {
      hasBefore: (step) => !split.hasNumbers(seen, step) && outer.hasBefore(step),
      hasAfter: (step) => !split.hasNumbers(seen, step) && outer.hasAfter(step),
    };
  }

  private async numbersAlone(): Promise<void> {
    const { range, split, windows } = this;
    if (split.numbers.count === 0) return;
    const { values, present } = await range.ofNumbers(split.numbers, split.numberWindows(windows));
    for (let i = 0; i < present.length; i++) if (present[i] === 1) this.put(i, values[i] as number);
    for (let i = 0; i < present.length; i++)
      if (split.hasNumbers(windows, i) && split.hasHistograms(windows, i)) informIgnoredInRange(range.query, this.metric(), range.span);
  }
}
