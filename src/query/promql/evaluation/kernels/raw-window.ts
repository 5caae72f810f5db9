/** The samples of one window. */

/** Those of `(afterMillis, lastMillis]`; views of the arrays. */
export function samplesIn(
  times: Float64Array,
  values: Float64Array,
  count: number,
  afterMillis: number,
  lastMillis: number,
): { times: Float64Array; values: Float64Array; count: number } {
  let first = 0;
  while (first < count && times[first]! <= afterMillis) first++;
  let end = first;
  while (end < count && times[end]! <= lastMillis) end++;
  return { times: times.subarray(first, end), values: values.subarray(first, end), count: end - first };
}
