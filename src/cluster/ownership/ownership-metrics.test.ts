import { expect, test } from "bun:test";
import { MetricRegistry } from "../../base/metrics.ts";
import type { ShardProgress } from "./directory.ts";
import { registerClusterMetrics, registerShardMetrics } from "./ownership-metrics.ts";
import type { ClusterStatus } from "./status.ts";

async function linesOf(registry: MetricRegistry): Promise<readonly string[]> {
  return (await registry.registry.metrics()).split("\n").filter((line) => line.startsWith("varve_"));
}

test("a frontend tells nodes and shards by state, and who is furthest behind", async () => {
  const node = {
    id: "n",
    address: "a:1",
    version: "1",
    startedAtMillis: 0,
    shardsServed: 1,
    shardsAssigned: 1,
    memoryBytes: 0,
    failing: [],
  };
  const shard = { nodeId: "n", assignedId: "n", isKept: false, epoch: 1, applied: 1, memoryBytes: 1 };
  const status: ClusterStatus = {
    frontends: [],
    nodes: [
      { ...node, isDraining: true },
      { ...node, id: "m", isDraining: false },
    ],
    shards: [
      { ...shard, shard: 0, state: "serving", lagRecords: 3 },
      { ...shard, shard: 1, state: "serving", lagRecords: 8 },
      { ...shard, shard: 2, state: "free", lagRecords: undefined },
    ],
  };
  const registry = new MetricRegistry();
  registerClusterMetrics(registry, () => status);
  expect(await linesOf(registry)).toEqual([
    'varve_cluster_nodes{state="draining"} 1',
    'varve_cluster_nodes{state="serving"} 1',
    'varve_cluster_shards{state="serving"} 2',
    'varve_cluster_shards{state="opening"} 0',
    'varve_cluster_shards{state="closing"} 0',
    'varve_cluster_shards{state="free"} 1',
    'varve_cluster_shards{state="lost"} 0',
    "varve_cluster_shard_records_behind 8",
  ]);
});

test("a data node tells its own shards, while it has them", async () => {
  const progress = new Map<number, ShardProgress>([[3, { epoch: 2, applied: 10, lagRecords: 1, memoryBytes: 100 }]]);
  const registry = new MetricRegistry();
  registerShardMetrics(registry, () => progress);
  expect(await linesOf(registry)).toEqual([
    'varve_shard_epoch{shard="3"} 2',
    'varve_shard_applied_records{shard="3"} 10',
    'varve_shard_records_behind{shard="3"} 1',
    'varve_shard_memory_bytes{shard="3"} 100',
  ]);
  progress.clear();
  expect(await linesOf(registry)).toEqual([]);
});
