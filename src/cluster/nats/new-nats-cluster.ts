/**
 * `NewCluster` over JetStream. Streams begin with `first_seq`, and each message of a log says which number it expects to follow: an attempt
 * that ended half-way is gone on with, and an answer that was lost is made up for by looking what is there.
 */
import { assert } from "../../base/assert.ts";
import type { FirstNumbers, NewCluster } from "../port/new-cluster.ts";
import type { Ordered } from "../port/ordered.ts";
import { PortError, portFailureOf } from "../port/port-error.ts";
import { Appends } from "./appends.ts";
import { API_CODE, failureOfAnswer } from "./nats-failure.ts";
import { type LinkWorld, NatsLink } from "./nats-link.ts";
import type { NatsOptions } from "./nats-options.ts";
import { NatsOrdered } from "./nats-ordered.ts";
import { messageBytesOf } from "./nats-port.ts";
import { checkServers } from "./server-check.ts";
import { storedMessage } from "./stored-message.ts";
import { logStream, openStreams, type StreamConfig, streamConfigs, type StreamInfo } from "./streams.ts";

/** Times that a message is sent, and what is waited between two, in milliseconds: longer than an election in all. */
const TRIES = 40;
const AGAIN_MILLIS = 500;
const CATALOG = "CATALOG";

/** Connects; nothing is made yet. @throws PortError unavailable, denied */
export async function openNewNatsCluster(options: NatsOptions, world: LinkWorld): Promise<NewCluster> {
  const { servers, credentials, tls, identity, callMillis } = options;
  const link = await NatsLink.open({ servers, credentials, tls, name: identity, callMillis }, world);
  try {
    return new NewNatsCluster(link, options, messageBytesOf(link));
  } catch (error) {
    await link.close();
    throw error;
  }
}

class NewNatsCluster implements NewCluster {
  readonly ordered: Ordered;
  readonly messageBytesMax: number;
  private readonly link: NatsLink;
  private readonly options: NatsOptions;
  private readonly appends: Appends;

  constructor(link: NatsLink, options: NatsOptions, messageBytesMax: number) {
    this.link = link;
    this.options = options;
    this.messageBytesMax = messageBytesMax;
    this.appends = new Appends(link, messageBytesMax);
    this.ordered = new NatsOrdered(link, this.appends);
  }

  async check(first: FirstNumbers): Promise<void> {
    for (const config of this.configsOf(first)) {
      const { name } = config;
      const what = `look at stream ${name}`;
      const info = await this.insist(() => this.link.apiOr<StreamInfo>(`STREAM.INFO.${name}`, undefined, { what }));
      if (!("error" in info)) checkUnused(info, config, lastOf(first, name));
      else if (info.error.err_code !== API_CODE.noStream) throw failureOfAnswer(what, info.error, false);
    }
  }

  async make(first: FirstNumbers): Promise<void> {
    const streams = await this.insist(() => openStreams(this.link, this.configsOf(first)));
    await checkServers(this.link, this.options, streams);
    await this.check(first); // Where somebody made them meanwhile they begin elsewhere.
  }

  async putRecord(shard: number, number: number, record: Uint8Array): Promise<void> {
    const stream = logStream(shard);
    const to = {
      what: `put message ${number} into the log of shard ${shard}`,
      stream,
      subject: `log.${shard}`,
      headers: { "Nats-Expected-Last-Sequence": String(number - 1) },
    };
    const put = await this.insist(() => this.appends.append(record, to));
    if (put === number) return;
    const there = await this.insist(() => storedMessage(this.link, stream, { seq: number, next_by_subj: to.subject }));
    if (there?.number === number && Buffer.from(there.bytes).equals(record)) return;
    throw new PortError("denied", `cannot ${to.what}: ${there === undefined ? "the one before is missing" : "another is there"}`);
  }

  async close(): Promise<void> {
    await this.link.close();
  }

  private configsOf({ logs, catalog }: FirstNumbers): readonly StreamConfig[] {
    assert(logs.length === this.options.shards, "each shard has a log");
    const numbers = new Map(logs.map(({ first }, shard) => [logStream(shard), first] as const)).set(CATALOG, catalog);
    return streamConfigs(this.options).map((config) => {
      const number = numbers.get(config.name) ?? 1;
      return number === 1 ? config : { ...config, first_seq: number };
    });
  }

  /** Calls again where nobody serves, or no answer came: all that is done here may be done twice. */
  private async insist<T>(call: () => Promise<T>): Promise<T> {
    for (let round = 1; ; round++) {
      try {
        return await call();
      } catch (error) {
        const failure = portFailureOf(error);
        if ((failure !== "unavailable" && failure !== "unknown") || round >= TRIES) throw error;
      }
      await this.link.sleep(AGAIN_MILLIS);
    }
  }
}

/** The last message that a stream is to have; undefined: that does not matter. */
function lastOf({ logs }: FirstNumbers, name: string): number | undefined {
  return logs.find((_, shard) => logStream(shard) === name)?.last;
}

/** @throws PortError denied: a cluster has the stream, or it has other messages */
function checkUnused({ config, state }: StreamInfo, { name, first_seq: wanted = 1 }: StreamConfig, last: number | undefined): void {
  if (name === CATALOG && state.last_seq >= Math.max(state.first_seq, 1)) {
    throw new PortError("denied", "there is a cluster here already: its catalogue has changes; an account of NATS has one cluster");
  }
  const first = Math.max(config.first_seq ?? 1, 1);
  const isLonger = last !== undefined && state.last_seq > Math.max(last, first - 1);
  if (first === wanted && !isLonger) return;
  const why = isLonger ? `has message ${state.last_seq}` : `begins with message ${first} instead of ${wanted}`;
  throw new PortError(
    "denied",
    `cannot restore into stream ${name}: it is there already, and ${why}; ` +
      `where it is of no use any more, \`nats stream rm ${name}\`, or take another account`,
  );
}
