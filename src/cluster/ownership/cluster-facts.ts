import type { ClusterFacts, ClusterNode } from "../../query/system-facts.ts";
import type { ClusterStatus } from "./status.ts";

/** What `information_schema` shows of a cluster. @param self the frontend that is asked; others of its kind are not known */
export function clusterFactsOf({ nodes, shards }: ClusterStatus, self: ClusterNode): ClusterFacts {
  return {
    nodes: [
      self,
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
