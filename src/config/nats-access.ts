/** What a cluster's settings say of NATS and of the listener between machines, with the files that they name read. */
import { CONFIG_FILE_BYTES_MAX } from "../base/limits.ts";
import { ConfigError } from "./config-error.ts";
import { clusterSecret } from "./cluster-kinds.ts";
import type { ClusterSettings, ClusterTlsMode } from "./cluster-settings.ts";
import { fileReason, type ReadFile } from "./file-layer.ts";

/** Who signs in at NATS, and how. */
type Credentials =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "creds"; readonly content: string };

/** Certificates as PEM. */
interface Pems {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** What the port over NATS is opened with, but for the name of who opens it: the rest of `NatsOptions` of `cluster/nats`. */
export interface NatsAccess {
  readonly servers: readonly string[];
  readonly credentials: Credentials;
  readonly tls: Pems | undefined;
  readonly checks: { readonly system: Credentials | undefined; readonly monitors: readonly string[] };
  readonly shards: number;
  readonly replicas: number;
  readonly logBytesMax: number;
  readonly leaseSeconds: number;
  readonly callMillis: number;
}

/** How frontends and data nodes talk. */
export interface InternalAccess {
  /** undefined: certificates of both sides say who they are. */
  readonly secret: string | undefined;
  readonly tlsMode: ClusterTlsMode;
  readonly tls: Pems;
}

/** @throws ConfigError: a file is missing or unreadable; none is quoted */
export function natsAccessOf(cluster: ClusterSettings, readFile: ReadFile): NatsAccess {
  const { servers, shards, replicas, logBytesMax, leaseMs, callMs } = cluster;
  const tls = {
    ca: textOf("cluster.nats.tls.ca_cert_path", cluster.natsCaCertPath, readFile),
    cert: textOf("cluster.nats.tls.cert_path", cluster.natsCertPath, readFile),
    key: textOf("cluster.nats.tls.key_path", cluster.natsKeyPath, readFile),
  };
  const isPlain = tls.ca === undefined && tls.cert === undefined && !servers.some((server) => server.startsWith("tls://"));
  return {
    servers,
    credentials: credentialsOf(cluster, readFile),
    tls: isPlain ? undefined : tls,
    checks: { system: systemOf(cluster, readFile), monitors: cluster.natsMonitors },
    shards,
    replicas,
    logBytesMax,
    leaseSeconds: leaseMs / 1000,
    callMillis: callMs,
  };
}

/** @throws ConfigError as `natsAccessOf`, or a file holds no secret */
export function internalAccessOf(cluster: ClusterSettings, readFile: ReadFile): InternalAccess {
  return {
    secret: secretOf(cluster, readFile),
    tlsMode: cluster.tlsMode,
    tls: internalTlsOf(cluster, readFile),
  };
}

/** Certificates between frontends and data nodes. @throws ConfigError as `natsAccessOf` */
export function internalTlsOf(cluster: ClusterSettings, readFile: ReadFile): Pems {
  return {
    ca: textOf("cluster.tls.ca_cert_path", cluster.tlsCaCertPath, readFile),
    cert: textOf("cluster.tls.cert_path", cluster.tlsCertPath, readFile),
    key: textOf("cluster.tls.key_path", cluster.tlsKeyPath, readFile),
  };
}

function secretOf({ secret, secretPath }: ClusterSettings, readFile: ReadFile): string | undefined {
  const text = textOf("cluster.secret_path", secretPath, readFile)?.trim();
  if (text === undefined) return secret;
  const read = clusterSecret.fromText(text);
  if (!read.ok) throw new ConfigError(`cannot use ${secretPath}, which \`cluster.secret_path\` names: ${read.reason}`);
  return read.value;
}

function credentialsOf(cluster: ClusterSettings, readFile: ReadFile): Credentials {
  const { natsUser: user, natsPassword: password, natsToken: token } = cluster;
  if (user !== undefined && password !== undefined) return { kind: "password", user, password };
  if (token !== undefined) return { kind: "token", token };
  const content = textOf("cluster.nats.creds_path", cluster.natsCredsPath, readFile);
  return content === undefined ? { kind: "none" } : { kind: "creds", content };
}

function systemOf(cluster: ClusterSettings, readFile: ReadFile): Credentials | undefined {
  const { natsSystemUser: user, natsSystemPassword: password } = cluster;
  if (user !== undefined && password !== undefined) return { kind: "password", user, password };
  const content = textOf("cluster.nats.system_creds_path", cluster.natsSystemCredsPath, readFile);
  return content === undefined ? undefined : { kind: "creds", content };
}

/** The text of a file that a key names; undefined: it names none. @throws ConfigError */
function textOf(key: string, path: string, readFile: ReadFile): string | undefined {
  if (path === "") return undefined;
  let bytes: Uint8Array;
  try {
    bytes = readFile(path);
  } catch (cause) {
    throw new ConfigError(`cannot read ${path}, which \`${key}\` names: ${fileReason(cause)}`, undefined, { cause });
  }
  if (bytes.length > CONFIG_FILE_BYTES_MAX) {
    throw new ConfigError(`cannot read ${path}, which \`${key}\` names: it is larger than ${CONFIG_FILE_BYTES_MAX} bytes`);
  }
  return new TextDecoder().decode(bytes);
}
