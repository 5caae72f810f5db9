/** The flags of `varve standalone start`. Source: contract http.md 7.1. */
import type { Flag } from "./flag.ts";

/** A flag of the start command. */
export interface StartFlag extends Flag {
  /** The key it sets. */
  readonly key?: string;
  /** Set on the address of a wire server: its section, which it switches on. */
  readonly server?: "grpc" | "mysql" | "postgres";
  /** Set on a flag of TLS: the key it sets in the section of each wire server whose address is given too. */
  readonly tls?: "tls.mode" | "tls.cert_path" | "tls.key_path" | "tls.watch";
  /** Set on a flag that is accepted but does nothing: why. */
  readonly inert?: string;
}

/** Prefix of environment variables unless `--env-prefix` names another. */
export const ENV_PREFIX_DEFAULT = "GREPTIMEDB_STANDALONE";
/** Second prefix, stronger than the first; not read when `--env-prefix` is given. */
export const ENV_PREFIX_ALIAS = "VARVE";

/** All flags, in the order of the help. */
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
  {
    name: "env-prefix",
    value: "<prefix>",
    help: `Read only <prefix>__* variables (default: ${ENV_PREFIX_DEFAULT}, then ${ENV_PREFIX_ALIAS})`,
  },
  { name: "help", short: "h", help: "Print this text" },
  { name: "version", short: "V", help: "Print the version (--version: with commit and branch)" },
  { name: "log-dir", value: "<dir>", hidden: true, help: "", inert: "log lines go to stderr; redirect them to keep them in files" },
];
