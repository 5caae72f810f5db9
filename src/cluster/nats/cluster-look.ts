/**
 * What a cluster is at the moment, for who only looks: its streams, and its leases to watch. Nothing is made, so a look at the wrong
 * servers leaves no trace.
 */
import type { ClusterPort } from "../port/cluster-port.ts";
import type { Leases } from "../port/leases.ts";
import { MESSAGE_BYTES_MAX } from "../port/limits.ts";
import { Appends } from "./appends.ts";
import { NatsLeases } from "./nats-leases.ts";
import { type LinkOptions, type LinkWorld, NatsLink } from "./nats-link.ts";
import { NatsLog } from "./nats-log.ts";
import { NatsOrdered } from "./nats-ordered.ts";
import type { StreamInfo } from "./streams.ts";

/** A stream as its servers tell it. */
export interface StreamLook {
  readonly name: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly bytes: number;
  /** Most bytes that it takes; -1: no limit. */
  readonly bytesMax: number;
  /** Copies that there should be. */
  readonly replicas: number;
  /** undefined: it has none now, and takes nothing. */
  readonly leader: string | undefined;
  /** Servers with a copy that is not whole: they are away or catch up. */
  readonly behind: readonly string[];
}

/** See the file header. */
export interface ClusterLook {
  /** The server that was asked. */
  readonly server: { readonly name: string; readonly version: string };
  /** By name; none: there is no cluster here. */
  readonly streams: ReadonlyMap<string, StreamLook>;
}

/** More of what servers tell of a stream. */
interface ListedStream extends StreamInfo {
  readonly state: StreamInfo["state"] & { readonly bytes: number };
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly name: string; readonly current?: boolean; readonly offline?: boolean }[];
  };
}

interface StreamPage {
  readonly total: number;
  readonly streams: readonly ListedStream[] | null;
}

/** Streams of Varve; others may share the account. */
const OURS = /^(?:LOG\d+|CATALOG|MANIFEST|LEASE)$/;
/** Pages of streams that are read. Reason: a cluster has at most 1,024 shards; a page has 256. */
const PAGES_MAX = 64;

/** A connection that looks. */
export class ClusterLooker {
  /** To be watched; `look` tells whether there are any. */
  readonly leases: Leases;
  /** To be read and followed, by whoever has a data node's rights. */
  readonly kept: Pick<ClusterPort, "log" | "ordered" | "messageBytesMax">;
  private readonly link: NatsLink;

  private constructor(link: NatsLink, name: string) {
    const appends = new Appends(link, MESSAGE_BYTES_MAX);
    this.link = link;
    this.leases = new NatsLeases(link, appends, name, 1);
    this.kept = { log: new NatsLog(link, appends), ordered: new NatsOrdered(link, appends), messageBytesMax: MESSAGE_BYTES_MAX };
  }

  /** @throws PortError unavailable: nobody can be reached, or nobody lets us in */
  static async open(options: LinkOptions, world: LinkWorld): Promise<ClusterLooker> {
    return new ClusterLooker(await NatsLink.open(options, world), options.name);
  }

  async close(): Promise<void> {
    await this.link.close();
  }

  /** @throws PortError unavailable, denied, closed */
  async look(): Promise<ClusterLook> {
    const { info } = this.link.connection;
    return { server: { name: info?.server_name ?? "", version: info?.version ?? "" }, streams: await this.streams() };
  }

  private async streams(): Promise<ReadonlyMap<string, StreamLook>> {
    const found = new Map<string, StreamLook>();
    let seen = 0;
    for (let page = 0; page < PAGES_MAX; page++) {
      const answer = await this.link.api<StreamPage>("STREAM.LIST", { offset: seen }, { what: "list the streams of NATS" });
      const streams = answer.streams ?? [];
      for (const stream of streams) if (OURS.test(stream.config.name)) found.set(stream.config.name, lookOf(stream));
      seen += streams.length;
      if (streams.length === 0 || seen >= answer.total) break;
    }
    return found;
  }
}

function lookOf({ config, state, cluster }: ListedStream): StreamLook {
  const behind = (cluster?.replicas ?? []).filter(({ current, offline }) => current !== true || offline === true);
  return {
    name: config.name,
    firstNumber: state.first_seq,
    lastNumber: state.last_seq,
    bytes: state.bytes,
    bytesMax: config.max_bytes,
    replicas: config.num_replicas,
    leader: cluster?.leader,
    behind: behind.map(({ name }) => name),
  };
}
