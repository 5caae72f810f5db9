/** Appends of a port: bounded together, each sent once. */
import { APPEND_BYTES_IN_FLIGHT_MAX, APPENDS_IN_FLIGHT_MAX } from "../port/limits.ts";
import { PortError } from "../port/port-error.ts";
import { AppendWaits } from "./append-waits.ts";
import { API_CODE, type ApiError, failureOfAnswer } from "./nats-failure.ts";
import type { NatsLink, RequestOptions } from "./nats-link.ts";
import { streamInfo } from "./streams.ts";

/** Where a message goes. */
export interface AppendTo extends RequestOptions {
  readonly stream: string;
  readonly subject: string;
}

/** See the file header. */
export class Appends {
  readonly messageBytesMax: number;
  private readonly link: NatsLink;
  private inFlight = 0;
  private bytesInFlight = 0;
  private readonly looking = new Map<string, Promise<void>>();
  /** By stream. */
  private readonly waits = new Map<string, AppendWaits>();

  constructor(link: NatsLink, messageBytesMax: number) {
    this.link = link;
    this.messageBytesMax = messageBytesMax;
  }

  /** @returns its number; "refused": the list's last message is another than the headers expect */
  async append(bytes: Uint8Array, to: AppendTo): Promise<number | "refused"> {
    const { what, stream, subject } = to;
    if (bytes.length > this.messageBytesMax) {
      throw new PortError("too-large", `cannot ${what}: ${bytes.length} bytes are more than the ${this.messageBytesMax} of a message`);
    }
    if (this.inFlight >= APPENDS_IN_FLIGHT_MAX || this.bytesInFlight + bytes.length > APPEND_BYTES_IN_FLIGHT_MAX) {
      throw new PortError("unavailable", `cannot ${what}: ${this.inFlight} appends of ${this.bytesInFlight} bytes are under way`);
    }
    this.inFlight++;
    this.bytesInFlight += bytes.length;
    try {
      const answer = await this.answerTo(subject, bytes, to);
      return typeof answer === "number" ? answer : refusal(what, answer);
    } catch (error) {
      if (error instanceof PortError && error.failure === "unavailable") await this.lookFor(stream);
      throw error;
    } finally {
      this.inFlight--;
      this.bytesInFlight -= bytes.length;
    }
  }

  /** @returns its number, or the error that the servers answered */
  private async answerTo(subject: string, bytes: Uint8Array, to: AppendTo): Promise<number | ApiError> {
    const { clock } = this.link;
    const waits = this.waitsOf(to.stream);
    const sentAt = clock.monotonicMillis();
    try {
      const answer = await this.link.publish(subject, bytes, { ...to, waitMillis: waits.next() });
      waits.answered(sentAt);
      return answer;
    } catch (error) {
      if (error instanceof PortError && error.failure === "unknown") waits.unanswered(sentAt);
      throw error;
    }
  }

  private waitsOf(stream: string): AppendWaits {
    let waits = this.waits.get(stream);
    if (waits === undefined) this.waits.set(stream, (waits = new AppendWaits(this.link.clock, this.link.callMillis)));
    return waits;
  }

  /** Nobody listens to a stream without a leader, nor to one that is gone. @throws PortError vanished */
  private async lookFor(stream: string): Promise<void> {
    let look = this.looking.get(stream);
    if (look === undefined) {
      look = streamInfo(this.link, stream).then(() => undefined);
      this.looking.set(stream, look);
      const forget = (): boolean => this.looking.delete(stream);
      look.then(forget, forget);
    }
    try {
      await look;
    } catch (error) {
      if (error instanceof PortError && error.failure === "vanished") throw error;
    }
  }
}

function refusal(what: string, error: ApiError): "refused" {
  const code = error.err_code;
  if (code === API_CODE.wrongLastSequence || code === API_CODE.wrongLastSequenceUnknown) return "refused";
  throw failureOfAnswer(what, error, true);
}
