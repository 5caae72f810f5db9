/**
 * Which node should own which shard: the same answer on every node from the same nodes, without asking anybody.
 *
 * Each pair of a shard and a node has a score by a hash (rendezvous). The pair with the highest score comes first: the node gets the shard,
 * unless the shard has a node or the node has its share, `ceil(shards / nodes)`. A node that joins takes shards for which it scores higher,
 * and a few more move as shares shrink; one that leaves gives its shards to those who score next.
 */

/** Of nodes of the same score, the smaller id comes first: scores meet once in 2^32 pairs. */
interface Pair {
  readonly shard: number;
  readonly node: string;
  readonly score: number;
}

function scoreOf(shard: number, node: string): number {
  return Bun.hash.xxHash32(node, shard);
}

function byScore(one: Pair, other: Pair): number {
  if (one.score !== other.score) return other.score - one.score;
  if (one.shard !== other.shard) return one.shard - other.shard;
  return one.node < other.node ? -1 : 1;
}

/** Nodes in the order in which they should own a shard. @param nodes each once, in any order */
export function rank(shard: number, nodes: readonly string[]): string[] {
  const pairs = nodes.map((node): Pair => ({ shard, node, score: scoreOf(shard, node) }));
  return pairs.sort(byScore).map(({ node }) => node);
}

/** The node of each shard, see the file header; nothing where there are no nodes. @param nodes each once, in any order */
export function assign(shards: number, nodes: readonly string[]): Map<number, string> {
  const pairs: Pair[] = [];
  for (let shard = 0; shard < shards; shard++) for (const node of nodes) pairs.push({ shard, node, score: scoreOf(shard, node) });
  pairs.sort(byScore);
  const share = Math.ceil(shards / nodes.length);
  const counts = new Map<string, number>();
  const assigned = new Map<number, string>();
  for (const { shard, node } of pairs) {
    const count = counts.get(node) ?? 0;
    if (count === share || assigned.has(shard)) continue;
    counts.set(node, count + 1);
    assigned.set(shard, node);
  }
  return assigned;
}
