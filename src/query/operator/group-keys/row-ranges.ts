/**
 * Cuts batches into ranges: rows of one series in one bucket of each key of time, hundreds of rows long. All that groups, spills and
 * looks up rows by keys of series and time does so once a range.
 *
 * Times ascend within the runs of a scan, so that where a bucket ends is found by galloping and most times are never read. With several
 * keys of time, or keys of rows, which are looked at one by one anyway, each time is compared with the ends of its bucket.
 */
import { assert } from "../../../base/assert.ts";
import type { SeriesRuns } from "../../../column/batch.ts";
import type { TimeVector } from "../../../column/vector.ts";
import type { ExecBatch } from "../contract/exec-context.ts";
import type { TimeBuckets } from "../../function/time/buckets.ts";
import { type BucketCuts, type BucketFrame, type BucketSpan, cutBuckets, frameOf, locate } from "../../expression/kernels/bucket-starts.ts";
import { endOfSpan } from "../../expression/kernels/span-end.ts";

/** Range s is rows `[starts[s], starts[s + 1])`. Valid until the next batch. */
export interface Ranges {
  readonly count: number;
  readonly starts: Uint32Array;
  /** By run, whose ranges lie behind one another: the number of its series, and the end of its ranges. */
  readonly series: Uint32Array;
  readonly ends: Uint32Array;
  /** For each key of time: its buckets as seen from the batch, and how many after the frame's own each range lies in. */
  readonly frames: readonly BucketFrame[];
  readonly steps: readonly Float64Array[];
}

/** A key of time: buckets of a column. */
interface BucketColumn {
  readonly column: number;
  readonly buckets: TimeBuckets;
}

/** Cuts one batch after another. */
export class RangeCutter {
  private readonly hasSeries: boolean;
  private readonly keys: readonly BucketColumn[];
  private readonly gallops: boolean;
  private starts = new Uint32Array(0);
  private ends: Uint32Array = new Uint32Array(0);
  private steps: readonly Float64Array[] = [];
  private readonly spans: readonly BucketSpan[];
  private count = 0;

  constructor(hasSeries: boolean, keys: readonly BucketColumn[], hasRowKeys: boolean) {
    this.hasSeries = hasSeries;
    this.keys = keys;
    this.gallops = keys.length === 1 && !hasRowKeys;
    this.spans = keys.map(() => ({ steps: 0, start: 1, end: 0 }));
  }

  /** The ranges of a batch. */
  cut(batch: ExecBatch): Ranges {
    const { rowCount } = batch;
    const { hasSeries, keys } = this;
    if (!hasSeries && keys.length === 0) return whole(rowCount);
    const { starts, series } = runsOf(batch, hasSeries);
    if (this.ends.length < series.length) this.ends = new Uint32Array(Math.max(series.length, this.ends.length * 2));
    const { ends } = this;
    if (keys.length === 0) {
      for (let run = 0; run < series.length; run++) ends[run] = run + 1;
      return { count: series.length, starts, series, ends, frames: [], steps: [] };
    }
    if (this.starts.length < rowCount + 1) {
      this.starts = new Uint32Array(rowCount + 1);
      this.steps = keys.map(() => new Float64Array(rowCount + 1));
    }
    const times = keys.map(({ column }) => timesOf(batch, column));
    const frames = keys.map(({ buckets }, k) => frameOf(buckets, times[k]?.base ?? 0n));
    for (const span of this.spans) [span.start, span.end] = [1, 0];
    this.count = 0;
    for (let run = 0; run < series.length; run++) {
      const from = starts[run] as number;
      const to = starts[run + 1] as number;
      if (this.gallops) this.gallop(times[0]?.offsets ?? new Float64Array(0), frames[0], from, to);
      else this.walk(times, frames, from, to);
      ends[run] = this.count;
    }
    this.starts[this.count] = rowCount;
    return { count: this.count, starts: this.starts, series, ends, frames, steps: this.steps };
  }

  /** Ascending times of one run and one key: from border to border. */
  private gallop(offsets: Float64Array, frame: BucketFrame | undefined, from: number, to: number): void {
    const { starts } = this;
    const [steps] = this.steps;
    const [span] = this.spans;
    if (frame === undefined || steps === undefined || span === undefined) return;
    if (frame.width > 0) {
      const cuts: BucketCuts = { starts, steps, count: this.count };
      cutBuckets(offsets, from, to, frame.width, frame.rest, cuts);
      this.count = cuts.count;
      return;
    }
    for (let row = from; row < to; row = endOfSpan(offsets, row, to, span.end)) {
      locate(frame, offsets[row] as number, span);
      starts[this.count] = row;
      steps[this.count++] = span.steps;
    }
  }

  /** Times of one run and several keys, in any order. */
  private walk(times: readonly TimeVector[], frames: readonly BucketFrame[], from: number, to: number): void {
    const { starts, steps, spans } = this;
    const first = this.count;
    for (let row = from; row < to; row++) {
      let isSame = this.count > first;
      for (let k = 0; k < spans.length; k++) {
        const [span, frame] = [spans[k] as BucketSpan, frames[k] as BucketFrame];
        const offset = times[k]?.offsets[row] as number;
        if (offset >= span.start && offset < span.end) continue;
        locate(frame, offset, span);
        isSame = false;
      }
      if (isSame) continue;
      starts[this.count] = row;
      for (let k = 0; k < spans.length; k++) (steps[k] as Float64Array)[this.count] = (spans[k] as BucketSpan).steps;
      this.count++;
    }
  }
}

/** All rows as one range. */
function whole(rowCount: number): Ranges {
  return { count: 1, starts: Uint32Array.of(0, rowCount), series: new Uint32Array(1), ends: Uint32Array.of(1), frames: [], steps: [] };
}

/** The runs of a batch; one run of all rows where rows are not a scan's. */
function runsOf(batch: ExecBatch, needed: boolean): SeriesRuns {
  if (batch.runs !== undefined) return batch.runs;
  assert(!needed, "series keys group batches of a scan");
  return { starts: Uint32Array.of(0, batch.rowCount), series: new Uint32Array(1) };
}

function timesOf(batch: ExecBatch, column: number): TimeVector {
  const vector = batch.vectors[column];
  assert(vector?.kind === "time", `a bucket key reads a time column; got a ${vector?.kind} vector`);
  return vector;
}
