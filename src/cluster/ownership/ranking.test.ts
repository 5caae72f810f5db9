import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { assign, rank } from "./ranking.ts";

/** Names of nodes: no two seeds have one in common. */
function names(seed: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `node-${seed}-${i}`);
}

function counts(assigned: ReadonlyMap<number, string>): Map<string, number> {
  const found = new Map<string, number>();
  for (const node of assigned.values()) found.set(node, (found.get(node) ?? 0) + 1);
  return found;
}

function moved(before: ReadonlyMap<number, string>, after: ReadonlyMap<number, string>): number {
  return [...before].filter(([shard, node]) => after.get(shard) !== node).length;
}

const SIZES = [
  [4, 2],
  [16, 3],
  [16, 4],
  [64, 8],
  [256, 20],
  [1024, 40],
] as const;

test.each(SIZES)(
  "%i shards over %i nodes: each shard has one, no node more than its share, whatever the order of nodes",
  (shards, count) => {
    for (let seed = 0; seed < 10; seed++) {
      const nodes = names(seed, count);
      const assigned = assign(shards, nodes);
      expect(assigned.size).toBe(shards);
      expect(Math.max(...counts(assigned).values())).toBeLessThanOrEqual(Math.ceil(shards / count));
      const random = seededRandom(seed);
      const shuffled = nodes
        .map((node) => ({ node, key: random.next() }))
        .sort((one, other) => one.key - other.key)
        .map(({ node }) => node);
      expect(moved(assigned, assign(shards, shuffled))).toBe(0);
    }
  },
);

test.each(SIZES)("%i shards over %i nodes: one that joins or leaves moves little beyond its share", (shards, count) => {
  let joining = 0;
  let leaving = 0;
  const seeds = 10;
  for (let seed = 0; seed < seeds; seed++) {
    const nodes = names(seed, count);
    const assigned = assign(shards, nodes);
    joining += moved(assigned, assign(shards, [...nodes, `new-${seed}`])) / seeds;
    leaving += moved(assigned, assign(shards, nodes.slice(1))) / seeds;
  }
  // Shares shrink as well: 5.7 move where 5.3 must (16 over 2), 55 where 25 must (1,024 over 40).
  expect(joining).toBeLessThan((2.5 * shards) / (count + 1) + 2);
  expect(leaving).toBeLessThan((2 * shards) / count + 2);
});

test("four shards over two nodes are two and two", () => {
  for (let seed = 0; seed < 100; seed++) expect([...counts(assign(4, names(seed, 2))).values()]).toEqual([2, 2]);
});

test("without nodes nothing is assigned", () => {
  expect(assign(4, []).size).toBe(0);
  expect(rank(3, [])).toEqual([]);
});

test("a rank has every node once, in an order of the shard's own; a node that leaves changes nothing else in it", () => {
  const nodes = names(1, 8);
  const firsts = new Set<string>();
  for (let shard = 0; shard < 100; shard++) {
    const order = rank(shard, nodes);
    expect([...order].sort()).toEqual([...nodes].sort());
    firsts.add(order[0] as string);
    const without = nodes.filter((node) => node !== nodes[3]);
    expect(rank(shard, without)).toEqual(order.filter((node) => node !== nodes[3]));
  }
  expect(firsts.size).toBe(8);
});

test("ranks are what they were: nodes of two versions come to the same", () => {
  expect([...assign(8, ["a", "b", "c"])].sort(([one], [other]) => one - other).map(([, node]) => node)).toMatchInlineSnapshot(`
    [
      "c",
      "a",
      "b",
      "a",
      "b",
      "c",
      "c",
      "a",
    ]
  `);
});
