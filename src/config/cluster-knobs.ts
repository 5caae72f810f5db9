/** The knobs of `[cluster]`: the second half of `knobs.ts`, for frontends and data nodes. */
import { byteLength, durationMillis } from "../base/units.ts";
import { address } from "./address.ts";
import { clusterSecret, hostAndPort, natsMonitors, natsServers, natsWord, nodeId } from "./cluster-kinds.ts";
import type { ClusterSettings } from "./cluster-settings.ts";
import { bool, choice, duration, filePath, int, type Kind, optional, size, text } from "./kind.ts";
import type { Knob } from "./knob.ts";

const MIB: number = 1024 * 1024;
const GIB: number = 1024 * MIB;
const SECOND_MS = 1000;

/** Copies that a majority can be had of. */
const replicas: Kind<number> = withReason(int(1, 5), "1, 3 or 5", (value) =>
  value % 2 === 0 ? "half of them are no majority" : undefined,
);

/** Servers of NATS count leases in seconds. */
const leaseTime = withReason(duration(SECOND_MS, 60 * SECOND_MS), 'whole seconds such as "3s", from 1s to 1m', (value) =>
  value % SECOND_MS === 0 ? undefined : "it is no whole number of seconds",
);

const folder: Kind<string> = text("a path", (value) => {
  if (value.trim() === "") return "it is empty";
  return value.includes("\0") ? "it holds a NUL character" : undefined;
});

/** A kind that refuses some more. */
function withReason<T>(kind: Kind<T>, want: string, refusal: (value: T) => string | undefined): Kind<T> {
  const checked = (read: ReturnType<Kind<T>["fromText"]>): typeof read => {
    const reason = read.ok ? refusal(read.value) : undefined;
    return reason === undefined ? read : { ok: false, reason };
  };
  return { ...kind, want, fromToml: (value) => checked(kind.fromToml(value)), fromText: (value) => checked(kind.fromText(value)) };
}

/** Every knob of the section, by field. */
export const CLUSTER_KNOBS: { readonly [F in keyof ClusterSettings]: Knob<ClusterSettings[F]> } = {
  servers: {
    key: "cluster.servers",
    kind: natsServers,
    default: [],
    reason:
      "Servers of NATS JetStream, such as nats://10.0.0.1:4222, by which the machines of a cluster agree; one that answers tells of the " +
      "others. Empty: this process is no part of a cluster.",
  },
  nodeId: {
    key: "cluster.node_id",
    kind: optional(nodeId),
    default: undefined,
    example: "node-1",
    reason:
      "Names a data node among the living, or a frontend among those: no two at a time may have one. Unset: the machine's name, so that " +
      "of two frontends on one machine each needs one.",
  },
  shards: {
    key: "cluster.shards",
    kind: int(1, 1024),
    default: 16,
    reason:
      "Parts of all tables, each with a log and an owner; for ever the number that the cluster was made with. About four a data node " +
      "planned: more cost the log's disks a sync each.",
  },
  replicas: {
    key: "cluster.replicas",
    kind: replicas,
    default: 3,
    reason: "Copies of each stream of NATS. With 3 one server may be lost at any time; 1 is for one server, whose disk is all there is.",
  },
  logBytesMax: {
    key: "cluster.log_size",
    kind: size(64 * MIB, 1024 * GIB),
    default: byteLength(GIB),
    reason:
      "Room of a shard's log, which servers set aside; beyond it writes are told to come back. A flush empties it: this is for times " +
      "when nobody owns the shard, or the store is away.",
  },
  leaseMs: {
    key: "cluster.lease_time",
    kind: leaseTime,
    default: durationMillis(3 * SECOND_MS),
    reason: "How long a data node that is silent keeps its shards: others take them over then. Shorter ones are lost to elections of NATS.",
  },
  callMs: {
    key: "cluster.call_timeout",
    kind: duration(SECOND_MS, 10 * 60 * SECOND_MS),
    default: durationMillis(10 * SECOND_MS),
    reason:
      "Longest wait for an answer of NATS: longer than an election, which takes up to 9 s. Appends wait for 3 s, and longer " +
      "where they have to be made again.",
  },
  consistency: {
    key: "cluster.consistency",
    kind: choice("all", "session"),
    default: "all",
    reason:
      "all: a query sees what any frontend acknowledged before it, for half a millisecond more. session: what its own frontend " +
      "acknowledged; rows of others may be some milliseconds late.",
  },
  bindAddr: {
    key: "cluster.bind_addr",
    kind: address,
    default: { host: "127.0.0.1", port: 3001 },
    reason:
      "Where a data node, or a frontend, listens for frontends. It is for machines of the cluster alone. Unset at a frontend: at a port " +
      "of 127.0.0.1 that is free; others must reach it for SHOW PROCESSLIST and KILL.",
  },
  advertiseAddr: {
    key: "cluster.advertise_addr",
    kind: optional(hostAndPort),
    default: undefined,
    example: "node-1.varve:3001",
    reason: "Where others reach a data node or a frontend. Unset: at cluster.bind_addr, which then must be an address of one network card.",
  },
  sharedDir: {
    key: "cluster.shared_dir",
    kind: optional(folder),
    default: undefined,
    example: "/mnt/varve",
    reason: "Folder of data files that all data nodes see, in the place of an S3 store: for one machine, or a network's file system.",
  },
  secret: {
    key: "cluster.secret",
    kind: optional(clusterSecret),
    default: undefined,
    example: "3q2-7wAAAAC8uQ4xV0pJ",
    secret: true,
    reason:
      "What frontends and data nodes know each other by; the same for all. It is never shown, and VARVE__CLUSTER__SECRET keeps it out of " +
      "the file.",
  },
  secretPath: {
    key: "cluster.secret_path",
    kind: filePath,
    default: "",
    reason: "A file that holds the secret, read at the start, in the place of cluster.secret.",
  },
  tlsMode: {
    key: "cluster.tls.mode",
    kind: choice("disable", "require", "mutual"),
    default: "disable",
    reason: "Between frontends and data nodes. require: who listens shows a certificate. mutual: both sides do, and no secret is needed.",
  },
  tlsCertPath: {
    key: "cluster.tls.cert_path",
    kind: filePath,
    default: "",
    reason: "This machine's certificate, and those that signed it, as PEM.",
  },
  tlsKeyPath: { key: "cluster.tls.key_path", kind: filePath, default: "", reason: "The certificate's private key, as PEM." },
  tlsCaCertPath: {
    key: "cluster.tls.ca_cert_path",
    kind: filePath,
    default: "",
    reason: "Whose signature makes a certificate of the cluster, as PEM. Frontends need it with TLS; data nodes with mutual.",
  },
  tlsWatch: {
    key: "cluster.tls.watch",
    kind: bool,
    default: false,
    reason: "true: connections made after the three files changed have the new certificates. SIGHUP does that, too.",
  },
  natsUser: {
    key: "cluster.nats.user",
    kind: optional(natsWord),
    default: undefined,
    example: "varve-frontend",
    reason: "Who signs in at NATS. Frontends and data nodes should be two users, whose permissions differ (docs/cluster.md).",
  },
  natsPassword: {
    key: "cluster.nats.password",
    kind: optional(natsWord),
    default: undefined,
    example: "secret",
    secret: true,
    reason: "The user's password. It is never shown.",
  },
  natsToken: {
    key: "cluster.nats.token",
    kind: optional(natsWord),
    default: undefined,
    example: "secret",
    secret: true,
    reason: "In the place of user and password. It is never shown.",
  },
  natsCredsPath: {
    key: "cluster.nats.creds_path",
    kind: filePath,
    default: "",
    reason: "A .creds file, with a JWT and its seed, in the place of user and password.",
  },
  natsCaCertPath: {
    key: "cluster.nats.tls.ca_cert_path",
    kind: filePath,
    default: "",
    reason: "Whose signature makes a certificate of a NATS server, as PEM. Empty: those that the machine trusts.",
  },
  natsCertPath: {
    key: "cluster.nats.tls.cert_path",
    kind: filePath,
    default: "",
    reason: "The certificate that is shown to NATS, as PEM; empty: none.",
  },
  natsKeyPath: { key: "cluster.nats.tls.key_path", kind: filePath, default: "", reason: "That certificate's private key, as PEM." },
  natsMonitors: {
    key: "cluster.nats.monitors",
    kind: natsMonitors,
    default: [],
    reason:
      "Monitoring of the NATS servers, one address for each, such as http://10.0.0.1:8222: only there, or over the system account, they " +
      "say whether they sync each message. Asked at the start.",
  },
  natsSystemUser: {
    key: "cluster.nats.system_user",
    kind: optional(natsWord),
    default: undefined,
    example: "sys",
    reason: "A user of the system account, in the place of cluster.nats.monitors.",
  },
  natsSystemPassword: {
    key: "cluster.nats.system_password",
    kind: optional(natsWord),
    default: undefined,
    example: "secret",
    secret: true,
    reason: "Its password. It is never shown.",
  },
  natsSystemCredsPath: {
    key: "cluster.nats.system_creds_path",
    kind: filePath,
    default: "",
    reason: "A .creds file of the system account, in the place of both.",
  },
};
