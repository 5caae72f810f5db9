/** What a process is: a server of its own, or a part of a cluster. What a role does not use is told, never ignored in silence. */

import type { Address } from "./address.ts";

/** See the file header. */
export type Role = "standalone" | "frontend" | "datanode";

/** What a role is called in messages. */
export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  standalone: "a standalone server",
  frontend: "a frontend",
  datanode: "a data node",
};

/** Prefix of environment variables of a role, besides ours; `--env-prefix` names another. Source: contract http.md 7.2, 7.3. */
export const ENV_PREFIXES: Readonly<Record<Role, string>> = {
  standalone: "GREPTIMEDB_STANDALONE",
  frontend: "GREPTIMEDB_FRONTEND",
  datanode: "GREPTIMEDB_DATANODE",
};

/** Keys that a role has no use for. */
interface Unused {
  /** Keys, or whole sections, separated by blanks. */
  readonly keys: string;
  readonly why: string;
}

const NO_CLIENTS = "clients talk to frontends";

const UNUSED: Readonly<Record<Role, readonly Unused[]>> = {
  standalone: [{ keys: "cluster", why: "only `frontend start` and `datanode start` are parts of a cluster" }],
  frontend: [
    { keys: "wal", why: "rows go to the cluster's log, which NATS keeps" },
    { keys: "ingest", why: "a frontend takes writes on one thread; start more frontends" },
    {
      keys: `storage.type storage.shards storage.bucket storage.root storage.endpoint storage.region storage.access_key_id
        storage.secret_access_key storage.enable_virtual_host_style storage.cache_capacity storage.memtable_size
        storage.write_buffer_limit storage.flush_interval storage.compaction storage.compaction_trigger cluster.shared_dir`,
      why: "data nodes keep the rows",
    },
  ],
  datanode: [
    {
      keys: `default_timezone auto_create_table max_in_flight_write_bytes write_bytes_exhausted_policy user_provider http influxdb
        opentsdb jaeger grpc mysql postgres prom_store write ingest slow_query`,
      why: NO_CLIENTS,
    },
    { keys: "wal", why: "rows come from the cluster's log, which NATS keeps" },
    { keys: "storage.shards", why: "`cluster.shards` is the number of all" },
    { keys: "storage.copy_root storage.copy_endpoints", why: NO_CLIENTS },
    { keys: "query.timeout query.plan_cache_size query.rehearsal query.promql", why: "frontends plan and limit queries" },
    { keys: "cluster.consistency", why: "frontends decide what a query sees" },
  ],
};

const WHY: Readonly<Record<Role, ReadonlyMap<string, string>>> = {
  standalone: whyOf("standalone"),
  frontend: whyOf("frontend"),
  datanode: whyOf("datanode"),
};

function whyOf(role: Role): ReadonlyMap<string, string> {
  return new Map(UNUSED[role].flatMap(({ keys, why }) => keys.split(/\s+/).map((key) => [key, why] as const)));
}

/** Why a role has no use for a key; undefined: it has. */
export function whyUnused(role: Role, key: string): string | undefined {
  const parts = key.split(".");
  return parts.map((_, index) => WHY[role].get(parts.slice(0, index + 1).join("."))).find((why) => why !== undefined);
}

/** Entries of the table, for its test: each names a key or a section. */
export const UNUSED_KEYS: readonly string[] = Object.values(WHY).flatMap((why) => [...why.keys()]);

/** Defaults of a role that differ from those of all: frontends of one machine each take a port that is free, and tell it. */
const DEFAULTS: Readonly<Record<Role, ReadonlyMap<string, unknown>>> = {
  standalone: new Map(),
  frontend: new Map([["cluster.bind_addr", { host: "127.0.0.1", port: 0 } satisfies Address]]),
  datanode: new Map(),
};

/** Values of keys that are not set, where a role has others than the knobs. */
export function defaultsOf(role: Role): ReadonlyMap<string, unknown> {
  return DEFAULTS[role];
}

/** Keys that files of the contract have for a role, and ours of the same meaning, which win. Source: contract http.md 1.5, 7.2. */
const ALIASES: Readonly<Record<Role, ReadonlyMap<string, string>>> = {
  standalone: new Map(),
  frontend: new Map([["meta_client.metasrv_addrs", "cluster.servers"]]),
  datanode: new Map([
    ["meta_client.metasrv_addrs", "cluster.servers"],
    ["node_id", "cluster.node_id"],
    ["grpc.bind_addr", "cluster.bind_addr"],
    ["grpc.server_addr", "cluster.advertise_addr"],
  ]),
};

/** The key that a key of the contract means for a role; undefined: it is none of these. */
export function meantKey(role: Role, key: string): string | undefined {
  return ALIASES[role].get(key);
}
