/** What frontends and data nodes need of their settings, beyond what each key says for itself. */
import { hostname } from "node:os";
import { ConfigError } from "./config-error.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import { ROLE_NAMES, type Role } from "./role.ts";
import type { Settings } from "./settings.ts";

/** Most characters of a node's name. Source: `cluster/port/leases.ts`. */
const NAME_CHARACTERS_MAX = 64;

/** The name of this process among the living: as set, else that of the machine, with "-" for what names must not have. */
export function nodeNameOf({ nodeId }: Pick<ClusterSettings, "nodeId">, machine: string = hostname()): string {
  return nodeId ?? (machine.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, NAME_CHARACTERS_MAX) || "node");
}

/** Where others reach a data node or a frontend, `host:port`. @param port the one that it listens on, where the system chose it */
export function advertisedAddressOf({ advertiseAddr, bindAddr }: ClusterSettings, port: number = bindAddr.port): string {
  const { host } = bindAddr;
  return advertiseAddr ?? (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);
}

/** @throws ConfigError where a part of a cluster lacks what it needs, or has two of what there is one of */
export function checkCluster(role: Role, settings: Settings): void {
  if (role === "standalone") return;
  const { cluster } = settings;
  const start = `cannot start ${ROLE_NAMES[role]}`;
  if (cluster.servers.length === 0) {
    throw new ConfigError(`${start} without \`cluster.servers\`: name servers of NATS, such as nats://127.0.0.1:4222`);
  }
  checkNats(cluster, start);
  checkInternal(cluster, role, start);
  if (role === "datanode") checkFiles(settings, start);
}

function checkNats(cluster: ClusterSettings, start: string): void {
  checkUser("cluster.nats.", cluster.natsUser, cluster.natsPassword, start);
  checkUser("cluster.nats.system_", cluster.natsSystemUser, cluster.natsSystemPassword, start);
  checkPair("cluster.nats.tls", cluster.natsCertPath, cluster.natsKeyPath, start);
  const ways = [
    ["cluster.nats.user", cluster.natsUser !== undefined],
    ["cluster.nats.token", cluster.natsToken !== undefined],
    ["cluster.nats.creds_path", cluster.natsCredsPath !== ""],
  ] as const;
  const [first, second] = ways.filter(([, isSet]) => isSet);
  if (first !== undefined && second !== undefined) {
    throw new ConfigError(`${start} with both \`${first[0]}\` and \`${second[0]}\`: NATS takes one`);
  }
  if (cluster.natsSystemUser !== undefined && cluster.natsSystemCredsPath !== "") {
    throw new ConfigError(`${start} with both \`cluster.nats.system_user\` and \`cluster.nats.system_creds_path\`: NATS takes one`);
  }
  if (cluster.natsMonitors.length > 0 || cluster.natsSystemUser !== undefined || cluster.natsSystemCredsPath !== "") return;
  throw new ConfigError(
    `${start} without \`cluster.nats.monitors\` or \`cluster.nats.system_user\`: ` +
      "nothing else says whether the servers of NATS sync what they acknowledge",
  );
}

function checkUser(prefix: string, user: string | undefined, password: string | undefined, start: string): void {
  if ((user === undefined) === (password === undefined)) return;
  const [has, lacks] = user === undefined ? ["password", "user"] : ["user", "password"];
  throw new ConfigError(`${start} with \`${prefix}${has}\` and without \`${prefix}${lacks}\`: they come together`);
}

function checkPair(section: string, cert: string, key: string, start: string): void {
  if ((cert === "") === (key === "")) return;
  const [has, lacks] = cert === "" ? ["key_path", "cert_path"] : ["cert_path", "key_path"];
  throw new ConfigError(`${start} with \`${section}.${has}\` and without \`${section}.${lacks}\`: they come together`);
}

/** Between frontends and data nodes. */
function checkInternal(cluster: ClusterSettings, role: Role, start: string): void {
  const { tlsMode, secret, secretPath, tlsCertPath, tlsKeyPath, tlsCaCertPath } = cluster;
  if (secret !== undefined && secretPath !== "") {
    throw new ConfigError(`${start} with both \`cluster.secret\` and \`cluster.secret_path\`: there is one secret`);
  }
  checkPair("cluster.tls", tlsCertPath, tlsKeyPath, start);
  if (tlsMode !== "disable" && tlsCertPath === "") {
    throw new ConfigError(`${start}: \`cluster.tls.mode\` "${tlsMode}" needs \`cluster.tls.cert_path\` and \`cluster.tls.key_path\``);
  }
  const needsCa = tlsMode === "mutual" || (tlsMode === "require" && role === "frontend");
  if (needsCa && tlsCaCertPath === "") {
    throw new ConfigError(`${start}: \`cluster.tls.mode\` "${tlsMode}" needs \`cluster.tls.ca_cert_path\`: whose certificates count`);
  }
  if (tlsMode !== "mutual" && secret === undefined && secretPath === "") {
    throw new ConfigError(
      `${start} without \`cluster.secret\`: frontends and data nodes know each other by it, unless \`cluster.tls.mode\` is "mutual"`,
    );
  }
  const { host } = cluster.bindAddr;
  if (cluster.advertiseAddr === undefined && (host === "0.0.0.0" || host === "::")) {
    throw new ConfigError(
      `${start}: others cannot reach it at ${host}, where \`cluster.bind_addr\` listens; set \`cluster.advertise_addr\``,
    );
  }
}

/** Of a data node. */
function checkFiles({ storage, cluster }: Settings, start: string): void {
  if (storage.type === "S3" && cluster.sharedDir !== undefined) {
    throw new ConfigError(`${start} with both \`storage.type\` "S3" and \`cluster.shared_dir\`: data files are in one place`);
  }
  if (storage.type !== "S3" && cluster.sharedDir === undefined) {
    throw new ConfigError(
      `${start} with data files of its own, as others take its shards over; set \`storage.type\` "S3", ` +
        "or `cluster.shared_dir` to a folder that all see",
    );
  }
}
