import { expect, test } from "bun:test";
import type { ClusterNode } from "../../query/system-facts.ts";
import { clusterFactsOf } from "./cluster-facts.ts";
import type { ClusterStatus, ShardStatus } from "./status.ts";

test("frontends, nodes and shards are as the directory tells; only a shard that is served counts as served", () => {
  const self: ClusterNode = { id: "f", role: "frontend", address: "a:4000", version: "1", startMillis: 1, isDraining: false };
  const states = ["serving", "opening", "closing", "free", "lost"] as const;
  const shards = states.map((state, shard): ShardStatus => {
    const told = { applied: undefined, lagRecords: undefined, memoryBytes: undefined };
    return { shard, state, nodeId: state === "free" ? undefined : "n", assignedId: "n", isKept: false, epoch: 1, ...told };
  });
  const node = { id: "n", address: "b:3001", version: "2", startedAtMillis: 5, isDraining: true };
  const told = { httpAddress: "c:4000", version: "3", startedAtMillis: 7 };
  const frontends = ["e", "f"].map((id) => ({ id, address: `${id}:3001`, ...told }));
  const status: ClusterStatus = {
    frontends,
    nodes: [{ ...node, shardsServed: 1, shardsAssigned: 5, memoryBytes: 0, failing: [] }],
    shards,
  };
  expect(clusterFactsOf(status, self)).toEqual({
    nodes: [
      { id: "e", role: "frontend", address: "c:4000", version: "3", startMillis: 7, isDraining: false },
      self,
      { id: "n", role: "datanode", address: "b:3001", version: "2", startMillis: 5, isDraining: true },
    ],
    shards: states.map((state, shard) => ({ shard, nodeId: state === "free" ? undefined : "n", isServed: state === "serving" })),
  });
});
