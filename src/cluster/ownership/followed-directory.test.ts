import { afterEach, expect, test } from "bun:test";
import { MemoryCluster } from "../../../test/support/cluster/memory-cluster.ts";
import { memoryPort } from "../../../test/support/cluster/memory-port.ts";
import { VirtualTime } from "../../../test/support/cluster/virtual-time.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { PortError } from "../port/port-error.ts";
import type { LeaseChanges, Leases } from "../port/leases.ts";
import type { ShardClaim } from "./directory.ts";
import { FollowedDirectory } from "./followed-directory.ts";
import { encodeNodeValue, type NodeValue } from "./node-value.ts";
import { encodeShardValue } from "./shard-value.ts";
import { readStatus, type ShardStatus, statusOf } from "./status.ts";

const times: VirtualTime[] = [];

afterEach(() => {
  for (const time of times.splice(0)) time.end();
});

function made(): { cluster: MemoryCluster; time: VirtualTime; logged: ReturnType<typeof recordingLogger> } {
  const time = new VirtualTime();
  times.push(time);
  return { cluster: new MemoryCluster({ time }), time, logged: recordingLogger() };
}

function nodeText(identity: string, more: Partial<NodeValue> = {}): string {
  const base = { address: `${identity}:3001`, identity, startedAtMillis: 7, version: "1.0.0", isDraining: false };
  return encodeNodeValue({ ...base, shards: new Map(), failing: new Map(), ...more });
}

function claimText(nodeId: string, more: Partial<ShardClaim> = {}): string {
  return encodeShardValue({ nodeId, epoch: 3, state: "serving", isKept: false, asked: 0, askedOf: 0, ...more });
}

test("a shard has an owner once its lease serves, and the node of its holder lives", async () => {
  const { cluster, time, logged } = made();
  const directory = FollowedDirectory.follow({ leases: memoryPort(cluster, "x").leases, timers: time, logger: logged.logger });
  const { leases } = memoryPort(cluster, "p");
  const told = async (): Promise<string | undefined> => {
    await time.sleep(100);
    return directory.ownerOf(0)?.address;
  };
  await directory.started;
  expect(await told()).toBeUndefined();
  const lease = await leases.take("lease.0", claimText("a", { state: "opening", epoch: 0 }));
  if (lease === "held") throw new Error("nobody has it");
  const node = await leases.take("node.a", nodeText("p"));
  if (node === "held") throw new Error("nobody has it");
  expect(await told()).toBeUndefined();
  const next = await leases.renew(lease, claimText("a"));
  expect(await told()).toBe("p:3001");
  expect(directory.ownerOf(0)).toEqual({ shard: 0, nodeId: "a", address: "p:3001", identity: "p", epoch: 3 });
  expect(await told()).toBe("p:3001");
  if (next === "lost") throw new Error("it is held");
  await leases.renew(next, claimText("b"));
  expect(await told()).toBeUndefined(); // A node that nobody knows.
  await leases.release(node);
  await time.sleep(100);
  expect(directory.nodes()).toEqual([]);
  await time.sleep(6000);
  expect(directory.claimOf(0)).toBeUndefined();
});

test("a lease under a node's id by another process than the one that lives is nobody's", async () => {
  const { cluster, time, logged } = made();
  const directory = FollowedDirectory.follow({ leases: memoryPort(cluster, "x").leases, timers: time, logger: logged.logger });
  await memoryPort(cluster, "old").leases.take("lease.0", claimText("a"));
  await memoryPort(cluster, "new").leases.take("node.a", nodeText("new"));
  await time.sleep(100);
  expect([directory.claimOf(0)?.nodeId, directory.ownerOf(0), directory.nodes().length]).toEqual(["a", undefined, 1]);
  expect(statusOf(directory, 1).shards[0]?.state).toBe("lost");
});

test("a node whose value names another holder is skipped, named once, and again only after it was right", async () => {
  const { cluster, time, logged } = made();
  const directory = FollowedDirectory.follow({ leases: memoryPort(cluster, "x").leases, timers: time, logger: logged.logger });
  const { leases } = memoryPort(cluster, "p");
  let lease = await leases.take("node.a", nodeText("other"));
  for (const value of ["?", "{}", nodeText("p"), "?", "??"]) {
    await time.sleep(50);
    if (typeof lease === "string") throw new Error("it is held");
    const renewed = await leases.renew(lease, value);
    if (renewed === "lost") throw new Error("it is held");
    lease = renewed;
  }
  await time.sleep(50);
  expect(directory.nodes()).toEqual([]);
  expect(logged.entries.map(({ fields }) => fields["reason"])).toEqual(["its identity is not its holder's", "it is no JSON"]);
});

test("lag is what the owner tells; more than so many bytes behind counts 64 KiB a record", async () => {
  const { cluster, time, logged } = made();
  const directory = FollowedDirectory.follow({ leases: memoryPort(cluster, "x").leases, timers: time, logger: logged.logger });
  const progress = { epoch: 3, applied: 10, lagRecords: 5, memoryBytes: 100 };
  const { leases } = memoryPort(cluster, "p");
  await leases.take("node.a", nodeText("p", { shards: new Map([[0, progress]]) }));
  await leases.take("lease.0", claimText("a"));
  await leases.take("lease.1", claimText("a"));
  await time.sleep(100);
  expect([directory.lagOf(0), directory.lagOf(1), directory.lagOf(2)]).toEqual([progress, undefined, undefined]);
  expect([5 * 65_536 - 1, 5 * 65_536].map((bytes) => directory.isBehind(0, bytes))).toEqual([true, false]);
  expect([directory.isBehind(1, 0), directory.isBehind(2, 0)]).toEqual([false, false]);
});

test("who waits for a change is told of each, also of how far nodes are; ownership changes only with owners", async () => {
  const { cluster, time, logged } = made();
  const directory = FollowedDirectory.follow({ leases: memoryPort(cluster, "x").leases, timers: time, logger: logged.logger });
  await directory.started;
  const { leases } = memoryPort(cluster, "p");
  const change = directory.nextChange();
  const lease = await leases.take("node.a", nodeText("p"));
  await change;
  if (lease === "held") throw new Error("nobody has it");
  const { ownershipVersion } = directory;
  const next = directory.nextChange();
  await leases.renew(lease, nodeText("p", { shards: new Map([[1, { epoch: 1, applied: 1, lagRecords: 0, memoryBytes: 0 }]]) }));
  await next;
  expect([directory.nodes()[0]?.shards.size, directory.ownershipVersion]).toEqual([1, ownershipVersion]);
  await directory.close();
});

test("what a watch that begins anew does not tell is gone", async () => {
  const { time, logged } = made();
  const lives = { holder: "p", value: nodeText("p"), number: 1 };
  const owned = { holder: "p", value: claimText("a"), number: 2 };
  const rounds: (LeaseChanges["leases"] | PortError)[] = [
    new Map([
      ["node.a", lives],
      ["lease.0", owned],
    ]),
    new PortError("vanished", "the stream is gone"),
    new Map([["node.a", lives]]),
  ];
  const watch = async function* ({ signal }: { signal?: AbortSignal | undefined } = {}): AsyncGenerator<LeaseChanges> {
    const round = rounds.shift();
    if (round === undefined || round instanceof PortError) throw round ?? new PortError("vanished", "the stream is gone");
    yield { leases: round, changed: new Set(round.keys()) };
    await time.sleep(1000);
    if (rounds.length > 0) throw new PortError("vanished", "the stream is gone");
    while (signal?.aborted !== true) await time.sleep(1000);
  };
  const leases = { watch } as unknown as Leases; // Nothing else is asked of it.
  const directory = FollowedDirectory.follow({ leases, timers: time, logger: logged.logger });
  await directory.started;
  expect(directory.ownerOf(0)?.nodeId).toBe("a");
  await time.sleep(5000);
  expect([directory.ownerOf(0), directory.leaseOf(0), directory.nodes().length]).toEqual([undefined, undefined, 1]);
  expect(logged.entries.map(({ level, message }) => `${level} ${message}`)).toEqual([
    "error leases cannot be followed; tried again until they can",
  ]);
  await directory.close();
});

test("a closed port ends the directory before it began, by name", async () => {
  const { cluster, time, logged } = made();
  const port = memoryPort(cluster, "x");
  await port.close();
  const directory = FollowedDirectory.follow({ leases: port.leases, timers: time, logger: logged.logger });
  const [outcome] = await Promise.allSettled([directory.started]);
  expect(outcome).toMatchObject({ status: "rejected", reason: { failure: "closed" } });
  await directory.close();
});

test("status is plain data of all nodes and shards, read without being a member", async () => {
  const { cluster, time, logged } = made();
  const { leases } = memoryPort(cluster, "p");
  const shards = new Map([[1, { epoch: 3, applied: 10, lagRecords: 5, memoryBytes: 100 }]]);
  await leases.take("node.a", nodeText("p", { shards, failing: new Map([[0, "its files are gone"]]) }));
  await leases.take("lease.1", claimText("a", { isKept: true }));
  await leases.take("lease.2", claimText("a", { state: "closing" }));
  const status = await readStatus(memoryPort(cluster, "x"), 3, { timers: time, logger: logged.logger });
  const nobody: Partial<ShardStatus> = { nodeId: undefined, applied: undefined, lagRecords: undefined, memoryBytes: undefined };
  const its = { nodeId: "a", assignedId: "a" };
  expect(structuredClone(status)).toEqual({
    frontends: [],
    nodes: [
      {
        id: "a",
        address: "p:3001",
        version: "1.0.0",
        startedAtMillis: 7,
        isDraining: false,
        shardsServed: 1,
        shardsAssigned: 3,
        memoryBytes: 100,
        failing: [{ shard: 0, reason: "its files are gone" }],
      },
    ],
    shards: [
      { ...nobody, ...its, shard: 0, state: "free", nodeId: undefined, isKept: false, epoch: 0 },
      { ...its, shard: 1, state: "serving", isKept: true, epoch: 3, applied: 10, lagRecords: 5, memoryBytes: 100 },
      { ...nobody, ...its, shard: 2, state: "closing", isKept: false, epoch: 3 },
    ] as ShardStatus[],
  });
});

test("status of servers that do not answer fails by name", async () => {
  const { cluster, time, logged } = made();
  cluster.elect(300_000);
  const [outcome] = await Promise.allSettled([readStatus(memoryPort(cluster, "x"), 3, { timers: time, logger: logged.logger })]);
  expect(String(outcome?.status === "rejected" && outcome.reason)).toContain(
    "cannot read the leases of the cluster: the servers do not answer",
  );
});
