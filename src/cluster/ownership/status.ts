/** What `cluster status` shows: plain data out of a directory. */
import type { Logger } from "../../base/log.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { Directory, KnownFrontend, ShardState } from "./directory.ts";
import { begun, FollowedDirectory } from "./followed-directory.ts";
import { assign } from "./ranking.ts";
import type { Timers } from "./timers.ts";

/** A data node that lives. */
export interface NodeStatus {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAtMillis: number;
  readonly isDraining: boolean;
  /** Shards that it serves, and that it should. */
  readonly shardsServed: number;
  readonly shardsAssigned: number;
  /** Of the memtables of all of them. */
  readonly memoryBytes: number;
  /** Shards that it could not open, and why. */
  readonly failing: readonly { readonly shard: number; readonly reason: string }[];
}

/** A shard. */
export interface ShardStatus {
  readonly shard: number;
  /** "free": nobody holds its lease, or who does cannot be read; "lost": who serves it is no node that lives. */
  readonly state: ShardState | "free" | "lost";
  /** Who holds its lease. */
  readonly nodeId: string | undefined;
  /** Who should. */
  readonly assignedId: string | undefined;
  /** It is not given to who should hold it yet, who did not take it before. */
  readonly isKept: boolean;
  /** 0: not open. */
  readonly epoch: number;
  /** Number of the last record that is visible; undefined where nobody tells. */
  readonly applied: number | undefined;
  readonly lagRecords: number | undefined;
  readonly memoryBytes: number | undefined;
}

/** A frontend that lives. */
export type FrontendStatus = Omit<KnownFrontend, "identity">;

/** See the file header. */
export interface ClusterStatus {
  readonly frontends: readonly FrontendStatus[];
  readonly nodes: readonly NodeStatus[];
  readonly shards: readonly ShardStatus[];
}

/** What a directory tells at this moment. @param shards how many the cluster has */
export function statusOf(directory: Directory, shards: number): ClusterStatus {
  const nodes = directory.nodes();
  const able = nodes.filter(({ isDraining }) => !isDraining).map(({ id }) => id);
  const assigned = assign(shards, able);
  const list = Array.from({ length: shards }, (_, shard) => shardStatus(directory, shard, assigned.get(shard)));
  return {
    frontends: directory.frontends().map(({ identity: _, ...told }) => told),
    nodes: nodes.map(({ id, address, version, startedAtMillis, isDraining, shards: its, failing }) => ({
      id,
      address,
      version,
      startedAtMillis,
      isDraining,
      shardsServed: list.filter(({ nodeId, state }) => nodeId === id && state === "serving").length,
      shardsAssigned: list.filter(({ assignedId }) => assignedId === id).length,
      memoryBytes: [...its.values()].reduce((sum, { memoryBytes }) => sum + memoryBytes, 0),
      failing: [...failing].map(([shard, reason]) => ({ shard, reason })),
    })),
    shards: list,
  };
}

function shardStatus(directory: Directory, shard: number, assignedId: string | undefined): ShardStatus {
  const claim = directory.claimOf(shard);
  const lag = directory.lagOf(shard);
  const isLost = claim?.state === "serving" && directory.ownerOf(shard) === undefined;
  return {
    shard,
    state: isLost ? "lost" : (claim?.state ?? "free"),
    nodeId: claim?.nodeId,
    assignedId,
    isKept: claim?.isKept ?? false,
    epoch: claim?.epoch ?? 0,
    applied: lag?.applied,
    lagRecords: lag?.lagRecords,
    memoryBytes: lag?.memoryBytes,
  };
}

/** Reads the status once, without being a member. @throws DbError StorageUnavailable: the servers do not answer; PortError closed */
export async function readStatus(
  port: Pick<ClusterPort, "leases">,
  shards: number,
  { timers, logger }: { readonly timers: Timers; readonly logger: Logger },
): Promise<ClusterStatus> {
  const directory = FollowedDirectory.follow({ leases: port.leases, timers, logger });
  try {
    await begun(directory, timers);
    return statusOf(directory, shards);
  } finally {
    await directory.close();
  }
}
