/** `Ordered` over JetStream: stream `CATALOG`, and one subject of stream `MANIFEST` for each shard. */
import type { CallOptions, StreamMessage } from "../port/message.ts";
import type { Ordered, OrderedName } from "../port/ordered.ts";
import type { Appends } from "./appends.ts";
import { portFailureOf, trimmed, wentBack } from "../port/port-error.ts";
import { followStream } from "./follow-stream.ts";
import { PulledMessages } from "./pulled-messages.ts";
import { storedMessage } from "./stored-message.ts";
import type { NatsLink } from "./nats-link.ts";

/** A new leader may know a little less than the one before, for so long. */
const BEHIND_MILLIS = 1500;

/** See the file header. */
export class NatsOrdered implements Ordered {
  private readonly link: NatsLink;
  private readonly appends: Appends;

  constructor(link: NatsLink, appends: Appends) {
    this.link = link;
    this.appends = appends;
  }

  async append(name: OrderedName, entry: Uint8Array, last: number, { signal }: CallOptions = {}): Promise<number | "refused"> {
    const expected = name === "catalog" ? "Nats-Expected-Last-Sequence" : "Nats-Expected-Last-Subject-Sequence";
    const to = { what: `append to ${name}`, stream: streamOf(name), subject: name, headers: { [expected]: String(last) }, signal };
    return await this.appends.append(entry, to);
  }

  async read(name: OrderedName, after: number, { signal }: CallOptions = {}): Promise<readonly StreamMessage[]> {
    const found: StreamMessage[] = [];
    const last = (await storedMessage(this.link, streamOf(name), { last_by_subj: name }, signal))?.number ?? 0;
    // Mostly nothing is new, or one entry.
    if (after > 0 && last === after) return found;
    for (let at = after; at < last; at = found.at(-1)?.number ?? last) {
      const next = await storedMessage(this.link, streamOf(name), { seq: at + 1, next_by_subj: name }, signal);
      if (next === undefined) break;
      found.push({ number: next.number, bytes: next.bytes });
      if (next.number < last && found.length === 1) found.push(...(await this.pulled(name, next.number, last, signal)));
    }
    const first = found[0]?.number;
    if (first === undefined) await this.checkLast(name, after, signal);
    else if (name === "catalog" && after > 0 && first > after + 1) throw trimmed("CATALOG", after + 1, first);
    return found;
  }

  follow(name: OrderedName, after: number, { signal }: CallOptions = {}): AsyncIterable<readonly StreamMessage[]> {
    const isDense = name === "catalog";
    return followStream(after, { link: this.link, stream: streamOf(name), subject: name, isDense, signal });
  }

  async trim(name: OrderedName, number: number, { signal }: CallOptions = {}): Promise<void> {
    const stream = streamOf(name);
    const last = await storedMessage(this.link, stream, { last_by_subj: name }, signal);
    if (last === undefined) return;
    // Up to the last of this moment: later ones have higher numbers.
    const below = Math.min(number, last.number);
    await this.link.api(`STREAM.PURGE.${stream}`, { filter: name, seq: below }, { what: `trim ${name} below ${number}`, signal });
  }

  /**
   * Entries above `after` up to `last`, as a consumer brings them: a manifest has up to some two hundred, which would be a question each.
   * Where the consumer brings less, for want of a leader, the rest is asked for.
   */
  private async pulled(name: OrderedName, after: number, last: number, signal?: AbortSignal): Promise<readonly StreamMessage[]> {
    const found: StreamMessage[] = [];
    const from = { stream: streamOf(name), deliver_policy: "by_start_sequence", opt_start_seq: after + 1, filter_subject: name } as const;
    let session: PulledMessages | undefined;
    try {
      session = await PulledMessages.open(this.link, from, signal);
      while ((found.at(-1)?.number ?? after) < last) {
        const pulled = await session.next(signal);
        if (pulled === "idle" || pulled === "ended") break;
        for (const { number, bytes } of pulled) found.push({ number, bytes });
      }
    } catch (error) {
      if (portFailureOf(error) !== "unavailable") throw error;
    } finally {
      session?.close();
    }
    return found;
  }

  /** @throws PortError went-back: the list ends before an entry that was there */
  private async checkLast(name: OrderedName, after: number, signal?: AbortSignal): Promise<void> {
    for (let round = 0; ; round++) {
      const last = await storedMessage(this.link, streamOf(name), { last_by_subj: name }, signal);
      if ((last?.number ?? 0) >= after) return;
      if (round > 0) throw wentBack(streamOf(name), last?.number ?? 0, after);
      await this.link.sleep(BEHIND_MILLIS, signal);
    }
  }
}

function streamOf(name: OrderedName): string {
  return name === "catalog" ? "CATALOG" : "MANIFEST";
}
