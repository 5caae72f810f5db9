/**
 * Folds of windows that slide. Nothing is ever subtracted, so infinities and NaN leave a window as they came.
 *
 * A window is cut at a pivot: behind it lies a running fold, before it one fold for each place where the window may begin, made once.
 *
 *     first      pivot        end
 *       ├──────────┼───────────┤
 *       suffix[first]  running          result = suffix ∘ running
 *
 * When the window has passed the pivot, the pivot moves to its end. Each sample is folded at most twice.
 */

/** A fold of samples, in `width` numbers of an array. Folds of neighbours combine to the fold of both. */
export interface Fold {
  readonly width: number;
  /** Of no sample. */
  readonly clear: (state: Float64Array, at: number) => void;
  readonly push: (state: Float64Array, at: number, value: number, timeMillis: number) => void;
  /** Into `to`, the fold of `left` and then `right`. `to` may be either. */
  readonly combine: (state: Float64Array, left: number, right: number, to: number) => void;
}

/** One array for all series: grown, never given back, as windows of one query are alike. */
let scratch: Float64Array = new Float64Array(1024);

/**
 * Calls `take` with the fold of each step's window, which lies at `at` of `state` until it returns. Windows of no sample are left out.
 */
export function slide(
  fold: Fold,
  times: Float64Array,
  values: Float64Array,
  first: Int32Array,
  end: Int32Array,
  take: (state: Float64Array, at: number, step: number, samples: number) => void,
): void {
  const { width } = fold;
  const running = 0;
  const result = width;
  const suffixes = 2 * width;
  let pivot = 0;
  let base = 0;
  let folded = 0;
  let state = scratch;
  fold.clear(state, running);
  for (let i = 0; i < first.length; i++) {
    const low = first[i]!;
    const high = end[i]!;
    if (low >= high) continue;
    if (low >= pivot) {
      state = withRoom(suffixes + (high - low + 1) * width);
      base = low;
      pivot = high;
      folded = high;
      fold.clear(state, running);
      fillSuffixes(fold, state, suffixes, result, times, values, low, high);
    }
    for (; folded < high; folded++) fold.push(state, running, values[folded]!, times[folded]!);
    fold.combine(state, suffixes + (low - base) * width, running, result);
    take(state, result, i, high - low);
  }
}

function fillSuffixes(
  fold: Fold,
  state: Float64Array,
  suffixes: number,
  one: number,
  times: Float64Array,
  values: Float64Array,
  low: number,
  high: number,
): void {
  const { width } = fold;
  fold.clear(state, suffixes + (high - low) * width);
  for (let at = high - 1; at >= low; at--) {
    fold.clear(state, one);
    fold.push(state, one, values[at]!, times[at]!);
    const to = suffixes + (at - low) * width;
    fold.combine(state, one, to + width, to);
  }
}

function withRoom(length: number): Float64Array {
  if (scratch.length < length) scratch = new Float64Array(Math.max(length, 2 * scratch.length));
  return scratch;
}
