/** Numbers that count up, for permutations and selections. */

/** The numbers from 0 to below `count`. `Uint32Array.from` with a function takes eight times as long (500,000 numbers: 0.6 and 5.2 ms). */
export function countingUp(count: number): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = i;
  return numbers;
}
