/** How to reach NATS, and what it must be. Addresses and secrets come apart, so that no text with an address holds a secret. */

/** Who signs in, and how. Secrets are never part of an error or a log line. */
export type NatsCredentials =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string }
  /** The content of a `.creds` file: a JWT and its seed. */
  | { readonly kind: "creds"; readonly content: string };

/** TLS towards the servers, each as PEM text; a certificate and its key come together. */
export interface NatsTls {
  /** Whom to trust; undefined: whom the machine trusts. */
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** How a server tells that it syncs each message. One of both is needed: an ordinary account cannot ask. */
export interface NatsChecks {
  /** An account of the servers' system account, asked once at the start. */
  readonly system: NatsCredentials | undefined;
  /** Addresses of the servers' monitoring (`http: 8222`), one for each, as `http://host:8222`. */
  readonly monitors: readonly string[];
}

/** What the port is opened with. */
export interface NatsOptions {
  /** `nats://host:port` or `tls://host:port`, without user and password. */
  readonly servers: readonly string[];
  readonly credentials: NatsCredentials;
  /** undefined: no TLS unless the server asks for it. */
  readonly tls: NatsTls | undefined;
  readonly checks: NatsChecks;
  /** Names this port; none before it has had the name. */
  readonly identity: string;
  /** Shards of the cluster: streams LOG0 … */
  readonly shards: number;
  /** Copies of each stream: 1, 3 or 5. */
  readonly replicas: number;
  /** Room of a shard's log in bytes; beyond it appends are refused. */
  readonly logBytesMax: number;
  /** Whole seconds, at least 1. */
  readonly leaseSeconds: number;
  /** Longest that a call waits for its answer, in milliseconds. */
  readonly callMillis: number;
}
