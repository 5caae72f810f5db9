/**
 * Quantiles and fractions of classic histograms: buckets that count the observations up to a bound.
 */

/** A bucket; `count` counts those of all lower ones, too. */
export interface Bucket {
  readonly upperBound: number;
  count: number;
}

/** How far counts may fall from one bucket to the next without notice, as a part of both. Reason: sums of rates round. */
const TOLERANCE = 1e-12;

/** Buckets in order, those of one bound added up, counts that never fall. `wasForced`: they did. Undefined: there is no last bucket. */
function put(unordered: readonly Bucket[]): { buckets: readonly Bucket[]; wasForced: boolean } | undefined {
  const ordered = unordered.toSorted((a, b) => a.upperBound - b.upperBound);
  if (ordered.at(-1)?.upperBound !== Number.POSITIVE_INFINITY) return undefined;
  const buckets: Bucket[] = [];
  for (const { upperBound, count } of ordered) {
    const last = buckets.at(-1);
    if (last?.upperBound === upperBound) last.count += count;
    else buckets.push({ upperBound, count });
  }
  let wasForced = false;
  let before = buckets[0]!.count;
  for (const bucket of buckets) {
    if (bucket.count === before) continue;
    const isClose = Math.abs(bucket.count - before) / Math.min(Math.abs(bucket.count) + Math.abs(before), Number.MAX_VALUE) < TOLERANCE;
    if (isClose || bucket.count < before) {
      wasForced ||= !isClose;
      bucket.count = before;
    } else before = bucket.count;
  }
  return { buckets, wasForced };
}

/** The value below which a part of the observations lies, between bounds as on a line. */
export function bucketQuantile(quantile: number, unordered: readonly Bucket[]): { value: number; wasForced: boolean } {
  const plain = (value: number): { value: number; wasForced: boolean } => ({ value, wasForced: false });
  if (Number.isNaN(quantile)) return plain(Number.NaN);
  if (quantile < 0) return plain(Number.NEGATIVE_INFINITY);
  if (quantile > 1) return plain(Number.POSITIVE_INFINITY);
  const inOrder = put(unordered);
  if (inOrder === undefined) return plain(Number.NaN);
  const { buckets, wasForced } = inOrder;
  const last = buckets.length - 1;
  if (last < 1) return { value: Number.NaN, wasForced };
  const observations = buckets[last]!.count;
  if (observations === 0 || Number.isNaN(observations)) return { value: Number.NaN, wasForced };
  let rank = quantile * observations;
  let at = 0;
  while (at < last && !(buckets[at]!.count >= rank)) at++;
  if (at === last) return { value: buckets[last - 1]!.upperBound, wasForced };
  const { upperBound, count } = buckets[at]!;
  if (at === 0 && upperBound <= 0) return { value: upperBound, wasForced };
  let start = 0;
  let within = count;
  if (at > 0) {
    start = buckets[at - 1]!.upperBound;
    within -= buckets[at - 1]!.count;
    rank -= buckets[at - 1]!.count;
  }
  return { value: start + (upperBound - start) * (rank / within), wasForced };
}

/** The part of the observations in `(lower, upper]`. */
export function bucketFraction(lower: number, upper: number, unordered: readonly Bucket[]): { value: number; wasForced: boolean } {
  const inOrder = put(unordered);
  if (inOrder === undefined || inOrder.buckets.length === 0) return { value: Number.NaN, wasForced: false };
  const { buckets, wasForced } = inOrder;
  const all = buckets.at(-1)!.count;
  if (all === 0 || Number.isNaN(lower) || Number.isNaN(upper)) return { value: Number.NaN, wasForced };
  if (lower >= upper) return { value: 0, wasForced };
  return { value: (countBelow(upper, buckets) - countBelow(lower, buckets)) / all, wasForced };
}

function countBelow(bound: number, buckets: readonly Bucket[]): number {
  const all = buckets.at(-1)!.count;
  let before = 0;
  for (const [index, { upperBound, count }] of buckets.entries()) {
    const least = buckets[0]!.upperBound > 0 ? 0 : Number.NEGATIVE_INFINITY;
    const lowerBound = index === 0 ? least : buckets[index - 1]!.upperBound;
    if (lowerBound >= bound) return before;
    if (upperBound > bound) {
      if (lowerBound === Number.NEGATIVE_INFINITY || upperBound === Number.POSITIVE_INFINITY)
        return lowerBound === Number.NEGATIVE_INFINITY ? count : before;
      return Math.min(all, before + (count - before) * ((bound - lowerBound) / (upperBound - lowerBound)));
    }
    before = count;
  }
  return all;
}
