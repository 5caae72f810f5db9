/** What a call of one message came with, where the library does not say it: when it has to end, and the head of its answer. */
import type { Clock } from "../../base/clock.ts";
import { type CallContext, endOf } from "./call.ts";
import type { Exchange, Fields } from "./exchange.ts";

/** What answers are, as the library says it. */
const HEAD: Fields = [["content-type", "application/grpc+proto"]];

/** See the file header. `close` has to be called. */
export class UnaryContext implements CallContext {
  readonly path: string;
  readonly headers: Headers;
  readonly client: string;
  private readonly clock: Clock;
  private readonly head: Fields;
  /** The head, once its method has asked for it. */
  private added: Headers | undefined;
  private readonly ending: AbortController = new AbortController();
  private deadlineMs: number = Number.POSITIVE_INFINITY;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** @param packing how the answer may be packed */
  constructor(path: string, { headers, client }: Pick<Exchange, "headers" | "client">, clock: Clock, packing: string | undefined) {
    this.path = path;
    this.headers = headers;
    this.client = client;
    this.clock = clock;
    this.head = packing === undefined ? HEAD : [...HEAD, ["grpc-encoding", packing]];
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  get answerHeaders(): Headers {
    this.added ??= new Headers(this.head.map(([name, value]) => [name, value]));
    return this.added;
  }

  /** The head of the answer. */
  get answerFields(): Fields {
    return this.added === undefined ? this.head : [...this.added];
  }

  /** Sets its deadline. @param millis 0 or more; undefined: it has none */
  endIn(millis: number | undefined): void {
    if (millis === undefined) return;
    this.deadlineMs = this.clock.monotonicMillis() + millis;
    if (millis <= 0) this.abort(true, undefined);
    else this.timer = setTimeout(() => this.abort(true, undefined), millis);
  }

  /** It has to end before its deadline. @param cause why */
  end(cause: unknown): void {
    this.abort(this.clock.monotonicMillis() >= this.deadlineMs, cause);
  }

  /** It has ended. */
  close(): void {
    clearTimeout(this.timer);
  }

  private abort(isLate: boolean, cause: unknown): void {
    if (!this.ending.signal.aborted) this.ending.abort(endOf(isLate, cause));
  }
}
