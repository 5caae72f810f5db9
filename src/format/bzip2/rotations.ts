/**
 * The Burrows-Wheeler transform: the last bytes of all rotations of a block, in the order of the rotations. Sorted by doubling: ranks by
 * the first h bytes give those by 2h, in two counting passes, so that repetitive blocks cost no more than log n rounds.
 */

/** Transforms `block[0, length)`; gives the last column and where the block itself stands in the order. */
export function transform(block: Uint8Array, length: number): { readonly last: Uint8Array; readonly origin: number } {
  let order = new Uint32Array(length);
  let next = new Uint32Array(length);
  let rank = new Uint32Array(length);
  let ranks = new Uint32Array(length);
  const starts = new Uint32Array(Math.max(256, length) + 1);
  for (let i = 0; i < length; i++) starts[(block[i] as number) + 1]!++;
  for (let i = 0; i < 256; i++) starts[i + 1]! += starts[i] as number;
  for (let i = 0; i < length; i++) order[starts[block[i] as number]!++] = i;
  let classes = 1;
  for (let i = 1; i < length; i++) {
    if (block[order[i] as number] !== block[order[i - 1] as number]) classes++;
    rank[order[i] as number] = classes - 1;
  }
  for (let h = 1; h < length && classes < length; h *= 2) {
    starts.fill(0, 0, classes + 1);
    for (let i = 0; i < length; i++) starts[(rank[i] as number) + 1]!++;
    for (let i = 0; i < classes; i++) starts[i + 1]! += starts[i] as number;
    // Rotations h before the sorted ones are sorted by their second halves already.
    for (let i = 0; i < length; i++) {
      const from = (order[i] as number) - h;
      const start = from < 0 ? from + length : from;
      next[starts[rank[start] as number]!++] = start;
    }
    [order, next] = [next, order];
    classes = rankPairs(order, rank, ranks, h, length);
    [rank, ranks] = [ranks, rank];
  }
  const last = new Uint8Array(length);
  let origin = 0;
  for (let i = 0; i < length; i++) {
    const at = order[i] as number;
    if (at === 0) origin = i;
    last[i] = block[at === 0 ? length - 1 : at - 1] as number;
  }
  return { last, origin };
}

/** Ranks by pairs of ranks; gives how many there are. */
function rankPairs(order: Uint32Array, rank: Uint32Array, ranks: Uint32Array, h: number, length: number): number {
  let classes = 1;
  ranks[order[0] as number] = 0;
  for (let i = 1; i < length; i++) {
    const a = order[i] as number;
    const b = order[i - 1] as number;
    if (rank[a] !== rank[b] || rank[(a + h) % length] !== rank[(b + h) % length]) classes++;
    ranks[a] = classes - 1;
  }
  return classes;
}
