/**
 * Messages of a stream as they come, over a consumer that the servers keep for this reader: pulled, so that no more is under way than there
 * is room for.
 *
 * ```
 *   pull (n messages, b bytes) ─► messages … ─► end of the pull (counted, or told: 404, 408, 409) ─► taken by the reader ─► next pull
 * ```
 *
 * The consumer numbers what it delivers. A jump there means that something got lost on the way, and ends the session: its reader begins
 * another one behind what it has. A jump of the stream's numbers alone is a hole in the stream.
 *
 * Source: the wire protocol of JetStream (ADR-13, pull subscribe internals; ADR-15, subjects of acknowledgements).
 */
import { createInbox, type Msg, type Subscription } from "@nats-io/transport-node";
import { FOLLOW_BYTES_MAX, FOLLOW_CHECK_MILLIS, FOLLOW_MESSAGES_MAX } from "../port/limits.ts";
import type { StreamMessage } from "../port/message.ts";
import { LOOK_MILLIS, type NatsLink } from "./nats-link.ts";

/** A message with all that came with it. */
export interface PulledMessage extends StreamMessage {
  readonly subject: string;
  /** When the stream took it, as its servers say it. */
  readonly stamp: string;
  /** A header's first value; "" without it. */
  readonly header: (name: string) => string;
}

/** What a session reads: settings of its consumer. */
export interface PulledFrom {
  readonly stream: string;
  readonly deliver_policy: "by_start_sequence" | "last_per_subject";
  readonly opt_start_seq?: number;
  readonly filter_subject?: string;
  readonly filter_subjects?: readonly string[];
}

/** What comes next: a list, nothing for `FOLLOW_CHECK_MILLIS`, or the session's end. */
export type Pulled = readonly PulledMessage[] | "idle" | "ended";

const PULL_MILLIS = 20_000;
const HEARTBEAT_MILLIS = 500;
/** Heartbeats that may be missing before a pull counts as lost. */
const HEARTBEATS_MISSED_MAX = 4;
/** After which servers forget a consumer that nobody pulls from. */
const INACTIVE_MILLIS = 60_000;
const NANOS_PER_MILLI = 1e6;
const PULL_BYTES: number = FOLLOW_BYTES_MAX / 2;
const PULL_MESSAGES: number = FOLLOW_MESSAGES_MAX / 2;

/**
 * Tokens of `$JS.ACK.<stream>.<consumer>.<delivered>.<stream number>.<consumer number>.<time>.<pending>`; longer ones have two more in
 * front, domain and account.
 */
const ACK_TOKENS = 9;
const STREAM_NUMBER_TOKEN = 5;
const CONSUMER_NUMBER_TOKEN = 6;
const TIME_TOKEN = 7;

/** See the file header. Invariant: at most one pull is under way, and none is begun while messages wait. */
export class PulledMessages {
  /** Messages that were there when it began. */
  readonly pendingAtStart: number;
  private readonly link: NatsLink;
  private readonly from: PulledFrom;
  private readonly consumer: string;
  private readonly subscription: Subscription;
  private readonly inbox: string;
  private readonly dropped: AbortSignal;
  private readonly onDrop = (): void => this.end();
  private queue: PulledMessage[] = [];
  private delivered = 0;
  /** Messages that the pull under way may still bring; 0: there is none. */
  private pullLeft = 0;
  private heardAt: number;
  private hasEnded = false;
  private wake: () => void = () => undefined;

  private constructor(link: NatsLink, from: PulledFrom, consumer: string, pendingAtStart: number) {
    this.link = link;
    this.from = from;
    this.consumer = consumer;
    this.pendingAtStart = pendingAtStart;
    this.heardAt = link.clock.monotonicMillis();
    this.dropped = link.dropped;
    this.dropped.addEventListener("abort", this.onDrop);
    this.inbox = createInbox();
    this.subscription = link.connection.subscribe(this.inbox, {
      callback: (error, message) => {
        if (error === null) this.take(message);
        else this.end();
      },
    });
  }

  /** @throws PortError unavailable, vanished, denied, cancelled, closed */
  static async open(link: NatsLink, from: PulledFrom, signal?: AbortSignal): Promise<PulledMessages> {
    const { stream, ...start } = from;
    const name = `varve-${crypto.randomUUID()}`;
    const config = {
      name,
      ...start,
      ack_policy: "none",
      replay_policy: "instant",
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: INACTIVE_MILLIS * NANOS_PER_MILLI,
    };
    const body = { stream_name: stream, config, action: "create" };
    // One that is made though no answer came is forgotten: whoever asks again asks for another.
    const what = { what: `follow stream ${stream}`, signal, waitMillis: LOOK_MILLIS };
    const filter = from.filter_subject === undefined ? "" : `.${from.filter_subject}`;
    const made = await link.api<{ readonly num_pending?: number }>(`CONSUMER.CREATE.${stream}.${name}${filter}`, body, what);
    return new PulledMessages(link, from, name, made.num_pending ?? 0);
  }

  /** What comes next. After "ended" nothing does. */
  async next(signal?: AbortSignal): Promise<Pulled> {
    if (this.queue.length === 0 && !this.hasEnded) {
      this.pull();
      await this.waitFor(FOLLOW_CHECK_MILLIS, signal);
    }
    if (this.queue.length > 0) return this.taken();
    if (!this.hasEnded && this.link.clock.monotonicMillis() - this.heardAt > HEARTBEATS_MISSED_MAX * HEARTBEAT_MILLIS) this.end();
    return this.hasEnded ? "ended" : "idle";
  }

  /** Ends the session; the servers hear of it if they can. */
  close(): void {
    this.end();
    this.dropped.removeEventListener("abort", this.onDrop);
    this.subscription.unsubscribe();
    const { stream } = this.from;
    // Nobody waits: a consumer that stays is forgotten after a minute.
    void this.link
      .apiOr(`CONSUMER.DELETE.${stream}.${this.consumer}`, undefined, { what: "end a consumer" })
      .catch(() => "forgotten later");
  }

  private taken(): readonly PulledMessage[] {
    const list = this.queue;
    this.queue = [];
    this.pull(); // Comes while the reader works.
    return list;
  }

  private pull(): void {
    if (this.hasEnded || this.pullLeft > 0 || this.queue.length > 0 || this.link.closed.aborted) return;
    this.pullLeft = PULL_MESSAGES;
    this.heardAt = this.link.clock.monotonicMillis();
    const pull = {
      batch: PULL_MESSAGES,
      max_bytes: PULL_BYTES,
      expires: PULL_MILLIS * NANOS_PER_MILLI,
      idle_heartbeat: HEARTBEAT_MILLIS * NANOS_PER_MILLI,
    };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.from.stream}.${this.consumer}`;
    this.link.connection.publish(subject, JSON.stringify(pull), { reply: this.inbox });
  }

  private take(message: Msg): void {
    if (this.hasEnded) return;
    this.heardAt = this.link.clock.monotonicMillis();
    const status = message.headers?.code ?? 0;
    if (status !== 0 && message.subject === this.inbox && message.reply?.startsWith("$JS.ACK.") !== true) return this.hear(status, message);
    const tokens = (message.reply ?? "").split(".");
    const shift = tokens.length > ACK_TOKENS ? 2 : 0;
    const number = Number(tokens[STREAM_NUMBER_TOKEN + shift]);
    if (Number(tokens[CONSUMER_NUMBER_TOKEN + shift]) !== this.delivered + 1) return this.end();
    this.delivered++;
    this.pullLeft--;
    const stamp = tokens[TIME_TOKEN + shift] ?? "";
    this.queue.push({ number, bytes: message.data, subject: message.subject, stamp, header: (name) => message.headers?.get(name) ?? "" });
    this.wake();
  }

  /** Takes what servers say of a pull: it goes on, it is done, or the consumer is of no use any more. */
  private hear(status: number, message: Msg): void {
    if (status === 100) return; // A heartbeat.
    const isDone = status === 404 || status === 408 || (status === 409 && message.headers?.has("Nats-Pending-Messages") === true);
    if (!isDone) return this.end();
    this.pullLeft = 0;
    this.pull();
  }

  private end(): void {
    this.hasEnded = true;
    this.wake();
  }

  private async waitFor(millis: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = (): void => resolve();
    this.wake = end;
    const timer = setTimeout(end, millis);
    signal?.addEventListener("abort", end);
    this.link.closed.addEventListener("abort", end);
    if (signal?.aborted === true || this.link.closed.aborted) resolve();
    await promise;
    this.wake = () => undefined;
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    this.link.closed.removeEventListener("abort", end);
  }
}
