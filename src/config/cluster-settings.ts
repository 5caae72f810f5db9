/** `[cluster]`: what a frontend and a data node share, and what only one of them takes. Keys and reasons are in `cluster-knobs.ts`. */
import type { ByteLength, DurationMillis } from "../base/units.ts";
import type { Address } from "./address.ts";

/** How the internal listener of a data node or a frontend encrypts: not, with its own certificate, or with certificates of both sides. */
export type ClusterTlsMode = "disable" | "require" | "mutual";

/** `[cluster]`. */
export interface ClusterSettings {
  /** `nats://host:port` or `tls://host:port`; empty in a process that is no part of a cluster. */
  readonly servers: readonly string[];
  /** Names this process among the living; undefined: the name of the machine (`nodeNameOf`). */
  readonly nodeId: string | undefined;
  /** Parts that the rows of all tables are spread over. */
  readonly shards: number;
  /** Copies of each stream of NATS. */
  readonly replicas: number;
  /** Room of a shard's log; beyond it writes are refused. */
  readonly logBytesMax: ByteLength;
  /** Whole seconds. */
  readonly leaseMs: DurationMillis;
  readonly callMs: DurationMillis;
  /** What a query sees: all that was acknowledged before it, or all that its frontend acknowledged. */
  readonly consistency: "all" | "session";
  /** Where a data node or a frontend listens for the others of the cluster. */
  readonly bindAddr: Address;
  /** `host:port` under which others reach it; undefined: `bindAddr`. */
  readonly advertiseAddr: string | undefined;
  /** Folder of data files that all data nodes see; undefined: they are in the S3 store of `[storage]`. */
  readonly sharedDir: string | undefined;
  /** What frontends and data nodes know each other by. */
  readonly secret: string | undefined;
  /** A file that holds it; empty: none. */
  readonly secretPath: string;
  readonly tlsMode: ClusterTlsMode;
  /** Files; empty: none. */
  readonly tlsCertPath: string;
  readonly tlsKeyPath: string;
  readonly tlsCaCertPath: string;
  /** Whether the files are read again when they change. */
  readonly tlsWatch: boolean;
  readonly natsUser: string | undefined;
  readonly natsPassword: string | undefined;
  readonly natsToken: string | undefined;
  /** A file; empty: none. */
  readonly natsCredsPath: string;
  /** Files; empty: none. */
  readonly natsCaCertPath: string;
  readonly natsCertPath: string;
  readonly natsKeyPath: string;
  /** Addresses of the servers' monitoring. */
  readonly natsMonitors: readonly string[];
  /** Of the servers' system account. */
  readonly natsSystemUser: string | undefined;
  readonly natsSystemPassword: string | undefined;
  /** A file; empty: none. */
  readonly natsSystemCredsPath: string;
}
