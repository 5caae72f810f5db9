/** `LogService` over JetStream: stream `LOG<s>` with subject `log.<s>` for each shard. */
import { assert } from "../../base/assert.ts";
import { PortError, wentBack } from "../port/port-error.ts";
import type { LogService } from "../port/log-service.ts";
import type { CallOptions, StreamMessage } from "../port/message.ts";
import type { Appends } from "./appends.ts";
import { followStream } from "./follow-stream.ts";
import { API_CODE, failureOfAnswer } from "./nats-failure.ts";
import type { NatsLink } from "./nats-link.ts";
import { logStream, type StreamConfig, streamInfo } from "./streams.ts";

/** A new leader may know a little less than the one before, for so long. */
const BEHIND_MILLIS = 1500;

/** See the file header. */
export class NatsLog implements LogService {
  private readonly link: NatsLink;
  private readonly appends: Appends;
  private readonly configOf: ((shard: number) => StreamConfig) | undefined;
  /** Highest number of each shard that was answered. */
  private readonly known = new Map<number, number>();

  /** @param configOf settings of a shard's stream; absent: this connection only looks, and makes none */
  constructor(link: NatsLink, appends: Appends, configOf?: (shard: number) => StreamConfig) {
    this.link = link;
    this.appends = appends;
    this.configOf = configOf;
  }

  async append(shard: number, record: Uint8Array, { signal }: CallOptions = {}): Promise<number> {
    const floor = this.known.get(shard) ?? 0;
    const stream = logStream(shard);
    const to = { what: `append to the log of shard ${shard}`, stream, subject: `log.${shard}`, signal };
    const number = await this.appends.append(record, to);
    assert(number !== "refused", "an append without a condition is not refused for one");
    if (number > floor) return this.noted(shard, number);
    this.known.set(shard, number); // From here on the stream is what it is now.
    throw wentBack(stream, number, floor);
  }

  async last(shard: number, { signal }: CallOptions = {}): Promise<number> {
    const floor = this.known.get(shard) ?? 0;
    const stream = logStream(shard);
    let last = (await streamInfo(this.link, stream, signal)).state.last_seq;
    if (last < floor) {
      await this.link.sleep(BEHIND_MILLIS, signal);
      last = (await streamInfo(this.link, stream, signal)).state.last_seq;
    }
    if (last >= floor) return this.noted(shard, last);
    this.known.set(shard, last);
    throw wentBack(stream, last, floor);
  }

  follow(shard: number, after: number, { signal }: CallOptions = {}): AsyncIterable<readonly StreamMessage[]> {
    return followStream(after, { link: this.link, stream: logStream(shard), subject: `log.${shard}`, isDense: true, signal });
  }

  async trim(shard: number, through: number, { signal }: CallOptions = {}): Promise<void> {
    const stream = logStream(shard);
    const what = { what: `trim the log of shard ${shard} up to ${through}`, signal };
    await this.link.api(`STREAM.PURGE.${stream}`, { seq: through + 1 }, what);
  }

  async lift(shard: number, through: number, { signal }: CallOptions = {}): Promise<void> {
    const what = `let the log of shard ${shard} go on behind ${through}`;
    const config = this.configOf?.(shard);
    if (config === undefined) throw new PortError("denied", `cannot ${what}: this connection only looks`);
    const first = through + 1;
    const purged = await this.link.apiOr(`STREAM.PURGE.${config.name}`, { seq: first }, { what, signal });
    if ("error" in purged) {
      if (purged.error.err_code !== API_CODE.noStream) throw failureOfAnswer(what, purged.error, false);
      await this.link.api(`STREAM.CREATE.${config.name}`, { ...config, first_seq: first }, { what, signal });
    }
    this.known.set(shard, Math.max(through, this.known.get(shard) ?? 0));
  }

  private noted(shard: number, number: number): number {
    this.known.set(shard, Math.max(number, this.known.get(shard) ?? 0));
    return number;
  }
}
