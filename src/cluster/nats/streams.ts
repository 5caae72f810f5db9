/**
 * The streams that a cluster lies in, as they must be.
 *
 * | stream     | subjects              | kept                                        | full              |
 * |------------|-----------------------|---------------------------------------------|-------------------|
 * | `LOG<s>`   | `log.<s>`             | until trimmed                               | refuses appends   |
 * | `CATALOG`  | `catalog`             | until trimmed                               | refuses appends   |
 * | `MANIFEST` | `manifest.*`          | until trimmed                               | refuses appends   |
 * | `LEASE`    | `lease.*`, `node.*`   | the last of each subject, for its `Nats-TTL`| never             |
 *
 * All on disk. Servers set `max_bytes` aside when a stream is made, so only logs have one.
 *
 * Nothing is found by `Nats-Msg-Id`: the follower's rule tells doubled records, conditions refuse doubled entries, and both hold for longer
 * than the minutes for which a server would remember ids.
 */
import { PortError } from "../port/port-error.ts";
import { API_CODE, failureOfAnswer } from "./nats-failure.ts";
import { LOOK_MILLIS, type NatsLink } from "./nats-link.ts";
import type { NatsOptions } from "./nats-options.ts";

/** What of a stream's settings matters. */
export interface StreamConfig {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly storage: "file";
  readonly retention: "limits";
  readonly discard: "new" | "old";
  readonly num_replicas: number;
  readonly max_bytes: number;
  readonly max_msgs_per_subject: number;
  readonly allow_direct: boolean;
  /** Single messages cannot be taken out: followers would see a hole. */
  readonly deny_delete: boolean;
  readonly allow_msg_ttl?: boolean;
  readonly subject_delete_marker_ttl?: number;
  /** Number of its first message, where it does not begin with 1: of a cluster that was restored. */
  readonly first_seq?: number;
  /** "async": acknowledged before it is written. */
  readonly persist_mode?: string;
}

/** What servers tell of a stream. */
export interface StreamInfo {
  readonly created: string;
  readonly config: StreamConfig;
  readonly state: { readonly first_seq: number; readonly last_seq: number };
  readonly cluster?: { readonly leader?: string; readonly replicas?: readonly { readonly name: string; readonly current?: boolean }[] };
}

/** Nanoseconds that a subject's end stays known after its lease ended: watchers that are away for longer look at all again. */
const MARKER_NANOS = 60_000_000_000;
/** Streams that are looked at side by side. */
const AT_ONCE = 16;

/** Name of the stream of a shard's log. */
export function logStream(shard: number): string {
  return `LOG${shard}`;
}

function keptSettings(replicas: number): Omit<StreamConfig, "name" | "subjects" | "max_bytes"> {
  return {
    storage: "file",
    retention: "limits",
    discard: "new",
    num_replicas: replicas,
    max_msgs_per_subject: -1,
    allow_direct: false, // A copy that is behind must not answer.
    deny_delete: true,
  };
}

/** Settings of the stream of a shard's log. */
export function logConfig(shard: number, { replicas, logBytesMax }: Pick<NatsOptions, "replicas" | "logBytesMax">): StreamConfig {
  return { ...keptSettings(replicas), name: logStream(shard), subjects: [`log.${shard}`], max_bytes: logBytesMax };
}

/** Settings of all streams of a cluster. */
export function streamConfigs(options: NatsOptions): readonly StreamConfig[] {
  const kept = keptSettings(options.replicas);
  return [
    ...Array.from({ length: options.shards }, (_, shard) => logConfig(shard, options)),
    { ...kept, name: "CATALOG", subjects: ["catalog"], max_bytes: -1 },
    { ...kept, name: "MANIFEST", subjects: ["manifest.*"], max_bytes: -1 },
    {
      ...kept,
      name: "LEASE",
      subjects: ["lease.*", "node.*"],
      discard: "old",
      max_bytes: -1,
      max_msgs_per_subject: 1,
      deny_delete: false,
      allow_msg_ttl: true,
      subject_delete_marker_ttl: MARKER_NANOS,
    },
  ];
}

/**
 * Makes the streams that are not there, and looks at the others.
 *
 * @returns what the servers tell of each
 * @throws PortError denied: one is not as it must be, with the setting and what to do; unavailable
 */
export async function openStreams(link: NatsLink, configs: readonly StreamConfig[]): Promise<readonly StreamInfo[]> {
  const infos: StreamInfo[] = [];
  for (let first = 0; first < configs.length; first += AT_ONCE) {
    const opened = await Promise.allSettled(configs.slice(first, first + AT_ONCE).map((config) => openStream(link, config)));
    for (const one of opened) {
      // The first in order is named, not whose answer came first: who starts twice reads the same.
      if (one.status === "rejected") throw one.reason;
      infos.push(one.value);
    }
  }
  return infos;
}

/** @throws PortError vanished, unavailable */
export async function streamInfo(link: NatsLink, name: string, signal?: AbortSignal): Promise<StreamInfo> {
  return await link.api<StreamInfo>(`STREAM.INFO.${name}`, undefined, { what: `look at stream ${name}`, signal, waitMillis: LOOK_MILLIS });
}

async function openStream(link: NatsLink, config: StreamConfig): Promise<StreamInfo> {
  const { name } = config;
  const found = await link.apiOr<StreamInfo>(`STREAM.INFO.${name}`, undefined, { what: `look at stream ${name}` });
  if (!("error" in found)) return checked(found, config);
  if (found.error.err_code !== API_CODE.noStream) throw failureOfAnswer(`look at stream ${name}`, found.error, false);
  // Of two that make it at once with the same settings both are told that it is there.
  return checked(
    await link.api<StreamInfo>(`STREAM.CREATE.${name}`, config, { what: `make stream ${name} of ${config.max_bytes} bytes` }),
    config,
  );
}

const CHECKED = ["storage", "retention", "discard", "num_replicas", "max_msgs_per_subject", "allow_direct", "allow_msg_ttl"] as const;

/** @throws PortError denied */
function checked(info: StreamInfo, wanted: StreamConfig): StreamInfo {
  for (const key of CHECKED) {
    const [is, must] = [info.config[key], wanted[key] ?? false];
    if ((is ?? false) === must) continue;
    throw new PortError("denied", `cannot use stream ${wanted.name}: its ${key} is ${is}, and must be ${must}; ${remedyOf(key, wanted)}`);
  }
  if ([...info.config.subjects].sort().join() !== [...wanted.subjects].sort().join()) {
    throw new PortError(
      "denied",
      `cannot use stream ${wanted.name}: its subjects are ${info.config.subjects.join()}; another program has it`,
    );
  }
  if (info.config.persist_mode === "async") {
    throw new PortError(
      "denied",
      `cannot use stream ${wanted.name}: its persist_mode is async, which acknowledges before anything is on disk`,
    );
  }
  return info;
}

function remedyOf(key: (typeof CHECKED)[number], { name, num_replicas: replicas }: StreamConfig): string {
  if (key === "num_replicas") return `\`nats stream edit ${name} --replicas ${replicas}\`, or configure the number that it has`;
  return `change it with \`nats stream edit ${name}\`, or let a new cluster make its own`;
}
