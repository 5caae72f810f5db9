/** The port over NATS JetStream: opened once a process, over one connection. */
import { assert } from "../../base/assert.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { Leases } from "../port/leases.ts";
import { MESSAGE_BYTES_MAX } from "../port/limits.ts";
import type { LogService } from "../port/log-service.ts";
import type { Ordered } from "../port/ordered.ts";
import { PortError } from "../port/port-error.ts";
import { Appends } from "./appends.ts";
import { NatsLeases } from "./nats-leases.ts";
import { type LinkWorld, NatsLink } from "./nats-link.ts";
import { NatsLog } from "./nats-log.ts";
import { NatsOrdered } from "./nats-ordered.ts";
import type { NatsOptions } from "./nats-options.ts";
import { checkServers } from "./server-check.ts";
import { logConfig, openStreams, streamConfigs } from "./streams.ts";

/** What headers take of a server's `max_payload`: two conditions, a TTL, a trace. */
const HEADER_BYTES = 512;
/** Least that a server must take, in bytes: values of leases with their frame. */
const PAYLOAD_BYTES_MIN: number = 256 * 1024;

/**
 * Connects, makes the cluster's streams where they are not there yet, and looks whether the servers and streams are as they must be.
 *
 * @throws PortError unavailable: nobody answers; denied: something is not as it must be, which the message names with what to do
 */
export async function openNatsPort(options: NatsOptions, world: LinkWorld): Promise<ClusterPort> {
  assert(Number.isInteger(options.leaseSeconds) && options.leaseSeconds >= 1, "leases last whole seconds");
  const { servers, credentials, tls, identity, callMillis } = options;
  const link = await NatsLink.open({ servers, credentials, tls, name: identity, callMillis }, world);
  try {
    const messageBytesMax = messageBytesOf(link);
    const streams = await openStreams(link, streamConfigs(options));
    await checkServers(link, options, streams);
    return new NatsPort(link, options, messageBytesMax);
  } catch (error) {
    await link.close();
    throw error;
  }
}

/** Most bytes of a message to these servers. @throws PortError denied: they take too few */
export function messageBytesOf(link: NatsLink): number {
  const payload = link.connection.info?.max_payload ?? 0;
  if (payload < PAYLOAD_BYTES_MIN) {
    throw new PortError("denied", `cannot use NATS: its max_payload is ${payload} bytes, and must be ${PAYLOAD_BYTES_MIN} or more`);
  }
  return Math.min(payload - HEADER_BYTES, MESSAGE_BYTES_MAX);
}

class NatsPort implements ClusterPort {
  readonly log: LogService;
  readonly leases: Leases;
  readonly ordered: Ordered;
  readonly identity: string;
  readonly messageBytesMax: number;
  private readonly link: NatsLink;

  constructor(link: NatsLink, options: NatsOptions, messageBytesMax: number) {
    const { identity, leaseSeconds } = options;
    const appends = new Appends(link, messageBytesMax);
    this.link = link;
    this.identity = identity;
    this.messageBytesMax = messageBytesMax;
    this.log = new NatsLog(link, appends, (shard) => logConfig(shard, options));
    this.leases = new NatsLeases(link, appends, identity, leaseSeconds);
    this.ordered = new NatsOrdered(link, appends);
  }

  async close(): Promise<void> {
    await this.link.close();
  }
}
