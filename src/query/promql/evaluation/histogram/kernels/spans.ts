/**
 * Buckets of one side of a histogram: spans in ascending order of index, none of which touches another's indexes.
 */
import type { NativeHistogram } from "../../series-source.ts";

/** Buckets `index`, `index + 1`, … and their counts. */
export type Span = NativeHistogram["positiveSpans"][number];
/** See the file header. */
export type Spans = readonly Span[];

/** Indexes `[start, end)`. */
interface Range {
  readonly start: number;
  end: number;
}

/** Whether both have the same buckets, empty ones too. */
function haveSameBuckets(a: Spans, b: Spans): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i]!.index !== b[i]!.index || a[i]!.counts.length !== b[i]!.counts.length) return false;
  return true;
}

function unitedRanges(a: Spans, b: Spans): readonly Range[] {
  const ranges: Range[] = [];
  let [i, k] = [0, 0];
  while (i < a.length || k < b.length) {
    const { index, counts } = k >= b.length || (i < a.length && a[i]!.index <= b[k]!.index) ? a[i++]! : b[k++]!;
    const last = ranges.at(-1);
    if (last === undefined || index > last.end) ranges.push({ start: index, end: index + counts.length });
    else last.end = Math.max(last.end, index + counts.length);
  }
  return ranges;
}

/** With a bucket for each of `other`, too: the spans themselves where they have them all, else copies. */
export function grown(spans: Spans, other: Spans): Spans {
  if (haveSameBuckets(spans, other)) return spans;
  const ranges = unitedRanges(spans, other);
  if (
    ranges.length === spans.length &&
    ranges.every(({ start, end }, i) => start === spans[i]!.index && end === start + spans[i]!.counts.length)
  )
    return spans;
  const wider = ranges.map(({ start, end }) => ({ index: start, counts: new Float64Array(end - start) }));
  add(wider, spans, 1);
  return wider;
}

/** Of the same buckets, all empty. */
export function emptied(spans: Spans): Spans {
  return spans.map(({ index, counts }) => ({ index, counts: new Float64Array(counts.length) }));
}

/** Copies that their owner may change. */
export function copied(spans: Spans): Spans {
  return spans.map(({ index, counts }) => ({ index, counts: counts.slice() }));
}

/** Adds `factor` times the counts of `source` to `target`, which must have all of its buckets. */
export function add(target: Spans, source: Spans, factor: number): void {
  let k = 0;
  for (const { index, counts } of source) {
    while (target[k]!.index + target[k]!.counts.length <= index) k++;
    const into = target[k]!.counts;
    const shift = index - target[k]!.index;
    for (let i = 0; i < counts.length; i++) into[shift + i]! += factor * counts[i]!;
  }
}

/** The same where what a sum loses goes to `lost`, which has the buckets of `target` (Neumaier 1974). */
export function addCompensated(target: Spans, lost: Spans, source: Spans, factor: number): void {
  let k = 0;
  for (const { index, counts } of source) {
    while (target[k]!.index + target[k]!.counts.length <= index) k++;
    const into = target[k]!.counts;
    const losses = lost[k]!.counts;
    const shift = index - target[k]!.index;
    for (let i = 0; i < counts.length; i++) {
      const at = shift + i;
      const value = factor * counts[i]!;
      const sum = into[at]!;
      const next = sum + value;
      if (next - next !== 0) losses[at] = 0;
      else if (Math.abs(sum) >= Math.abs(value)) losses[at]! += sum - next + value;
      else losses[at]! += value - next + sum;
      into[at] = next;
    }
  }
}

/** Each count times a factor. */
export function multiplied(spans: Spans, factor: number): Spans {
  const result = copied(spans);
  for (const { counts } of result) for (let i = 0; i < counts.length; i++) counts[i]! *= factor;
  return result;
}

/** Each count by a divisor. */
export function quotients(spans: Spans, divisor: number): Spans {
  const result = copied(spans);
  for (const { counts } of result) for (let i = 0; i < counts.length; i++) counts[i]! /= divisor;
  return result;
}

/** Without empty buckets at the ends of spans: the spans themselves where there are none. */
export function compacted(spans: Spans): Spans {
  if (spans.every(({ counts }) => counts.length > 0 && counts[0] !== 0 && counts.at(-1) !== 0)) return spans;
  const kept: Span[] = [];
  for (const { index, counts } of spans) {
    let first = 0;
    let end = counts.length;
    while (first < end && counts[first] === 0) first++;
    while (end > first && counts[end - 1] === 0) end--;
    if (first < end) kept.push({ index: index + first, counts: counts.subarray(first, end) });
  }
  return kept;
}

/** Buckets moved to other indexes by `target`, which never falls; those that meet are added up. */
export function moved(spans: Spans, target: (index: number) => number): Spans {
  const wider: { index: number; counts: number[] }[] = [];
  for (const { index, counts } of spans) {
    for (let i = 0; i < counts.length; i++) {
      const to = target(index + i);
      const last = wider.at(-1);
      const at = last === undefined ? -1 : to - last.index;
      if (last === undefined || at > last.counts.length) wider.push({ index: to, counts: [counts[i]!] });
      else if (at === last.counts.length) last.counts.push(counts[i]!);
      else last.counts[at]! += counts[i]!;
    }
  }
  return wider.map(({ index, counts }) => ({ index, counts: Float64Array.from(counts) }));
}

/** The buckets from `first` on. */
export function from(spans: Spans, first: number): Spans {
  if (spans.length === 0 || spans[0]!.index >= first) return spans;
  const kept: Span[] = [];
  for (const span of spans) {
    const { index, counts } = span;
    if (index >= first) kept.push(span);
    else if (index + counts.length > first) kept.push({ index: first, counts: counts.subarray(first - index) });
  }
  return kept;
}

/** Whether a bucket of `spans` has less than the same one of `before`; one that is missing has 0. */
export function isAnyBelow(spans: Spans, before: Spans): boolean {
  let k = 0;
  for (const { index, counts } of before) {
    for (let i = 0; i < counts.length; i++) {
      while (k < spans.length && spans[k]!.index + spans[k]!.counts.length <= index + i) k++;
      const at = k < spans.length ? index + i - spans[k]!.index : -1;
      if ((at < 0 ? 0 : spans[k]!.counts[at]!) < counts[i]!) return true;
    }
  }
  return false;
}

/** Whether all buckets that are not empty are the same ones, with the same counts. */
export function areEqual(a: Spans, b: Spans): boolean {
  if (haveSameBuckets(a, b)) return a.every(({ counts }, i) => areSame(counts, b[i]!.counts));
  const [populatedA, populatedB] = [populated(a), populated(b)];
  for (;;) {
    const [one, other] = [populatedA.next(), populatedB.next()];
    if (one.done === true || other.done === true) return one.done === other.done;
    if (one.value[0] !== other.value[0] || !isSame(one.value[1], other.value[1])) return false;
  }
}

function areSame(a: Float64Array, b: Float64Array): boolean {
  for (let i = 0; i < a.length; i++) if (!isSame(a[i]!, b[i]!)) return false;
  return true;
}

/** Whether two numbers are the same; a NaN is like a NaN. */
export function isSame(a: number, b: number): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

/** Index and count of each bucket that is not empty. */
export function* populated(spans: Spans): Generator<readonly [index: number, count: number]> {
  for (const { index, counts } of spans) for (let i = 0; i < counts.length; i++) if (counts[i] !== 0) yield [index + i, counts[i]!];
}

/** Index and count of each bucket. */
export function* allBuckets(spans: Spans): Generator<readonly [index: number, count: number]> {
  for (const { index, counts } of spans) for (let i = 0; i < counts.length; i++) yield [index + i, counts[i]!];
}

/** The largest finite size of a count. */
export function largestOf(spans: Spans): number {
  let largest = 0;
  for (const { counts } of spans) {
    for (let i = 0; i < counts.length; i++) {
      const size = Math.abs(counts[i]!);
      if (size > largest && size !== Number.POSITIVE_INFINITY) largest = size;
    }
  }
  return largest;
}
