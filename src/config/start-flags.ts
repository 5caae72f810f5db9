/** The flags of `varve standalone start`, `frontend start` and `datanode start`. Source: contract http.md 7.1, 7.2. */
import type { Flag } from "./flag.ts";
import { ENV_PREFIXES, type Role } from "./role.ts";

/** A flag of the start command. */
export interface StartFlag extends Flag {
  /** The key it sets. */
  readonly key?: string;
  /** Set on the address of a wire server: its section, which it switches on. */
  readonly server?: "grpc" | "mysql" | "postgres";
  /** Of a number that the key takes with its unit. */
  readonly unit?: "s";
  /** Set on a flag of TLS: the key it sets in the section of each wire server whose address is given too. */
  readonly tls?: "tls.mode" | "tls.cert_path" | "tls.key_path" | "tls.watch";
  /** Set on a flag that is accepted but does nothing: why. */
  readonly inert?: string;
}

/** Second prefix of environment variables, stronger than that of the role; not read when `--env-prefix` is given. */
export const ENV_PREFIX_ALIAS = "VARVE";

/** The flag that names another prefix. A declaration, as the list below calls it. */
function envPrefix(role: Role): StartFlag {
  const help = `Read only <prefix>__* variables (default: ${ENV_PREFIXES[role]}, then ${ENV_PREFIX_ALIAS})`;
  return { name: "env-prefix", value: "<prefix>", help };
}

/** All flags of a standalone server, in the order of the help. */
export const START_FLAGS: readonly StartFlag[] = [
  { name: "http-addr", value: "<ip:port>", key: "http.addr", help: "Listen here for HTTP" },
  {
    name: "grpc-bind-addr",
    aliases: ["rpc-bind-addr", "rpc-addr"],
    value: "<ip:port>",
    key: "grpc.bind_addr",
    server: "grpc",
    help: "Listen here for gRPC",
  },
  { name: "mysql-addr", value: "<ip:port>", key: "mysql.addr", server: "mysql", help: "Listen here for MySQL" },
  { name: "postgres-addr", value: "<ip:port>", key: "postgres.addr", server: "postgres", help: "Listen here for PostgreSQL" },
  {
    name: "tls-mode",
    value: "<mode>",
    tls: "tls.mode",
    help: "disable, prefer, require: of the servers whose address is given by a flag (not HTTP)",
  },
  { name: "tls-cert-path", value: "<file>", tls: "tls.cert_path", help: "Their certificate, as PEM" },
  { name: "tls-key-path", value: "<file>", tls: "tls.key_path", help: "Its key, as PEM" },
  { name: "tls-watch", tls: "tls.watch", help: "Read both again when they change" },
  { name: "data-home", value: "<dir>", key: "storage.data_home", help: "Keep everything in this folder" },
  { name: "config-file", short: "c", value: "<file>", help: "Read settings from this TOML file" },
  {
    name: "user-provider",
    value: "<provider>",
    key: "user_provider",
    secret: true,
    help: "Accounts: static_user_provider:file:<path>, watch_file_user_provider:<path> or static_user_provider:cmd:<user>=<password>",
  },
  { name: "log-level", value: "<filter>", key: "logging.level", help: 'off, error, warn, info, debug, trace, or "info,wal=debug"' },
  { name: "influxdb-enable", short: "i", key: "influxdb.enable", help: "Switch the line protocol routes on (they are on by default)" },
  envPrefix("standalone"),
  { name: "help", short: "h", help: "Print this text" },
  { name: "version", short: "V", help: "Print the version (--version: with commit and branch)" },
  { name: "log-dir", value: "<dir>", hidden: true, help: "", inert: "log lines go to stderr; redirect them to keep them in files" },
];

/** Names servers of NATS; the contract's word for those that a cluster agrees by. */
const METASRV: StartFlag = {
  name: "metasrv-addrs",
  aliases: ["metasrv-addr", "servers"],
  value: "<nats://host:port,…>",
  key: "cluster.servers",
  help: "Servers of NATS, separated by commas",
};

const SERVER_ADDRESS: StartFlag = {
  name: "grpc-server-addr",
  aliases: ["rpc-server-addr", "rpc-hostname"],
  value: "<host:port>",
  help: "",
  hidden: true,
  inert: "nobody asks a frontend but clients, who know its address",
};

const INTERNAL: readonly StartFlag[] = (
  [
    ["internal-grpc-bind-addr", "internal-rpc-bind-addr"],
    ["internal-grpc-server-addr", "internal-rpc-server-addr"],
  ] as const
).map(([name, alias]) => ({
  name,
  aliases: [alias],
  value: "<ip:port>",
  help: "",
  hidden: true,
  inert: "nobody asks a frontend but clients",
}));

/** What is the same for all roles. */
function common(role: Role): readonly StartFlag[] {
  const shared = ["data-home", "config-file", "log-level"];
  const last = ["help", "version", "log-dir"];
  const named = (names: readonly string[]): StartFlag[] => START_FLAGS.filter(({ name }) => names.includes(name));
  return [...named(shared), envPrefix(role), ...named(last)];
}

/** Flags of the servers for clients, with the frontend's own forms of them. */
function ofClients(): readonly StartFlag[] {
  const own = ["data-home", "config-file", "log-level", "env-prefix", "help", "version", "log-dir", "influxdb-enable"];
  return START_FLAGS.filter(({ name }) => !own.includes(name));
}

/** All flags of a role, in the order of its help. */
export const FLAGS_OF: Readonly<Record<Role, readonly StartFlag[]>> = {
  standalone: START_FLAGS,
  frontend: [
    METASRV,
    ...ofClients(),
    { name: "influxdb-enable", value: "<true|false>", key: "influxdb.enable", help: "Whether line protocol is taken" },
    { name: "http-timeout", value: "<seconds>", key: "http.timeout", unit: "s", help: "Limit of a request; 0: none" },
    ...common("frontend"),
    SERVER_ADDRESS,
    ...INTERNAL,
  ],
  datanode: [
    METASRV,
    { name: "node-id", value: "<name>", key: "cluster.node_id", help: "Name among the data nodes (default: the machine's)" },
    {
      name: "rpc-bind-addr",
      aliases: ["grpc-bind-addr", "rpc-addr"],
      value: "<ip:port>",
      key: "cluster.bind_addr",
      help: "Listen here for the cluster",
    },
    {
      name: "rpc-server-addr",
      aliases: ["grpc-server-addr", "rpc-hostname"],
      value: "<host:port>",
      key: "cluster.advertise_addr",
      help: "Where others reach that (default: there)",
    },
    ...common("datanode"),
    { name: "http-addr", value: "<ip:port>", hidden: true, help: "", inert: "a data node has one listener, --rpc-bind-addr" },
    { name: "http-timeout", value: "<seconds>", hidden: true, help: "", inert: "clients talk to frontends" },
    { name: "wal-dir", value: "<dir>", hidden: true, help: "", inert: "rows come from the cluster's log, which NATS keeps" },
  ],
};
