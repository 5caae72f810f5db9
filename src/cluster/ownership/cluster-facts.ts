import type { ClusterFacts, ClusterNode } from "../../query/system-facts.ts";
import type { ClusterStatus } from "./status.ts";

/** What `information_schema` shows of a cluster: frontends, then data nodes. @param self the frontend that is asked */
export function clusterFactsOf({ frontends, nodes, shards }: ClusterStatus, self: ClusterNode): ClusterFacts {
  const others = frontends.map(({ id, httpAddress: address, version, startedAtMillis: startMillis }): ClusterNode => {
    return { id, role: "frontend", address, version, startMillis, isDraining: false };
  });
  const all = [self, ...others.filter(({ id }) => id !== self.id)];
  return {
    nodes: [
      ...all.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
      ...nodes.map(({ id, address, version, startedAtMillis, isDraining }) => ({
        id,
        role: "datanode" as const,
        address,
        version,
        startMillis: startedAtMillis,
        isDraining,
      })),
    ],
    shards: shards.map(({ shard, nodeId, state }) => ({ shard, nodeId, isServed: state === "serving" })),
  };
}
