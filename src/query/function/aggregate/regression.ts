/** Functions of pairs: covariance, correlation, and the line of least squares through pairs (y, x), `regr_*` of standard SQL. */
import type { Value } from "../value/value.ts";
import type { Accumulator } from "./accumulator.ts";

/** What is known of the pairs: their number, means and sums of squared differences from the means. */
interface Moments {
  readonly count: number;
  readonly meanX: number;
  readonly meanY: number;
  readonly squaresX: number;
  readonly squaresY: number;
  readonly products: number;
}

const slope = (m: Moments): number | undefined => (m.squaresX === 0 || m.count < 2 ? undefined : m.products / m.squaresX);

/** What each function makes of the moments; at least one pair unless it counts. */
export const REGRESSIONS: Readonly<Record<string, (moments: Moments) => Value>> = {
  regr_count: (m) => m.count,
  regr_avgx: (m) => m.meanX,
  regr_avgy: (m) => m.meanY,
  regr_sxx: (m) => m.squaresX,
  regr_syy: (m) => m.squaresY,
  regr_sxy: (m) => m.products,
  regr_slope: slope,
  regr_intercept: (m) => {
    const rise = slope(m);
    return rise === undefined ? undefined : m.meanY - rise * m.meanX;
  },
  regr_r2: (m) => {
    // A line without a rise explains nothing that could be measured.
    if (m.squaresX === 0 || m.squaresY === 0 || m.count < 2) return undefined;
    return m.products ** 2 / (m.squaresX * m.squaresY);
  },
};

/**
 * The state of a function of pairs of numbers, by Welford's method; pairs with a NULL are left out.
 *
 * @param x which argument is x: 1 of `regr_*(y, x)`
 */
function overPairs(finish: (moments: Moments) => Value, x: 0 | 1): () => Accumulator {
  return () => {
    let [count, meanX, meanY, squaresX, squaresY, products] = [0, 0, 0, 0, 0, 0];
    return {
      add(pair) {
        const [a, b] = [pair[x], pair[1 - x]];
        if (a === undefined || b === undefined) return;
        const [valueX, valueY] = [Number(a), Number(b)];
        count++;
        const [dx, dy] = [valueX - meanX, valueY - meanY];
        meanX += dx / count;
        meanY += dy / count;
        products += dx * (valueY - meanY);
        squaresX += dx * (valueX - meanX);
        squaresY += dy * (valueY - meanY);
      },
      result: () => finish({ count, meanX, meanY, squaresX, squaresY, products }),
    };
  };
}

/** A regression function's state. */
export function regression(finish: (moments: Moments) => Value, counts: boolean): () => Accumulator {
  return overPairs((m) => (m.count === 0 && !counts ? undefined : finish(m)), 1);
}

/** Covariance of two numbers. */
export function covariance(kind: "population" | "sample"): () => Accumulator {
  return overPairs(({ count, products }) => {
    const divisor = kind === "sample" ? count - 1 : count;
    return divisor < 1 ? undefined : products / divisor;
  }, 0);
}

/** Correlation of two numbers. */
export const correlation: () => Accumulator = overPairs(
  ({ count, products, squaresX, squaresY }) =>
    count < 2 || squaresX === 0 || squaresY === 0 ? undefined : products / Math.sqrt(squaresX * squaresY),
  0,
);
