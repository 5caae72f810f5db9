/** Hashes of tag tuples, as codes by position of their columns. */

/** The hash of no code at all. */
export const HASH_START: number = 0x9e3779b9 | 0;

/** The hash of a tuple's first `count` codes. */
export function hashOf(codes: Uint32Array, count: number): number {
  let hash = HASH_START;
  for (let c = 0; c < count; c++) hash = mixed(hash, codes[c] as number, c);
  return hash;
}

/** Takes the codes of the column at `position` into the hashes of `count` tuples, which began as `HASH_START`. */
export function hashColumn(hashes: Int32Array, codes: Uint32Array, position: number, count: number): void {
  for (let i = 0; i < count; i++) hashes[i] = mixed(hashes[i] as number, codes[i] as number, position);
}

function mixed(hash: number, code: number, position: number): number {
  if (code === 0) return hash; // A NULL does not count, so that a tag column added later without a default leaves the hashes as they are.
  const more = Math.imul(hash ^ code ^ Math.imul(position + 1, 0x85ebca6b), 0xc2b2ae35);
  return more ^ (more >>> 15);
}
