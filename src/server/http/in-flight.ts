/**
 * Bounds the bytes of request bodies that are being worked on (contract http.md 6.3), as sent and as they unfold.
 *
 *   acquire (Content-Length, before a byte is read) ─► resize (chunks come in, a compressed body unfolds) ─► release (the answer is ready)
 *
 * Who waits for admission holds nothing: the runtime reads no body before it is asked for, so the client's connection stands still.
 * Requests are admitted in the order in which they came, and a connection has one at a time, so none takes more than its turn. A request
 * that grows goes before those that wait to begin, and may take the total to twice the limit: otherwise requests that all grow would wait
 * for each other.
 */
import { freeBytes } from "../../base/free-bytes.ts";
import { type Reply, textReply } from "./reply.ts";

/** The answer to a request that found no room. */
export const OVER_IN_FLIGHT: Reply = {
  ...textReply(429, "Request body memory limit exceeded: Request memory limit exceeded"),
  headers: { "content-type": "text/plain; charset=utf-8", "retry-after": "1" },
};

/** Times the limit that requests which grow may take together. */
const GROWTH = 2;

/** Why a request found no room: it can never have it, it waited in vain, or it may not wait. */
export type RejectReason = "too_large" | "timeout" | "exhausted";

/** How the total is limited. */
export interface InFlightOptions {
  /** 0 = unlimited. */
  readonly bytesMax: number;
  /** Longest wait for room, in milliseconds; 0 = none. */
  readonly waitMs: number;
  /** Most requests that wait to begin. */
  readonly waitersMax: number;
  readonly onRejected?: (reason: RejectReason) => void;
}

interface Waiter {
  readonly bytes: number;
  readonly admit: (admitted: boolean) => void;
}

/** See the file header. */
export class InFlightBytes {
  private readonly options: InFlightOptions;
  private used = 0;
  /** Requests that grow, first one first. */
  private readonly growing: Waiter[] = [];
  /** Requests that wait to begin, first one first. */
  private readonly beginning: Waiter[] = [];

  constructor(options: InFlightOptions) {
    this.options = options;
  }

  /** Bytes that are worked on now. */
  get bytes(): number {
    return this.used;
  }

  /** The limit; 0 = unlimited. */
  get bytesMax(): number {
    return this.options.bytesMax;
  }

  /** Waits for room; undefined when there was none in time, there can be none, or the client left. */
  async acquire(bytes: number, signal?: AbortSignal): Promise<BodyShare | undefined> {
    const { bytesMax, waitersMax } = this.options;
    if (bytesMax > 0 && bytes > bytesMax) return this.rejected("too_large");
    const isFree = this.growing.length === 0 && this.beginning.length === 0 && this.fits(bytes, 1);
    if (bytesMax === 0 || isFree) {
      this.used += bytes;
      return new BodyShare(this, bytes);
    }
    if (this.options.waitMs === 0 || this.beginning.length >= waitersMax) return this.rejected("exhausted");
    return (await this.wait(this.beginning, bytes, signal)) ? new BodyShare(this, bytes) : undefined;
  }

  /** Takes more for a request that has begun; false when it cannot. */
  async grow(bytes: number, signal?: AbortSignal): Promise<boolean> {
    const { bytesMax } = this.options;
    if (bytesMax === 0 || (this.growing.length === 0 && this.fits(bytes, GROWTH))) {
      this.used += bytes;
      return true;
    }
    if (bytes > GROWTH * bytesMax) {
      this.rejected("too_large");
      return false;
    }
    if (this.options.waitMs === 0) {
      this.rejected("exhausted");
      return false;
    }
    return this.wait(this.growing, bytes, signal);
  }

  /** Gives back what `acquire` or `grow` took. */
  release(bytes: number): void {
    this.used -= bytes;
    this.admitWaiters();
  }

  private fits(bytes: number, times: number): boolean {
    return this.used + bytes <= this.options.bytesMax * times;
  }

  private rejected(reason: RejectReason): undefined {
    this.options.onRejected?.(reason);
    return undefined;
  }

  private async wait(queue: Waiter[], bytes: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter = { bytes, admit: resolve };
    queue.push(waiter);
    const leave = (): void => {
      const index = queue.indexOf(waiter);
      if (index < 0) return; // Admitted just before.
      queue.splice(index, 1);
      resolve(false);
      this.admitWaiters();
    };
    const timer = setTimeout(() => {
      if (queue.includes(waiter)) this.rejected("timeout");
      leave();
    }, this.options.waitMs);
    signal?.addEventListener("abort", leave);
    const admitted = await promise;
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
    return admitted;
  }

  private admitWaiters(): void {
    this.admitFrom(this.growing, GROWTH);
    if (this.growing.length === 0) this.admitFrom(this.beginning, 1);
  }

  private admitFrom(queue: Waiter[], times: number): void {
    for (let next = queue[0]; next !== undefined && this.fits(next.bytes, times); next = queue[0]) {
      queue.shift();
      this.used += next.bytes;
      next.admit(true);
    }
  }
}

/** What one request holds. */
export class BodyShare {
  /** Bytes held now. */
  bytes: number;
  private readonly owner: InFlightBytes;
  private body: Uint8Array | undefined;

  constructor(owner: InFlightBytes, bytes: number) {
    this.owner = owner;
    this.bytes = bytes;
  }

  /** Most bytes that the share could ever hold. */
  get bytesMax(): number {
    return this.owner.bytesMax === 0 ? Number.POSITIVE_INFINITY : GROWTH * this.owner.bytesMax;
  }

  /** Makes the share hold `bytes`: less at once, more when there is room; false when there was none, and the share is as it was. */
  async resize(bytes: number, signal?: AbortSignal): Promise<boolean> {
    const more = bytes - this.bytes;
    if (more > 0 && !(await this.owner.grow(more, signal))) return false;
    if (more < 0) this.owner.release(-more);
    this.bytes = bytes;
    return true;
  }

  /** Says which bytes are counted, so that `freeBody` can give them back. */
  hold(body: Uint8Array): void {
    this.body = body;
  }

  /** Frees the body's memory. Call it when nobody reads it any more: not after an error, which may come before others are done. */
  freeBody(): void {
    if (this.body !== undefined) freeBytes(this.body);
    this.body = undefined;
  }

  /** Gives everything back. */
  release(): void {
    const { bytes } = this;
    this.body = undefined;
    this.bytes = 0;
    if (bytes > 0) this.owner.release(bytes);
  }
}
