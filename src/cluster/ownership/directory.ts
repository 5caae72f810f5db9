/**
 * Who lives in the cluster and who serves which shard, as its leases say (`port/leases.ts`): what frontends find owners by.
 *
 * What it says may be old: while there is no connection nothing is told. Who asks a node that does not own the shard any more is told so
 * there, and waits for the next change.
 */

/** A data node that lives. */
export interface KnownNode {
  /** From its configuration: the same after a restart. */
  readonly id: string;
  /** "host:port" of its internal listener. */
  readonly address: string;
  /** Of its port: another after a restart. */
  readonly identity: string;
  readonly startedAtMillis: number;
  /** Of the server. */
  readonly version: string;
  /** It hands all its shards over and takes none. */
  readonly isDraining: boolean;
  /** What it tells of the shards that are open there, by shard. */
  readonly shards: ReadonlyMap<number, ShardProgress>;
  /** Why some of the shards that it should own cannot be opened there, by shard. */
  readonly failing: ReadonlyMap<number, string>;
}

/** A frontend that lives. */
export interface KnownFrontend {
  /** From its configuration: the same after a restart. */
  readonly id: string;
  /** "host:port" of its internal listener. */
  readonly address: string;
  /** "host:port" where it speaks HTTP with clients. */
  readonly httpAddress: string;
  /** Of its port: another after a restart. */
  readonly identity: string;
  readonly startedAtMillis: number;
  /** Of the server. */
  readonly version: string;
}

/** How far a shard is on a node, not more than some seconds ago. */
export interface ShardProgress {
  /** Of its manifest. */
  readonly epoch: number;
  /** Number of the last record of its log that is visible. */
  readonly applied: number;
  /** Records of its log behind that one, as far as the node knows. */
  readonly lagRecords: number;
  /** Of its memtables. */
  readonly memoryBytes: number;
}

/** The node that serves a shard. */
export interface ShardOwner {
  readonly shard: number;
  readonly nodeId: string;
  /** "host:port" of its internal listener. */
  readonly address: string;
  /** Of its port. */
  readonly identity: string;
  /** Of the shard's manifest: rises with each owner. */
  readonly epoch: number;
}

/** What the holder of a shard's lease does with the shard. */
export type ShardState = "opening" | "serving" | "closing";

/** The node that holds a shard's lease, whether it serves the shard or not. */
export interface ShardClaim {
  readonly nodeId: string;
  /** Of the shard's manifest; 0 until it is open. */
  readonly epoch: number;
  readonly state: ShardState;
  /** The shard is another's by rank, who did not take it: the holder keeps it for a while. */
  readonly isKept: boolean;
  /** How often writers were asked to send again what they hold, since the shard's log lost records; 0 also until the shard is open. */
  readonly asked: number;
  /** The writer that was asked the last time; 0: all. */
  readonly askedOf: number;
}

/** See the file header. All but `started` answer at once, from what was told last. */
export interface Directory {
  /** Resolves when the leases were told for the first time. @throws PortError closed */
  readonly started: Promise<void>;
  /** The node that serves a shard: undefined while nobody does, or who will opens it still. */
  ownerOf(shard: number): ShardOwner | undefined;
  /** The node that holds a shard's lease; undefined where nobody does, or its value cannot be read. For status: who asks wants an owner. */
  claimOf(shard: number): ShardClaim | undefined;
  /** Nodes that live, by id in order, draining ones too. */
  nodes(): readonly KnownNode[];
  /** Frontends that live, by id in order. */
  frontends(): readonly KnownFrontend[];
  /** What the owner of a shard tells of it; undefined where there is none, or it told nothing yet. */
  lagOf(shard: number): ShardProgress | undefined;
  /**
   * Whether a shard's owner is more than about `bytes` of the log behind, so that writers should wait. The records behind count
   * `LAG_RECORD_BYTES` each. A shard that nobody serves is not behind: the log takes its records.
   */
  isBehind(shard: number, bytes: number): boolean;
  /**
   * Resolves when anything differs from now: an owner, a node, what it tells. One promise for all who wait: nobody needs to take it back.
   * It never fails; after the directory is closed it does not resolve. Nodes tell news each second, so look again at what is waited for.
   */
  nextChange(): Promise<void>;
}
