/**
 * Rows of `cluster_info` and `region_peers` about a cluster, whose machines and owners of shards the frontend that is asked knows. A table
 * has a region on each shard that it lies on, of the shard's number.
 *
 * Data nodes have names and no numbers: where a number is wanted, it is the place in the list by name, from 1 on, and -1 for a frontend.
 */
import { isPhysicalTable, physicalTableOf } from "../../../table/metric.ts";
import { CATALOG_NAME } from "../../../table/reserved-names.ts";
import { ALL_TIME } from "../../../table/scan.ts";
import type { TableSchema } from "../../../table/schema.ts";
import { placementOf } from "../../../table/shards/placement.ts";
import { shardsOf } from "../../../table/shards/shards-of.ts";
import type { ClusterFacts, ClusterNode, ClusterShard } from "../../system-facts.ts";
import { type InformationRow, regionIdOf } from "./information-table.ts";

/** Peer id of what is no data node. */
const NO_NODE_ID = -1n;

/** Rows of `cluster_info` without what `uptimeText` makes of the start. */
export function* clusterNodeRows(facts: ClusterFacts, commit: string): Iterable<InformationRow & { readonly startMillis: number }> {
  const ids = idsOf(facts);
  for (const node of facts.nodes) {
    yield {
      peer_id: ids.get(node) ?? NO_NODE_ID,
      peer_type: node.role === "datanode" ? "DATANODE" : "FRONTEND",
      peer_addr: node.address,
      peer_hostname: node.id,
      total_cpu_millicores: BigInt(node.cpuMillicores ?? 0), // What others have is not told.
      total_memory_bytes: BigInt(node.totalMemoryBytes ?? 0),
      memory_usage_bytes: node.memoryBytes === undefined ? undefined : BigInt(node.memoryBytes),
      version: node.version,
      git_commit: commit.slice(0, 8),
      start_time: BigInt(node.startMillis),
      node_status: statusOf(node, facts),
      startMillis: node.startMillis,
    };
  }
}

/** Rows of `region_peers` of one table. */
export function* clusterPeerRows(schema: TableSchema, facts: ClusterFacts): Iterable<InformationRow> {
  const ids = idsOf(facts);
  const byName = new Map(facts.nodes.flatMap((node) => (node.role === "datanode" ? [[node.id, node] as const] : [])));
  for (const { shard, nodeId, isServed } of shardsOfTable(schema, facts.shards)) {
    const node = nodeId === undefined ? undefined : byName.get(nodeId);
    yield {
      table_catalog: CATALOG_NAME,
      table_schema: schema.database,
      table_name: schema.name,
      region_id: regionIdOf(schema.id) + BigInt(shard),
      peer_id: node === undefined ? undefined : ids.get(node),
      peer_addr: node?.address,
      is_leader: isServed ? "Yes" : "No",
      status: isServed ? "ALIVE" : "DOWNGRADED",
    };
  }
}

/** The shards that rows of a table lie on: of the metric engine's, all. */
function shardsOfTable(schema: TableSchema, shards: readonly ClusterShard[]): readonly ClusterShard[] {
  if (physicalTableOf(schema) !== undefined || isPhysicalTable(schema)) return shards;
  const numbers = new Set(shardsOf(placementOf(schema, shards.length), [], ALL_TIME));
  return shards.filter(({ shard }) => numbers.has(shard));
}

function idsOf({ nodes }: ClusterFacts): ReadonlyMap<ClusterNode, bigint> {
  const byName = nodes.filter(({ role }) => role === "datanode").toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return new Map(byName.map((node, index) => [node, BigInt(index + 1)]));
}

function statusOf(node: ClusterNode, { shards }: ClusterFacts): string | undefined {
  if (node.role !== "datanode") return undefined;
  const served = shards.filter(({ nodeId, isServed }) => isServed && nodeId === node.id).length;
  return JSON.stringify({ shards: served, draining: node.isDraining });
}
