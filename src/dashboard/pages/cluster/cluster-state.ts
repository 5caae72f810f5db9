/** What the page shows, from rows of `information_schema.cluster_info` and `region_peers`. */
import type { SqlRow } from "../../api/client.ts";

/** A process of the cluster. */
export interface NodeRow {
  readonly name: string;
  /** "frontend", "datanode" or "standalone". */
  readonly role: string;
  readonly address: string;
  readonly version: string;
  readonly uptime: string;
  readonly memoryBytes?: number;
  /** Shards that it serves; undefined: it is no data node. */
  readonly shards?: number;
  readonly isDraining: boolean;
}

/** A shard on which there are tables. */
export interface ShardRow {
  readonly shard: number;
  /** Of the data node that has it; undefined: nobody has. */
  readonly address?: string;
  readonly isServed: boolean;
  /** Tables that lie on it. */
  readonly regions: number;
}

/** Everything that is shown. */
export interface ClusterState {
  /** False: a server that runs alone. */
  readonly isCluster: boolean;
  readonly nodes: readonly NodeRow[];
  readonly shards: readonly ShardRow[];
  readonly troubles: readonly string[];
}

/**
 * Reads the rows.
 *
 * @param nodes `peer_type`, `peer_hostname`, `peer_addr`, `version`, `uptime`, `memory_usage_bytes`, `node_status`
 * @param shards `shard`, `peer_addr`, `is_leader`, `regions`
 */
export function clusterState(nodes: readonly SqlRow[], shards: readonly SqlRow[]): ClusterState {
  const nodeRows = nodes.map(nodeOf);
  const shardRows = shards.map(shardOf);
  const isCluster = nodeRows.some(({ role }) => role !== "standalone");
  return { isCluster, nodes: nodeRows, shards: shardRows, troubles: isCluster ? troublesOf(nodeRows, shardRows) : [] };
}

function nodeOf(row: SqlRow): NodeRow {
  const status = statusOf(row["node_status"]);
  const memory = row["memory_usage_bytes"];
  return {
    name: text(row["peer_hostname"]),
    role: text(row["peer_type"]).toLowerCase(),
    address: text(row["peer_addr"]),
    version: text(row["version"]),
    uptime: text(row["uptime"]),
    ...(memory === null || memory === undefined ? {} : { memoryBytes: Number(memory) }),
    ...(status?.shards === undefined ? {} : { shards: status.shards }),
    isDraining: status?.draining === true,
  };
}

function shardOf(row: SqlRow): ShardRow {
  const address = text(row["peer_addr"]);
  return {
    shard: Number(row["shard"]),
    ...(address === "" ? {} : { address }),
    isServed: row["is_leader"] === "Yes",
    regions: Number(row["regions"]),
  };
}

function troublesOf(nodes: readonly NodeRow[], shards: readonly ShardRow[]): readonly string[] {
  const lives = nodes.some(({ role }) => role === "datanode");
  if (!lives) return ["No data node lives: writes are kept in the log, queries find nobody. Start one: varve datanode start."];
  return shards.filter(({ isServed }) => !isServed).map(({ shard }) => `Shard ${shard} is not served now: queries that need it wait.`);
}

/** `{"shards":3,"draining":false}` of a data node; undefined where there is none. */
function statusOf(value: unknown): { readonly shards?: number; readonly draining?: boolean } | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  try {
    return JSON.parse(value) as { readonly shards?: number; readonly draining?: boolean };
  } catch {
    return undefined; // Another version's words: the page goes on without them.
  }
}

const text = (value: SqlRow[string]): string => (value === null || value === undefined ? "" : String(value));
