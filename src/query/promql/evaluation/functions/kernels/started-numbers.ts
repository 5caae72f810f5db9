/** Numbers of which it is known when their counting began, as counters. */
import type { ObjectFold } from "../../kernels/slide-objects.ts";
import type { CounterSamples, Sum } from "./counter-change.ts";

/** Compensated (Neumaier 1974). */
class NumberSum implements Sum<number> {
  sum = 0;
  lost = 0;

  add(value: number): void {
    const next = this.sum + value;
    if (!Number.isFinite(next)) this.lost = 0;
    else this.lost += Math.abs(this.sum) >= Math.abs(value) ? this.sum - next + value : value - next + this.sum;
    this.sum = next;
  }

  result(): number {
    return this.sum + this.lost;
  }
}

/** Bytes of a sum. */
const SUM_BYTES = 64;

function sumFold(values: Float64Array): ObjectFold<NumberSum> {
  return {
    empty: () => new NumberSum(),
    push: (sum, at) => sum.add(values[at]!),
    merged: (left, right) => {
      const sum = new NumberSum();
      sum.add(left.sum);
      sum.add(right.sum);
      sum.lost += left.lost + right.lost;
      return sum;
    },
    bytes: () => SUM_BYTES,
  };
}

/** See `CounterSamples`. */
export function startedNumbers(
  times: Float64Array,
  values: Float64Array,
  starts: Float64Array | undefined,
  count: number,
): CounterSamples<number, NumberSum> {
  return {
    times,
    starts,
    count,
    isCounter: true,
    isReset: (at) => values[at]! < values[at - 1]!,
    fold: sumFold(values),
    change: ({ first, last }, lost) => values[last]! - (first === undefined ? 0 : values[first]!) + (lost?.result() ?? 0),
    scaled: (value, factor) => value * factor,
    sizeAt: (at) => values[at]!,
    sizeOf: (value) => value,
  };
}
