/**
 * Time buckets over offsets, without a bigint a row: `date_trunc`, `date_bin` and the grouping by them.
 *
 * A frame ties buckets to the base of one vector. For buckets of fixed width, the bucket of an offset is
 * `floor((offset + rest) / width)` buckets after the one that holds the base; the quotient of doubles can only be one too high,
 * which one multiplication finds out. Calendar buckets count with the calendar, once for each change of bucket.
 */
import type { TimeVector } from "../../../column/vector.ts";
import { endOfSpan } from "./span-end.ts";
import { bucketIndexOf, bucketStartOf, type TimeBuckets } from "../../function/time/buckets.ts";

/** Where the bucket that holds a time lies, as offsets from a vector's base: `[start, end)`. Ends may lie beyond ±2^53. */
export interface BucketSpan {
  /** Buckets after the one that holds the base. */
  steps: number;
  start: number;
  end: number;
}

/** Buckets as seen from the base of a vector. */
export interface BucketFrame {
  readonly buckets: TimeBuckets;
  readonly base: bigint;
  /** Index of the bucket that holds the base. */
  readonly baseIndex: bigint;
  /** Width in units, or 0 for calendar buckets and widths beyond 2^53. */
  readonly width: number;
  /** The base minus the start of its bucket. */
  readonly rest: number;
}

/** The frame of buckets at a base. */
export function frameOf(buckets: TimeBuckets, base: bigint): BucketFrame {
  const baseIndex = bucketIndexOf(buckets, base);
  const width = buckets.kind === "fixed" ? Number(buckets.width) : 0;
  const rest = Number(base - bucketStartOf(buckets, baseIndex));
  return { buckets, base, baseIndex, width: Number.isSafeInteger(width) && width < 2 ** 52 ? width : 0, rest };
}

/** Sets `span` to the bucket of an offset. */
export function locate(frame: BucketFrame, offset: number, span: BucketSpan): void {
  const { width, rest } = frame;
  if (width > 0) {
    let steps = Math.floor((offset + rest) / width);
    if (steps * width > offset + rest) steps--;
    span.steps = steps;
    span.start = steps * width - rest;
    span.end = span.start + width;
    return;
  }
  const { buckets, base, baseIndex } = frame;
  const index = bucketIndexOf(buckets, base + BigInt(offset));
  span.steps = Number(index - baseIndex);
  span.start = Number(bucketStartOf(buckets, index) - base);
  span.end = Number(bucketStartOf(buckets, index + 1n) - base);
}

/** The start of each row's bucket, or undefined when one lies more than 2^53 units from the base. */
export function bucketStarts(vector: TimeVector, buckets: TimeBuckets, rowCount: number): TimeVector | undefined {
  const { base, offsets, validity } = vector;
  const frame = frameOf(buckets, base);
  const starts = new Float64Array(rowCount);
  const span: BucketSpan = { steps: 0, start: 1, end: 0 };
  let [start, end] = [1, 0];
  for (let row = 0; row < rowCount; row++) {
    const offset = offsets[row]!;
    if (offset < start || offset >= end) {
      if (validity !== undefined && validity[row] === 0) continue;
      locate(frame, offset, span);
      ({ start, end } = span);
      if (!Number.isSafeInteger(start)) return undefined;
    }
    starts[row] = start;
  }
  return { kind: "time", base, offsets: starts, validity };
}

/** What `cutBuckets` writes to. */
export interface BucketCuts {
  /** Where each range begins. */
  readonly starts: Uint32Array;
  /** Steps of each range's bucket from the one that holds the base. */
  readonly steps: Float64Array;
  count: number;
}

/** Rows tried one by one before galloping: most ranges of short buckets end within them. */
const LINEAR_ROWS = 8;

/**
 * Cuts rows `[from, to)`, whose offsets ascend, where the bucket of fixed width changes. The usual next bucket is the neighbour,
 * so a division is needed only after a gap.
 */
export function cutBuckets(offsets: Float64Array, from: number, to: number, width: number, rest: number, cuts: BucketCuts): void {
  const { starts, steps: stepsOut } = cuts;
  let count = cuts.count;
  let steps = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (let row = from; row < to; ) {
    const offset = offsets[row]!;
    if (offset < end + width) {
      steps++;
      end += width;
    } else {
      steps = Math.floor((offset + rest) / width);
      if (steps * width > offset + rest) steps--;
      end = (steps + 1) * width - rest;
    }
    starts[count] = row;
    stepsOut[count++] = steps;
    const near = Math.min(to, row + LINEAR_ROWS);
    row++;
    while (row < near && offsets[row]! < end) row++;
    if (row === near && row < to && offsets[row]! < end) row = endOfSpan(offsets, row, to, end);
  }
  cuts.count = count;
}
