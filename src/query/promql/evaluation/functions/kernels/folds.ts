/**
 * What may be folded over sliding windows. Sums are compensated (Neumaier 1974), variances and covariances are merged as Chan, Golub and
 * LeVeque (1979) do, so that no window loses digits to another one's size.
 */
import type { Fold } from "./sliding.ts";

/** Adds `value` to the sum at `at` and what was lost to the number behind it. */
function addTo(state: Float64Array, at: number, value: number): void {
  const sum = state[at]!;
  const next = sum + value;
  if (next - next !== 0) state[at + 1] = 0;
  else if (Math.abs(sum) >= Math.abs(value)) state[at + 1]! += sum - next + value;
  else state[at + 1]! += value - next + sum;
  state[at] = next;
}

/** `[sum, lost]`: the sum of both is the result. */
export const SUM: Fold = {
  width: 2,
  clear: (state, at) => void state.fill(0, at, at + 2),
  push: addTo,
  combine: (state, left, right, to) => {
    const value = state[right]!;
    const lost = state[left + 1]! + state[right + 1]!;
    state[to] = state[left]!;
    state[to + 1] = lost;
    addTo(state, to, value);
  },
};

function extreme(isBetter: (candidate: number, best: number) => boolean): Fold {
  return {
    width: 1,
    clear: (state, at) => void (state[at] = Number.NaN),
    push: (state, at, value) => {
      const best = state[at]!;
      if (best !== best || isBetter(value, best)) state[at] = value;
    },
    combine: (state, left, right, to) => {
      const a = state[left]!;
      const b = state[right]!;
      state[to] = a !== a || isBetter(b, a) ? b : a;
    },
  };
}

/** NaN where there is no other. */
export const MIN: Fold = extreme((candidate, best) => candidate < best);
export const MAX: Fold = extreme((candidate, best) => candidate > best);

function extremeTime(isBetter: (candidate: number, best: number) => boolean): Fold {
  const put = (state: Float64Array, to: number, value: number, time: number): void => {
    state[to] = value;
    state[to + 1] = time;
  };
  const wins = (candidate: number, best: number): boolean => best !== best || isBetter(candidate, best);
  return {
    width: 2,
    // A time of NaN: no sample yet.
    clear: (state, at) => put(state, at, Number.NaN, Number.NaN),
    push: (state, at, value, time) => {
      if (Number.isNaN(state[at + 1]) || wins(value, state[at]!)) put(state, at, value, time);
    },
    combine: (state, left, right, to) => {
      const from = Number.isNaN(state[right + 1]) || (!Number.isNaN(state[left + 1]) && !wins(state[right]!, state[left]!)) ? left : right;
      put(state, to, state[from]!, state[from + 1]!);
    },
  };
}

/** `[value, milliseconds]` of the last of the smallest. */
export const MIN_TIME: Fold = extremeTime((candidate, best) => candidate <= best);
export const MAX_TIME: Fold = extremeTime((candidate, best) => candidate >= best);

/** `[count, mean, sum of squared deviations]`. */
export const VARIANCE: Fold = {
  width: 3,
  clear: (state, at) => void state.fill(0, at, at + 3),
  push: (state, at, value) => {
    const count = state[at]! + 1;
    const delta = value - state[at + 1]!;
    const mean = state[at + 1]! + delta / count;
    state[at] = count;
    state[at + 1] = mean;
    state[at + 2]! += delta * (value - mean);
  },
  combine: (state, left, right, to) => {
    const [countLeft, countRight] = [state[left]!, state[right]!];
    if (countLeft === 0 || countRight === 0) {
      state.copyWithin(to, countLeft === 0 ? right : left, (countLeft === 0 ? right : left) + 3);
      return;
    }
    const count = countLeft + countRight;
    const delta = state[right + 1]! - state[left + 1]!;
    const squares = state[left + 2]! + state[right + 2]! + (delta * delta * countLeft * countRight) / count;
    state[to + 1] = state[left + 1]! + (delta * countRight) / count;
    state[to] = count;
    state[to + 2] = squares;
  },
};

/** `[count, mean of seconds, mean of values, squares of seconds, seconds by values]`: a line through the samples. */
export const LINE: Fold = {
  width: 5,
  clear: (state, at) => void state.fill(0, at, at + 5),
  push: (state, at, value, timeMillis) => {
    const count = state[at]! + 1;
    const deltaX = timeMillis / 1000 - state[at + 1]!;
    const deltaY = value - state[at + 2]!;
    const meanX = state[at + 1]! + deltaX / count;
    state[at] = count;
    state[at + 1] = meanX;
    state[at + 2]! += deltaY / count;
    state[at + 3]! += deltaX * (timeMillis / 1000 - meanX);
    state[at + 4]! += (timeMillis / 1000 - meanX) * deltaY;
  },
  combine: (state, left, right, to) => {
    const [countLeft, countRight] = [state[left]!, state[right]!];
    if (countLeft === 0 || countRight === 0) {
      state.copyWithin(to, countLeft === 0 ? right : left, (countLeft === 0 ? right : left) + 5);
      return;
    }
    const count = countLeft + countRight;
    const deltaX = state[right + 1]! - state[left + 1]!;
    const deltaY = state[right + 2]! - state[left + 2]!;
    const share = (countLeft * countRight) / count;
    const squares = state[left + 3]! + state[right + 3]! + deltaX * deltaX * share;
    const products = state[left + 4]! + state[right + 4]! + deltaX * deltaY * share;
    state[to + 1] = state[left + 1]! + (deltaX * countRight) / count;
    state[to + 2] = state[left + 2]! + (deltaY * countRight) / count;
    state[to] = count;
    state[to + 3] = squares;
    state[to + 4] = products;
  },
};
