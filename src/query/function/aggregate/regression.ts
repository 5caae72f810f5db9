/** The line of least squares through pairs (y, x): `regr_*` of standard SQL. Pairs with a NULL are left out. */
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

/** A regression function's state, by Welford's method. */
export function regression(finish: (moments: Moments) => Value, counts: boolean): () => Accumulator {
  return () => {
    let [count, meanX, meanY, squaresX, squaresY, products] = [0, 0, 0, 0, 0, 0];
    return {
      add([b, a]) {
        if (a === undefined || b === undefined) return;
        const [x, y] = [Number(a), Number(b)];
        count++;
        const [dx, dy] = [x - meanX, y - meanY];
        meanX += dx / count;
        meanY += dy / count;
        products += dx * (y - meanY);
        squaresX += dx * (x - meanX);
        squaresY += dy * (y - meanY);
      },
      result: () => (count === 0 && !counts ? undefined : finish({ count, meanX, meanY, squaresX, squaresY, products })),
    };
  };
}
