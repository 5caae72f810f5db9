/** Ends of the 64-bit integers. */
export const INT64_MIN: bigint = -(2n ** 63n);
export const INT64_MAX: bigint = 2n ** 63n - 1n;
export const UINT64_MAX: bigint = 2n ** 64n - 1n;

/** An exact integer as `number` when it lies within ±2^53, else as `bigint`: the rule of `Scalar` for integers and decimals. */
export function exactInteger(value: bigint): number | bigint {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}
