/**
 * The 64-bit float whose shortest text is that of a 32-bit float: 0.1 where the value is 0.10000000149011612. Nine digits always read back.
 */
export function shortestFloat32(value: number): number {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 24) return value;
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number.isFinite(value) ? Number(value.toPrecision(9)) : value;
}
