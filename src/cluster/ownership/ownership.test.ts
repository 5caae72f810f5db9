import { afterEach, expect, test } from "bun:test";
import { failureOf } from "../../../test/support/failure-of.ts";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { type OwnerNode, OwnerNodes } from "../../../test/support/cluster/owner-nodes.ts";
import { VirtualTime } from "../../../test/support/cluster/virtual-time.ts";
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { encodeNodeValue } from "./node-value.ts";
import { assign } from "./ranking.ts";
import { encodeShardValue } from "./shard-value.ts";

const times: VirtualTime[] = [];

afterEach(() => {
  for (const time of times.splice(0)) time.end();
});

function madeNodes(shards: number): OwnerNodes {
  const time = new VirtualTime();
  times.push(time);
  return new OwnerNodes(new MemoryCluster({ time }), shards);
}

/** Whether all shards are served by the nodes that should own them. */
function isSettled(nodes: OwnerNodes, ids: readonly string[]): boolean {
  const assigned = assign(nodes.shards, ids);
  return nodes.owners().every((owner, shard) => owner !== undefined && owner === assigned.get(shard));
}

async function started(shards: number, ids: readonly string[]): Promise<{ nodes: OwnerNodes; all: OwnerNode[] }> {
  const nodes = madeNodes(shards);
  const all = await Promise.all(ids.map((id) => nodes.start(id)));
  await nodes.until("settled", () => isSettled(nodes, ids));
  nodes.unservedMost = 0;
  return { nodes, all };
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`there is no ${index}`);
  return item;
}

/** Shards of a node. */
function ownedBy(nodes: OwnerNodes, id: string): number[] {
  return nodes.owners().flatMap((owner, shard) => (owner === id ? [shard] : []));
}

function lines(node: OwnerNode, message: string): number {
  return node.entries.filter((entry) => entry.message.includes(message)).length;
}

test("nodes that start together share all shards evenly, each opened once", async () => {
  const { nodes } = await started(16, ["a", "b", "c", "d"]);
  for (const id of ["a", "b", "c", "d"]) expect(ownedBy(nodes, id)).toHaveLength(4);
  expect(nodes.events.map(({ kind }) => kind)).toEqual(Array.from({ length: 16 }, () => "opened"));
});

test("a node opens four shards at a time", async () => {
  const nodes = madeNodes(12);
  let opening = 0;
  let most = 0;
  nodes.behaviour.open = () => {
    most = Math.max(most, ++opening);
    nodes.cluster.time.after(1000, () => opening--);
    return 1000;
  };
  await nodes.start("a");
  await nodes.until("settled", () => isSettled(nodes, ["a"]));
  expect(most).toBe(4);
});

test("shards of a killed node are served elsewhere within 8 s, and the others are not opened again but to even out", async () => {
  const { nodes, all } = await started(16, ["a", "b", "c"]);
  const before = nodes.owners();
  const lost = ownedBy(nodes, "a").length;
  nodes.kill(at(all, 0));
  const millis = await nodes.until("served", () => nodes.owners().every((owner) => owner !== undefined && owner !== "a"));
  expect(millis).toBeLessThan(8000);
  await nodes.until("settled", () => isSettled(nodes, ["b", "c"]));
  const moved = nodes.owners().filter((owner, shard) => owner !== before[shard]).length;
  expect(nodes.events.filter(({ kind }) => kind === "opened")).toHaveLength(16 + moved);
  expect(moved).toBeLessThanOrEqual(lost + 2);
});

test("a third node gets its share, two shards at a time, flushed before; the others stay where they are", async () => {
  const { nodes } = await started(16, ["a", "b"]);
  const before = nodes.owners();
  await nodes.start("c");
  await nodes.until("settled", () => isSettled(nodes, ["a", "b", "c"]));
  expect(nodes.unservedMost).toBeLessThanOrEqual(2);
  const moved = nodes.owners().filter((owner, shard) => owner !== before[shard]);
  const expected = [...assign(16, ["a", "b", "c"])].filter(([shard, id]) => before[shard] !== id).length;
  expect(moved).toHaveLength(expected);
  expect(nodes.events.filter(({ kind }) => kind === "flushed")).toHaveLength(expected);
  expect(nodes.events.filter(({ kind }) => kind === "closed")).toHaveLength(0);
});

test("a shard that is handed over to a node that has just joined is without an owner only while it is closed and opened", async () => {
  const { nodes } = await started(2, ["a"]);
  let unserved = 0;
  const { time } = nodes.cluster;
  const look = (): void => {
    if (nodes.owners().includes(undefined)) unserved += 10;
    time.after(10, look);
  };
  look();
  await nodes.start("b");
  await nodes.until("settled", () => isSettled(nodes, ["a", "b"]));
  expect(unserved).toBeLessThan(nodes.behaviour.closeMillis + 200 + 100);
});

test("a node that drains gives all shards away, two at a time, and takes none until it stops", async () => {
  const { nodes, all } = await started(16, ["a", "b", "c"]);
  const a = at(all, 0);
  await a.data.drain();
  expect(ownedBy(nodes, "a")).toEqual([]);
  expect(nodes.unservedMost).toBeLessThanOrEqual(2);
  expect(nodes.watcher.nodes().find(({ id }) => id === "a")?.isDraining).toBe(true);
  nodes.kill(at(all, 1));
  await nodes.until("settled", () => isSettled(nodes, ["c"]));
  await a.data.stop();
  await nodes.until("gone", () => nodes.watcher.nodes().every(({ id }) => id === "c"));
});

test("the only node drains as soon as there is another", async () => {
  const { nodes, all } = await started(4, ["a"]);
  let isDrained = false;
  void at(all, 0)
    .data.drain()
    .then(() => (isDrained = true));
  await nodes.cluster.time.sleep(30_000);
  expect([isDrained, ownedBy(nodes, "a").length]).toEqual([false, 4]);
  await nodes.start("b");
  await nodes.until("drained", () => isDrained && isSettled(nodes, ["b"]));
});

test("a node that stops gives its shards to others at once", async () => {
  const { nodes, all } = await started(16, ["a", "b"]);
  const begun = nodes.cluster.time.monotonicMillis();
  await at(all, 0).data.stop();
  expect(nodes.cluster.time.monotonicMillis() - begun).toBeLessThan(3000);
  await nodes.until("settled", () => isSettled(nodes, ["b"]), 2000);
  expect(nodes.unservedMost).toBeLessThanOrEqual(4);
});

test("nodes that all stop at once do not wait for one another, and flush", async () => {
  const { nodes, all } = await started(12, ["a", "b", "c"]);
  const begun = nodes.cluster.time.monotonicMillis();
  await Promise.all(all.map(({ data }) => data.stop()));
  expect(nodes.cluster.time.monotonicMillis() - begun).toBeLessThan(2000);
  expect([...nodes.cluster.leases.keys()]).toEqual([]);
  expect(nodes.events.filter(({ kind }) => kind === "closed")).toEqual([]);
});

test("the last node that stops flushes and closes its shards; their leases are free at once", async () => {
  const { nodes, all } = await started(6, ["a"]);
  await at(all, 0).data.stop();
  expect(nodes.events.filter(({ kind }) => kind === "flushed")).toHaveLength(6);
  expect([...nodes.cluster.leases.keys()]).toEqual([]);
});

test("a node that stops is gone after 15 s and the end of what it closes, also if nobody takes its shards", async () => {
  const { nodes, all } = await started(32, ["a", "b"]);
  nodes.behaviour.closeMillis = 9000;
  const begun = nodes.cluster.time.monotonicMillis();
  await at(all, 0).data.stop();
  expect(nodes.cluster.time.monotonicMillis() - begun).toBeLessThan(25_000);
  await nodes.until("settled", () => isSettled(nodes, ["b"]));
});

test("a second process with a node's id is refused by name; the first goes on", async () => {
  const { nodes, all } = await started(4, ["a"]);
  expect((await failureOf(nodes.start("a"))).message).toMatch(
    /^cannot join the cluster as node a: the process at a:3001, started 2023-11-14T[^ ]* UTC, has this id; each node needs one of its own$/,
  );
  expect(at(all, 0).ousted).toEqual([]);
  expect(ownedBy(nodes, "a")).toHaveLength(4);
});

test("an id, or an address, that cannot be one is refused", async () => {
  const nodes = madeNodes(4);
  expect((await failureOf(nodes.start("a.b"))).message).toMatch(/^cannot name a data node "a.b"/);
  expect((await failureOf(nodes.start("x".repeat(65)))).message).toMatch(/^cannot name a data node/);
});

test("a node that starts again right after its process died waits for the old lease, and is back", async () => {
  const { nodes, all } = await started(4, ["a"]);
  nodes.kill(at(all, 0));
  await nodes.start("a");
  await nodes.until("settled", () => isSettled(nodes, ["a"]), 10_000);
  expect(nodes.watcher.ownerOf(0)?.epoch).toBe(2);
});

test("a process that another one replaced while it stood still ends loudly when it goes on", async () => {
  const { nodes, all } = await started(4, ["a"]);
  nodes.cluster.stop("a-1", 20_000);
  await nodes.start("a");
  await nodes.until("ousted", () => at(all, 0).ousted.length === 1);
  expect(at(all, 0).ousted[0]).toMatch(/^cannot stay in the cluster as node a: the process at a:3001/);
  expect(nodes.openAt(0)).toEqual(["a"]);
});

test("a node that stood still finds its shards elsewhere, closes them without a flush and gets them back in turn", async () => {
  const { nodes } = await started(8, ["a", "b"]);
  nodes.behaviour.fencedMillis = 100_000;
  const mine = ownedBy(nodes, "a");
  nodes.cluster.stop("a-1", 12_000);
  await nodes.until("taken", () => isSettled(nodes, ["b"]), 8000);
  expect(nodes.openAt(at(mine, 0)).sort()).toEqual(["a", "b"]);
  await nodes.cluster.time.sleep(6000);
  await nodes.until("settled", () => isSettled(nodes, ["a", "b"]));
  for (const shard of mine) {
    const its = nodes.events.filter((event) => event.shard === shard).map(({ node, kind, epoch }) => `${node} ${kind} ${epoch}`);
    expect(its).toEqual(["a opened 1", "b opened 2", "a closed 1", "b flushed 2", "a opened 3"]);
  }
});

test("an election that is longer than a lease moves nothing: shards go on and their leases are taken again", async () => {
  const { nodes, all } = await started(8, ["a", "b"]);
  nodes.cluster.elect(9000);
  await nodes.cluster.time.sleep(20_000);
  expect(isSettled(nodes, ["a", "b"])).toBe(true);
  expect(nodes.events).toHaveLength(8);
  expect(lines(at(all, 0), "it is taken again")).toBe(5);
});

test("a shard whose opening is stuck goes to the next by rank after 10 s without an owner, who keeps it", async () => {
  const { nodes, all } = await started(8, ["a", "b", "c"]);
  const shard = at(ownedBy(nodes, "a"), 0);
  const error = new DbError(StatusCode.StorageUnavailable, "its files are gone");
  nodes.behaviour.open = (each, node) => (node === "a" && each === shard ? error : 200);
  nodes.cluster.stop("a-1", 7000);
  await nodes.until("taken", () => nodes.owners().every((owner) => owner !== undefined && owner !== "a"), 8000);
  const millis = await nodes.until(
    "back at a, or kept",
    () => nodes.owners()[shard] !== undefined && nodes.watcher.claimOf(shard)?.isKept === true,
    60_000,
  );
  expect(millis).toBeGreaterThan(10_000);
  expect(nodes.watcher.nodes()[0]?.failing.get(shard)).toBe("its files are gone");
  const begun = nodes.events.length;
  await nodes.cluster.time.sleep(40_000);
  expect(nodes.events.slice(begun).filter((event) => event.shard === shard)).toEqual([]);
  expect(lines(at(all, 0), "cannot be opened")).toBeLessThan(8);
  nodes.behaviour.open = () => 200;
  await nodes.until("settled", () => isSettled(nodes, ["a", "b", "c"]), 120_000);
});

test("an opening that hangs ends after two minutes, and the next by rank takes the shard", async () => {
  const nodes = madeNodes(2);
  const first = assign(2, ["a", "b"]).get(0);
  nodes.behaviour.open = (shard, node) => (shard === 0 && node === first ? "never" : 200);
  await Promise.all(["a", "b"].map((id) => nodes.start(id)));
  const millis = await nodes.until("served", () => nodes.owners().every((owner) => owner !== undefined), 200_000);
  expect(millis).toBeGreaterThan(119_000);
  expect(nodes.watcher.claimOf(0)?.isKept).toBe(true);
});

test("a shard that nobody can open is tried with growing waits, and the reason is told", async () => {
  const nodes = madeNodes(2);
  let tries = 0;
  nodes.behaviour.open = (shard) => {
    if (shard === 1) return 100;
    tries++;
    return new DbError(StatusCode.StorageUnavailable, "its manifest is damaged");
  };
  const a = await nodes.start("a");
  await nodes.cluster.time.sleep(121_000);
  expect(tries).toBeGreaterThan(5);
  expect(tries).toBeLessThan(9);
  expect(a.data.shards().find(({ shard }) => shard === 0)?.failure?.reason).toBe("its manifest is damaged");
  expect(nodes.owners()).toEqual([undefined, "a"]);
  nodes.behaviour.open = () => 100;
  await nodes.until("settled", () => isSettled(nodes, ["a"]));
  expect(a.data.shards()[0]).toMatchObject({ state: "serving", failure: { reason: "its manifest is damaged" } });
  await nodes.cluster.time.sleep(1500);
  expect(nodes.watcher.nodes()[0]?.failing.size).toBe(0);
  await nodes.cluster.time.sleep(61_000);
  expect(a.data.shards()[0]).toEqual({ shard: 0, state: "serving", failure: undefined });
});

test("shards that nobody can open hold up the moves of others for a minute only", async () => {
  const nodes = madeNodes(8);
  const broken = new Set([0, 1, 2]);
  nodes.behaviour.open = (shard) => (broken.has(shard) ? new DbError(StatusCode.StorageUnavailable, "it is damaged") : 100);
  await nodes.start("a");
  await nodes.until("served", () => nodes.owners().filter((owner) => owner !== undefined).length === 5);
  await nodes.start("b");
  const assigned = assign(8, ["a", "b"]);
  const isMoved = (): boolean => nodes.owners().every((owner, shard) => broken.has(shard) || owner === assigned.get(shard));
  const millis = await nodes.until("moved", isMoved, 90_000);
  expect(millis).toBeGreaterThan(50_000);
});

test("a node that does not let its shards go holds up the moves of others for a minute only", async () => {
  const nodes = madeNodes(12);
  const { cluster } = nodes;
  const stubborn = memoryPort(cluster, "z-1");
  const assigned = assign(12, ["a", "b", "z"]);
  const taken = [...assigned].filter(([, id]) => id !== "z").map(([shard]) => shard);
  const value = {
    address: "z:1",
    identity: "z-1",
    startedAtMillis: 1,
    version: "1",
    isDraining: false,
    shards: new Map(),
    failing: new Map(),
  };
  const renew = async (): Promise<void> => {
    for (;;) {
      await stubborn.leases.take("node.z", encodeNodeValue(value));
      const claim = encodeShardValue({ nodeId: "z", epoch: 1, state: "serving", isKept: false, asked: 0, askedOf: 0 });
      for (const shard of taken.slice(0, 3)) await stubborn.leases.take(`lease.${shard}`, claim);
      await cluster.time.sleep(1000);
    }
  };
  void renew();
  await cluster.time.sleep(500);
  await nodes.start("a");
  await nodes.until("served", () => nodes.owners().every((owner) => owner !== undefined));
  await nodes.start("b");
  const isMoved = (): boolean =>
    nodes.owners().every((owner, shard) => owner === "z" || assigned.get(shard) === "z" || owner === assigned.get(shard));
  await nodes.until("moved", isMoved, 90_000);
});

test("a shard of which a higher epoch was told while its lease was lost is closed without a flush, and opened again", async () => {
  const { nodes } = await started(2, ["a"]);
  nodes.cluster.putLease(
    "lease.0",
    "z-1",
    encodeShardValue({ nodeId: "z", epoch: 9, state: "opening", isKept: false, asked: 0, askedOf: 0 }),
  );
  await nodes.cluster.time.sleep(20);
  nodes.cluster.putLease("lease.0", "z-1", undefined);
  await nodes.cluster.time.sleep(20_000);
  const its = nodes.events.filter(({ shard }) => shard === 0).map(({ kind, epoch }) => `${kind} ${epoch}`);
  expect(its).toEqual(["opened 1", "closed 1", "opened 2"]);
  expect(nodes.owners()).toEqual(["a", "a"]);
});

test("a shard is flushed while it still serves before it is handed over, but not for long; who stops does not wait for that", async () => {
  const nodes = madeNodes(4);
  let flushing = 0;
  nodes.behaviour.beforeHandOver = async () => {
    flushing++;
    await nodes.cluster.time.sleep(60_000);
  };
  const a = await nodes.start("a");
  await nodes.until("settled", () => isSettled(nodes, ["a"]));
  await nodes.start("b");
  await nodes.until("flushing", () => flushing === 2);
  nodes.unservedMost = 0;
  await nodes.cluster.time.sleep(10_000);
  expect([nodes.unservedMost, flushing, isSettled(nodes, ["a"])]).toEqual([0, 2, true]);
  await nodes.until("settled", () => isSettled(nodes, ["a", "b"]), 10_000);
  const begun = nodes.cluster.time.monotonicMillis();
  await a.data.stop();
  expect(nodes.cluster.time.monotonicMillis() - begun).toBeLessThan(16_000);
  await nodes.until("settled", () => isSettled(nodes, ["b"]));
});

test("a node that cannot say what its shards are, or says it in another version, is skipped and named once", async () => {
  const { nodes, all } = await started(4, ["a"]);
  const { leases } = at(all, 0).port;
  await leases.take("node.z", '{"v":2}');
  await leases.take("node.y", "nonsense");
  await leases.take("lease.77", "{}");
  const odd = await leases.take("lease.other-thing", "?");
  expect(odd).not.toBe("held");
  await nodes.cluster.time.sleep(500);
  expect(nodes.watcher.nodes().map(({ id }) => id)).toEqual(["a"]);
  expect(isSettled(nodes, ["a"])).toBe(true);
  const told = at(all, 0).entries.filter(({ message }) => message === "the value of a lease cannot be read and is skipped");
  expect(told.map(({ fields }) => `${String(fields["lease"])} ${String(fields["reason"])}`)).toEqual([
    "node.z its version is 2, and 1 is known",
    "node.y it is no JSON",
    "lease.77 its version is undefined, and 1 is known",
  ]);
});

test("a node that takes its lease again after another one had it does not go on with what it had", async () => {
  const { nodes, all } = await started(1, ["a", "b"]);
  nodes.behaviour.fencedMillis = 1e9; // It hears of it from nobody.
  const [first] = nodes.owners();
  const owner = all.find(({ id }) => id === first) ?? at(all, 0);
  const other = all.find(({ id }) => id !== first) ?? at(all, 1);
  const stale = owner.data.host(0)?.epoch;
  nodes.cluster.cut(owner.identity, 30_000);
  await nodes.until("taken over", () => nodes.owners()[0] === other.id);
  nodes.cluster.cut(other.identity, 60_000);
  await nodes.until("given up", () => nodes.owners()[0] !== other.id);
  await nodes.until("taken again", () => nodes.owners()[0] === owner.id);
  const served = new Set<number | undefined>();
  for (let i = 0; i < 100; i++) {
    served.add(owner.data.host(0)?.epoch);
    await nodes.cluster.time.sleep(50);
  }
  expect(stale).toBe(1);
  expect([...served].filter((epoch) => epoch !== undefined)).toEqual([3]);
});
