/**
 * Which node should own which shard: the same answer on every node from the same nodes, without asking anybody.
 *
 * Each pair of a shard and a node has a score by a hash (rendezvous). The pair with the highest score comes first: the node gets the shard,
 * unless the shard has a node or the node has its share, `ceil(shards / nodes)`. A node that joins takes shards for which it scores higher,
 * and a few more move as shares shrink; one that leaves gives its shards to those who score next.
 */
import { assert } from "../../base/assert.ts";
import { PAIRS_MAX } from "./limits.ts";

/** 32 bits. */
function scoreOf(shard: number, node: string): number {
  return Bun.hash.xxHash32(node, shard);
}

/** Nodes in the order in which they should own a shard. @param nodes each once, in any order */
export function rank(shard: number, nodes: readonly string[]): string[] {
  const scored = nodes.map((node) => ({ node, score: scoreOf(shard, node) }));
  scored.sort((one, other) => other.score - one.score || (one.node < other.node ? -1 : 1));
  return scored.map(({ node }) => node);
}

/** The node of each shard, see the file header; nothing where there are no nodes. @param nodes each once, in any order */
export function assign(shards: number, nodes: readonly string[]): Map<number, string> {
  assert(shards * nodes.length <= PAIRS_MAX, `there are at most ${PAIRS_MAX} pairs of shards and nodes; got ${shards * nodes.length}`);
  const sorted = nodes.toSorted();
  // Pairs of the same score go by shard, then by id of the node.
  const pairs = new Float64Array(shards * sorted.length);
  for (let shard = 0; shard < shards; shard++) {
    for (const [i, node] of sorted.entries()) {
      const place = shard * sorted.length + i;
      pairs[place] = (0xffff_ffff - scoreOf(shard, node)) * PAIRS_MAX + place;
    }
  }
  pairs.sort();
  const share = Math.ceil(shards / sorted.length);
  const counts = new Uint32Array(sorted.length);
  const assigned = new Map<number, string>();
  for (const pair of pairs) {
    const place = pair % PAIRS_MAX;
    const shard = Math.floor(place / sorted.length);
    const i = place % sorted.length;
    if (counts[i] === share || assigned.has(shard)) continue;
    counts[i] = (counts[i] as number) + 1;
    assigned.set(shard, sorted[i] as string);
  }
  return assigned;
}
