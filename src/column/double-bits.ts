/**
 * Doubles moved with all their bits. Which NaN an element is has a meaning (0x7ff0000000000002 is Prometheus' mark that a series ended),
 * but reading an element and writing it elsewhere makes every NaN the ordinary one; only `set` on arrays of one type copies bits.
 *
 * So loops move numbers as numbers and a NaN as two halves: 1.1 ns a row scattered over 262,144 rows (1.8 with halves alone; the loop
 * that all classes of numbers share takes 4.5).
 */

/** The 32-bit halves of doubles over the same memory: those of element i are at 2i and 2i + 1. */
export function halvesOf(values: Float64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/** Moves element `from` of `source` to element `to` of `target`, both given by their halves. */
export function moveHalves(source: Int32Array, from: number, target: Int32Array, to: number): void {
  target[to * 2] = source[from * 2] as number;
  target[to * 2 + 1] = source[from * 2 + 1] as number;
}

/** Writes the elements `picks[0, count)` of `values` to `target[0, count)`. */
export function takeDoubles(values: Float64Array, picks: Uint32Array, count: number, target: Float64Array): void {
  const source = halvesOf(values);
  const halves = halvesOf(target);
  for (let i = 0; i < count; i++) {
    const pick = picks[i] as number;
    const value = values[pick] as number;
    if (Number.isNaN(value)) moveHalves(source, pick, halves, i);
    else target[i] = value;
  }
}
