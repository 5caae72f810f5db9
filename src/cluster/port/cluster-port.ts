/**
 * All that the machines of a cluster agree by, and the only way to it: records of shards in replicated streams, names that are held for a
 * time, lists with conditional appends. `cluster/nats` is one over NATS JetStream; tests have one in memory with faults.
 */
import type { Leases } from "./leases.ts";
import type { LogService } from "./log-service.ts";
import type { Ordered } from "./ordered.ts";

/** See the file header. */
export interface ClusterPort {
  readonly log: LogService;
  readonly leases: Leases;
  readonly ordered: Ordered;
  /** Names this port among all that ever were: a process that starts again has another. */
  readonly identity: string;
  /** Most bytes of one record or entry. */
  readonly messageBytesMax: number;
  /** Ends all calls and followers with `closed`. Leases that are held end by themselves. */
  close(): Promise<void>;
}
