/** The samples of one series after another, in arrays that grow and are used again. */
import type { TimeUnit } from "../../../column/data-type.ts";
import type { Validity, Vector } from "../../../column/vector.ts";
import type { ColumnSchema } from "../../../table/schema.ts";
import { holdsHistograms } from "../../../table/native-histogram.ts";
import type { EvaluationRun, Labels, NativeHistogram, SampledSeries } from "../evaluation/series-source.ts";
import { histogramOf, isStaleMarker } from "./histogram-cell.ts";
import { copyValues, hasValue, validityOf } from "./sample-values.ts";
import { copyMillis } from "./time-range.ts";

/** Samples that there is room for at first. */
const FIRST_CAPACITY = 64;
/** Bytes of a sample: a time and a value. */
const SAMPLE_BYTES = 16;
/** What a decoded histogram takes beside its buckets, nearly. */
const HISTOGRAM_BYTES = 400;

/** Bits of the number that ends a series, the low word first. */
const STALE_WORDS: readonly number[] = [2, 0x7ff00000];

/** How the rows of a scan become samples. */
export interface SampleShape {
  readonly column: ColumnSchema;
  readonly unit: TimeUnit;
  /** Whether several rows of a series may fall on one millisecond: the last one counts. */
  readonly mayRepeat: boolean;
}

/** See the file header. Memory is counted before it is taken. */
export class SampleBuffer {
  times: Float64Array = new Float64Array(0);
  values: Float64Array = new Float64Array(0);
  histograms: (NativeHistogram | undefined)[] | undefined;
  /** When the counting of each sample began, milliseconds; 0: unknown. Undefined: of none. */
  starts: Float64Array | undefined;
  count = 0;
  private words: Uint32Array = new Uint32Array(0);
  private histogramBytes = 0;
  private readonly shape: SampleShape;
  private readonly run: Pick<EvaluationRun, "reserve" | "release">;

  constructor(shape: SampleShape, run: Pick<EvaluationRun, "reserve" | "release">) {
    this.shape = shape;
    this.run = run;
    this.histograms = holdsHistograms(shape.column) ? [] : undefined;
  }

  /** Begins the next series. */
  clear(): void {
    this.count = 0;
    if (this.histograms !== undefined) this.histograms.length = 0;
    this.run.release(this.histogramBytes);
    this.histogramBytes = 0;
    this.dropStarts();
  }

  /** The series that the samples are of; its arrays are this buffer's. */
  seriesOf(labels: Labels): SampledSeries {
    const { count, times, values, histograms, starts } = this;
    return { labels, count, times, values, histograms, starts };
  }

  /** Lets go of all memory. */
  close(): void {
    this.clear();
    this.run.release(this.times.length * SAMPLE_BYTES);
    this.times = new Float64Array(0);
    this.values = new Float64Array(0);
  }

  /** Adds rows `[start, end)` that have a value. @throws DbError RuntimeResourcesExhausted */
  append(times: Vector | undefined, values: Vector | undefined, start: number, end: number): void {
    if (times?.kind !== "time" || values === undefined) throw new Error("a scan gives its time index as times");
    const { column, unit, mayRepeat } = this.shape;
    const from = this.count;
    const to = from + end - start;
    this.grow(to);
    copyMillis(times, unit, start, end, this.times, from);
    if (this.histograms === undefined) copyValues(values, column.type, start, end, this.values, from);
    else this.copyHistograms(values, start, end, from);
    this.count = to;
    const validity = validityOf(values, end);
    if (validity !== undefined || mayRepeat) this.compact(from, validity, start - from);
  }

  private copyHistograms(values: Vector, start: number, end: number, at: number): void {
    const { histograms } = this;
    if (values.kind !== "bytes" || histograms === undefined) throw new Error("a scan gives histograms as bytes");
    for (let row = start; row < end; row++, at++) {
      this.values[at] = 0;
      if (!hasValue(values.validity, row)) {
        histograms[at] = undefined;
        continue;
      }
      const cell = values.bytes.subarray(values.offsets[row], values.offsets[row + 1]);
      this.run.reserve(cell.length + HISTOGRAM_BYTES);
      this.histogramBytes += cell.length + HISTOGRAM_BYTES;
      if (isStaleMarker(cell)) {
        histograms[at] = undefined;
        this.words.set(STALE_WORDS, 2 * at);
        continue;
      }
      const { histogram, startMillis } = histogramOf(cell);
      histograms[at] = histogram;
      if (startMillis !== 0) this.startsWithRoom()[at] = startMillis;
    }
  }

  private startsWithRoom(): Float64Array {
    const { starts, times } = this;
    if (starts !== undefined && starts.length >= times.length) return starts;
    this.run.reserve(times.byteLength);
    const grown = new Float64Array(times.length);
    if (starts !== undefined) grown.set(starts);
    this.run.release(starts?.byteLength ?? 0);
    this.starts = grown;
    return grown;
  }

  private dropStarts(): void {
    this.run.release(this.starts?.byteLength ?? 0);
    this.starts = undefined;
  }

  /** Takes out rows without a value, and all but the last of one time. Row `at` of the buffer is row `at + shift` of the batch. */
  private compact(from: number, validity: Validity, shift: number): void {
    const { times, words, histograms, starts, count } = this;
    let to = from;
    for (let at = from; at < count; at++) {
      if (!hasValue(validity, at + shift)) continue;
      if (to > 0 && times[to - 1] === times[at]) to--;
      times[to] = times[at] as number;
      words[2 * to] = words[2 * at] as number;
      words[2 * to + 1] = words[2 * at + 1] as number;
      if (histograms !== undefined) histograms[to] = histograms[at];
      if (starts !== undefined) starts[to] = starts[at] ?? 0;
      to++;
    }
    this.count = to;
    if (histograms !== undefined) histograms.length = to;
  }

  private grow(count: number): void {
    if (count <= this.times.length) return;
    const capacity = Math.max(FIRST_CAPACITY, this.times.length * 2, count);
    this.run.reserve(capacity * SAMPLE_BYTES);
    const times = new Float64Array(capacity);
    const values = new Float64Array(capacity);
    times.set(this.times);
    values.set(this.values);
    this.run.release(this.times.length * SAMPLE_BYTES);
    this.times = times;
    this.values = values;
    this.words = new Uint32Array(values.buffer);
  }
}
