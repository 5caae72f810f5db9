/** Order statistics of measured values. */

/** The value that a share of the values is at or below (nearest rank); `share` in `[0, 1]`. `NaN` for no values. */
export function percentile(values: readonly number[] | Float64Array, share: number): number {
  const sorted = Float64Array.from(values).sort();
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

/** The median; the mean of the middle two for an even count. `NaN` for no values. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return Number.NaN;
  if (sorted.length % 2 === 1) return upper;
  return (upper + sorted[middle - 1]!) / 2;
}

/** Half the distance between the largest and smallest value, as a share of the median: 0.05 reads "within 5 %". 0 for one value. */
export function spread(values: readonly number[]): number {
  if (values.length < 2) return 0;
  return (Math.max(...values) - Math.min(...values)) / 2 / median(values);
}
