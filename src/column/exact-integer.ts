/** An exact integer as `number` when it lies within ±2^53, else as `bigint`: the rule of `Scalar` for integers and decimals. */
export function exactInteger(value: bigint): number | bigint {
  const small = Number(value);
  return Number.isSafeInteger(small) ? small : value;
}
