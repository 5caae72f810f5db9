/**
 * Seeded random numbers: the same seed gives the same sequence on every machine.
 * The generator is splitmix32: a counter stepped by the golden ratio and mixed by two multiplications (Steele, Lea, Flood 2014).
 */

/** A sequence of random numbers. */
export interface Random {
  /** The next number in `[0, 1)`, with 32 random bits. */
  next(): number;
  /** The next integer in `[0, bound)`; `bound` is at least 1. */
  below(bound: number): number;
  /** `count` different integers in `[0, bound)`, in random order; fewer when `bound` is smaller. */
  sample(count: number, bound: number): number[];
}

/** Starts a sequence. Only the low 32 bits of `seed` count. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const below = (bound: number): number => Math.floor(next() * bound);
  const sample = (count: number, bound: number): number[] => {
    const chosen = new Set<number>();
    while (chosen.size < Math.min(count, bound)) chosen.add(below(bound));
    return [...chosen];
  };
  return { next, below, sample };
}

const NORMAL_STEPS_LOG2 = 16;

/**
 * A table of the standard normal distribution: value `i` is the quantile of `(i + 0.5) / 65536`, so that a random index draws from it.
 * Quantiles are found by bisection of the distribution function, exact to 1e-9.
 */
export function normalTable(): Float64Array {
  const count = 2 ** NORMAL_STEPS_LOG2;
  const table = new Float64Array(count);
  let low = -6;
  for (let i = 0; i < count / 2; i++) {
    const want = (i + 0.5) / count;
    let high = 0;
    let from = low;
    while (high - from > 1e-9) {
      const middle = (from + high) / 2;
      if (normalDistribution(middle) < want) from = middle;
      else high = middle;
    }
    low = from; // Quantiles rise, so that the next search starts here.
    table[i] = from;
    table[count - 1 - i] = -from;
  }
  return table;
}

/** Probability that a standard normal value is below `x <= 0` (Abramowitz and Stegun, 26.2.17; error below 7.5e-8). */
function normalDistribution(x: number): number {
  const t = 1 / (1 - 0.2316419 * x);
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
}
