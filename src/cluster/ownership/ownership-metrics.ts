/** What `/metrics` tells of owners of shards: of all of them at a frontend, of its own shards at a data node. */
import { Gauge } from "prom-client";
import type { MetricRegistry } from "../../base/metrics.ts";
import type { ShardProgress } from "./directory.ts";
import type { ClusterStatus, ShardStatus } from "./status.ts";

const STATES: readonly ShardStatus["state"][] = ["serving", "opening", "closing", "free", "lost"];

/** Shows nodes and shards of the cluster, at a frontend. Call once a registry. */
export function registerClusterMetrics({ registry }: MetricRegistry, status: () => ClusterStatus): void {
  const registers = [registry];
  new Gauge({
    name: "varve_cluster_nodes",
    help: "data nodes that live, by whether they give their shards away",
    labelNames: ["state"],
    registers,
    collect() {
      const { nodes } = status();
      const draining = nodes.filter(({ isDraining }) => isDraining).length;
      this.set({ state: "draining" }, draining);
      this.set({ state: "serving" }, nodes.length - draining);
    },
  });
  new Gauge({
    name: "varve_cluster_shards",
    help: "shards by state; queries that need one which is not serving wait",
    labelNames: ["state"],
    registers,
    collect() {
      const { shards } = status();
      for (const state of STATES) this.set({ state }, shards.filter((shard) => shard.state === state).length);
    },
  });
  new Gauge({
    name: "varve_cluster_shard_records_behind",
    help: "records of the log that the owner of the shard that is furthest behind has not taken yet",
    registers,
    collect() {
      this.set(Math.max(0, ...status().shards.map(({ lagRecords = 0 }) => lagRecords)));
    },
  });
}

/** Shows the shards that a data node serves. Call once a registry. */
export function registerShardMetrics({ registry }: MetricRegistry, progress: () => ReadonlyMap<number, ShardProgress>): void {
  const gauge = (name: string, help: string, read: (progress: ShardProgress) => number): void => {
    new Gauge({
      name,
      help,
      labelNames: ["shard"],
      registers: [registry],
      collect() {
        this.reset(); // Shards come and go.
        for (const [shard, told] of progress()) this.set({ shard: String(shard) }, read(told));
      },
    });
  };
  gauge("varve_shard_epoch", "owners that the shard has had", ({ epoch }) => epoch);
  gauge("varve_shard_applied_records", "number of the last record of the shard's log that is visible", ({ applied }) => applied);
  gauge("varve_shard_records_behind", "records of the shard's log that are not taken yet", ({ lagRecords }) => lagRecords);
  gauge("varve_shard_memory_bytes", "memtables of the shard", ({ memoryBytes }) => memoryBytes);
}
