/** What holds whatever goes wrong between nodes and servers. One seed is one run; time is virtual. */
import { afterEach, expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { ROUGH, startChaos } from "../../../test/support/cluster/chaos.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { type OwnerNode, OwnerNodes } from "../../../test/support/cluster/owner-nodes.ts";
import { VirtualTime } from "../../../test/support/cluster/virtual-time.ts";
import { DbError } from "../../base/error.ts";
import { END_MILLIS, KEEP_MILLIS_MAX } from "./limits.ts";
import { assign } from "./ranking.ts";

const SEEDS: readonly number[] = Array.from({ length: 20 }, (_, i) => i + 1);
const IDS: readonly string[] = ["a", "b", "c"];
const SHARDS = 8;
const CHAOS_MILLIS = 120_000;
/** Longest that a client is still cut off or stopped when the chaos is over, and late requests come. */
const AFTER_MILLIS = 20_000;

const times: VirtualTime[] = [];

function madeCluster(seed: number): MemoryCluster {
  const time = new VirtualTime();
  times.push(time);
  return new MemoryCluster({ seed, time });
}

afterEach(() => {
  for (const time of times.splice(0)) time.end();
});

/** A cluster of three nodes that runs well, and then does not. */
async function rough(seed: number): Promise<{ nodes: OwnerNodes; all: OwnerNode[]; end: () => void }> {
  const cluster = madeCluster(seed);
  const nodes = new OwnerNodes(cluster, SHARDS);
  const random = seededRandom(seed + 500);
  nodes.behaviour.open = () => (random.below(20) === 0 ? new Error("a fake shard does not open") : 20 + random.below(2000));
  nodes.behaviour.fencedMillis = 1 + random.below(6000);
  const all = await Promise.all(IDS.map((id) => nodes.start(id)));
  await nodes.until("settled", () => nodes.owners().every((owner) => owner !== undefined));
  cluster.rates = ROUGH;
  return { nodes, all, end: startChaos(cluster, [...all.map(({ identity }) => identity), "watcher"]) };
}

/** Notes shards of which a frontend sees an owner whose epoch is below an earlier one's for longer than owners need to notice it. */
function watchEpochs(nodes: OwnerNodes): string[] {
  const wrong: string[] = [];
  const highest = new Map<number, number>();
  const since = new Map<number, number>();
  const { time } = nodes.cluster;
  const look = (): void => {
    for (let shard = 0; shard < SHARDS; shard++) {
      const epoch = nodes.watcher.ownerOf(shard)?.epoch;
      if (epoch === undefined || epoch >= (highest.get(shard) ?? 0)) since.delete(shard);
      else {
        since.set(shard, since.get(shard) ?? time.monotonicMillis());
        if (time.monotonicMillis() - (since.get(shard) ?? 0) > nodes.behaviour.fencedMillis + 30_000) wrong.push(`${shard}: ${epoch}`);
      }
      highest.set(shard, Math.max(epoch ?? 0, highest.get(shard) ?? 0));
    }
    time.after(100, look);
  };
  look();
  return wrong;
}

test.each(SEEDS)(
  "seed %i: shards are served again when the trouble is over, each by one node, and later by the one it should be",
  async (seed) => {
    const { nodes, all, end } = await rough(seed);
    const wrong = watchEpochs(nodes);
    await nodes.cluster.time.sleep(CHAOS_MILLIS);
    end();
    nodes.behaviour.open = () => 200;
    await nodes.cluster.time.sleep(AFTER_MILLIS);
    await nodes.until("served", () => nodes.owners().every((owner) => owner !== undefined), 5000 + 5000);
    const assigned = assign(SHARDS, IDS);
    const isSettled = (): boolean => nodes.owners().every((owner, shard) => owner === assigned.get(shard));
    await nodes.until("settled", isSettled, 10 * 60_000);
    await nodes.cluster.time.sleep(END_MILLIS + nodes.behaviour.fencedMillis);
    for (let shard = 0; shard < SHARDS; shard++) expect(nodes.openAt(shard)).toEqual([assigned.get(shard) as string]);
    expect(wrong).toEqual([]);
    expect(all.flatMap(({ ousted }) => ousted)).toEqual([]);
    expect(isSettled()).toBe(true);
  },
);

test.each(SEEDS)("seed %i: nodes that die, start again and drain at random leave no shard without an owner", async (seed) => {
  const cluster = madeCluster(seed);
  const nodes = new OwnerNodes(cluster, SHARDS);
  const random = seededRandom(seed + 900);
  nodes.behaviour.open = () => 20 + random.below(1500);
  const living = new Map<string, OwnerNode>();
  for (const id of IDS) living.set(id, await nodes.start(id));
  for (let round = 0; round < 12; round++) {
    const id = IDS[random.below(IDS.length)] ?? "a";
    const node = living.get(id);
    if (node === undefined) living.set(id, await nodes.start(id));
    else if (living.size > 1) {
      living.delete(id);
      if (random.below(2) === 0) nodes.kill(node);
      else await node.data.stop();
    }
    await cluster.time.sleep(random.below(15_000));
  }
  const ids = [...living.keys()].sort();
  const assigned = assign(SHARDS, ids);
  await nodes.until("settled", () => nodes.owners().every((owner, shard) => owner === assigned.get(shard)), 120_000);
  const epochs = new Map<number, number>();
  for (const { kind, shard, epoch } of nodes.events) {
    if (kind !== "opened") continue;
    expect(epoch).toBeGreaterThan(epochs.get(shard) ?? 0);
    epochs.set(shard, epoch);
  }
});

test.each(SEEDS)(
  "seed %i: all of that at once: nodes come and go in the middle of trouble, and shards hang or fail to open",
  async (seed) => {
    const cluster = madeCluster(seed);
    const nodes = new OwnerNodes(cluster, SHARDS);
    const random = seededRandom(seed + 1300);
    nodes.behaviour.open = () => {
      if (random.below(10) === 0) return new Error("a fake shard does not open");
      return random.below(50) === 0 ? "never" : 20 + random.below(3000);
    };
    nodes.behaviour.closeMillis = random.below(2000);
    const living = new Map<string, OwnerNode>();
    for (const id of IDS) living.set(id, await nodes.start(id));
    cluster.rates = ROUGH;
    const end = startChaos(cluster, [...[...living.values()].map(({ identity }) => identity), "watcher"]);
    for (let round = 0; round < 10; round++) {
      const id = IDS[random.below(IDS.length)] ?? "a";
      const node = living.get(id);
      if (node === undefined) await startedOrRefused(nodes, id, living);
      else if (living.size > 1) {
        living.delete(id);
        if (random.below(2) === 0) nodes.kill(node);
        else await node.data.stop();
      }
      await cluster.time.sleep(random.below(25_000));
    }
    end();
    nodes.behaviour.open = () => 200;
    await cluster.time.sleep(AFTER_MILLIS);
    // An opening may hang for two minutes.
    await nodes.until("served", () => nodes.owners().every((owner) => owner !== undefined), 150_000);
    const assigned = assign(SHARDS, [...living.keys()]);
    await nodes.until("settled", () => nodes.owners().every((owner, shard) => owner === assigned.get(shard)), 2 * KEEP_MILLIS_MAX);
    await cluster.time.sleep(AFTER_MILLIS);
    for (let shard = 0; shard < SHARDS; shard++) expect(nodes.openAt(shard)).toEqual([assigned.get(shard) as string]);
    expect([...living.values()].flatMap(({ ousted }) => ousted)).toEqual([]);
  },
);

/** Starts a node, unless servers do not answer for a minute. */
async function startedOrRefused(nodes: OwnerNodes, id: string, living: Map<string, OwnerNode>): Promise<void> {
  try {
    living.set(id, await nodes.start(id));
  } catch (error) {
    if (!(error instanceof DbError) || !/^cannot (join|read)/.test(error.message)) throw error;
  }
}
