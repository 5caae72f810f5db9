/** The points of a series as JSON, a block at a time. */
import type { NativeHistogram } from "../../../db/promql/promql-db.ts";
import type { JsonPieces } from "./json-pieces.ts";
import { BLOCK_POINTS, POINT_BYTES_MAX, writePoints } from "./kernels/points.ts";
import type { PointHeads } from "./point-heads.ts";
import { histogramJson } from "./value-text.ts";

/** The points of a series. */
export interface PointsOf {
  readonly count: number;
  readonly values: Float64Array;
  /** 1 where there is a value or a histogram; undefined: everywhere. */
  readonly present: Uint8Array | undefined;
  readonly histograms: readonly (NativeHistogram | undefined)[] | undefined;
  readonly heads: PointHeads;
  readonly millisOf: (step: number) => number;
}

/** `,"values":` without the bracket, which takes the place of the first point's comma. */
const VALUES = ',"values":';
const BRACKET = 91;

/** Adds `,"values":[…]` and `,"histograms":[…]` where there are some; yields between blocks. */
export function* addPoints(points: PointsOf, out: JsonPieces): Generator<void> {
  const { count, values, present, histograms, heads, millisOf } = points;
  const numbers = histograms === undefined ? present : withoutHistograms(count, present, histograms);
  let isBegun = false;
  for (let from = 0; from < count; from += BLOCK_POINTS) {
    const to = Math.min(count, from + BLOCK_POINTS);
    if (!isBegun) {
      if (numbers !== undefined && !numbers.subarray(from, to).includes(1)) continue;
      out.add(VALUES);
    }
    heads.reach(from, to);
    const isFirst = !isBegun;
    isBegun = true;
    out.addBytes((to - from) * POINT_BYTES_MAX, (bytes, view, at) => {
      const end = writePoints(values, numbers, from, to, heads.heads, heads.first, bytes, view, at);
      if (isFirst) bytes[at] = BRACKET;
      return end;
    });
    if (to < count) yield;
  }
  if (isBegun) out.add("]");
  if (histograms === undefined) return;
  let before = ',"histograms":[';
  for (let step = 0; step < count; step++) {
    const histogram = histograms[step];
    if (histogram === undefined || (present !== undefined && present[step] !== 1)) continue;
    out.add(before + histogramJson(millisOf(step), histogram));
    before = ",";
    yield;
  }
  if (before === ",") out.add("]");
}

/** Where a number is and no histogram. */
function withoutHistograms(
  count: number,
  present: Uint8Array | undefined,
  histograms: readonly (NativeHistogram | undefined)[],
): Uint8Array {
  const numbers = new Uint8Array(count);
  for (let step = 0; step < count; step++) {
    if (histograms[step] === undefined && (present === undefined || present[step] === 1)) numbers[step] = 1;
  }
  return numbers;
}
