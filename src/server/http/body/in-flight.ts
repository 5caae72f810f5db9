/**
 * Bounds the bytes of request bodies that are being worked on (contract http.md 6.3), as sent and as they unfold.
 *
 *   begin (first bytes) ─► resize (the body comes in, unfolds) ─► release (the answer is ready)
 *
 * What counts is what has come, not what was promised: a client that declares 64 MiB and sends a byte a second holds a few KiB. Promises
 * are believed only for a part of the limit (`promise`), so that bodies which come at once are read in one piece.
 *
 * Who waits to begin holds nothing: the runtime reads no body before it is asked for, so the client's connection stands still. Requests
 * begin in the order in which they came, and a connection has one at a time, so none takes more than its turn. A request that grows goes
 * before those that wait to begin. Bodies that come in grow up to the limit; those that unfold up to twice the limit, and so does the
 * oldest that comes in where nothing but such bodies fill it: one that fits at all is read to its end, however many others came with it.
 */
import { assert } from "../../../base/assert.ts";
import { freeBytes } from "../../../base/memory/free-bytes.ts";
import { type Reply, textReply } from "../reply.ts";

/** The answer to a request that found no room. */
export const OVER_IN_FLIGHT: Reply = {
  ...textReply(429, "Request body memory limit exceeded: Request memory limit exceeded"),
  headers: { "content-type": "text/plain; charset=utf-8", "retry-after": "1" },
};

/** Times the limit that the oldest body which comes in, and those that unfold, may take the total to. */
const GROWTH = 2;

/** Part of the limit that bodies may hold which were promised and have not come. */
const PROMISED_PART = 1 / 4;

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
  /** Who grows; undefined for one that begins. */
  readonly share: BodyShare | undefined;
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
  /** Bytes of bodies that were promised and have not come. */
  private promised = 0;
  /** Bodies that come in piece by piece, oldest first. */
  private readonly comingIn: Set<BodyShare> = new Set();

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

  /** A share that holds nothing yet. */
  share(): BodyShare {
    return new BodyShare(this);
  }

  /** A share that holds `bytes`: see `BodyShare.begin`. */
  async acquire(bytes: number, signal?: AbortSignal): Promise<BodyShare | undefined> {
    const share = this.share();
    return (await share.begin(bytes, bytes, signal)) ? share : undefined;
  }

  /** Waits for room to begin; false when there was none in time, there can be none for `all` of it, or the client left. */
  async begin(bytes: number, all: number, signal?: AbortSignal): Promise<boolean> {
    const { bytesMax, waitersMax } = this.options;
    if (!isCount(bytes) || !isCount(all) || (bytesMax > 0 && Math.max(bytes, all) > bytesMax)) return this.rejected("too_large");
    const isFree = this.growing.length === 0 && this.beginning.length === 0 && this.fits(bytes, 1);
    // Who needs nothing waits for nobody.
    if (bytesMax === 0 || bytes === 0 || isFree) {
      this.used += bytes;
      return true;
    }
    if (this.options.waitMs === 0 || this.beginning.length >= waitersMax) return this.rejected("exhausted");
    return this.wait(this.beginning, { bytes, share: undefined }, signal);
  }

  /** Takes more for a request that has begun, and counts it in its share at once; false when it cannot. */
  async grow(bytes: number, share: BodyShare, signal?: AbortSignal): Promise<boolean> {
    const { bytesMax } = this.options;
    if (!isCount(bytes) || (bytesMax > 0 && bytes > GROWTH * bytesMax)) return this.rejected("too_large");
    const isNext = this.growing.length === 0 || this.isOldest(share);
    if (bytesMax === 0 || (isNext && this.growthFits(bytes, share))) {
      this.used += bytes;
      share.bytes += bytes;
      return true;
    }
    if (this.options.waitMs === 0) return this.rejected("exhausted");
    return this.wait(this.growing, { bytes, share }, signal);
  }

  /** Takes more if there is room at once, for nobody waits. */
  takeAhead(bytes: number): boolean {
    const { bytesMax } = this.options;
    if (!isCount(bytes) || (bytesMax > 0 && (this.growing.length > 0 || this.beginning.length > 0 || !this.fits(bytes, 1)))) return false;
    this.used += bytes;
    return true;
  }

  /** Gives back what `begin` or `grow` took. */
  release(bytes: number): void {
    assert(isCount(bytes) && bytes <= this.used, "what is given back was taken");
    this.used -= bytes;
    this.admitWaiters();
  }

  /** Whether a body of this length may be reserved whole before it comes; if so `promiseEnded` must follow. */
  promise(bytes: number): boolean {
    const { bytesMax } = this.options;
    if (!isCount(bytes) || (bytesMax > 0 && this.promised + bytes > bytesMax * PROMISED_PART)) return false;
    this.promised += bytes;
    return true;
  }

  /** A promised body has come, or does not come any more. */
  promiseEnded(bytes: number): void {
    assert(isCount(bytes) && bytes <= this.promised, "what has come was promised");
    this.promised -= bytes;
  }

  /** A body comes in piece by piece. */
  reading(share: BodyShare): void {
    this.comingIn.add(share);
  }

  /** It has come, or does not come any more. */
  readingEnded(share: BodyShare): void {
    if (this.comingIn.delete(share)) this.admitWaiters();
  }

  private fits(bytes: number, times: number): boolean {
    return this.used + bytes <= this.options.bytesMax * times;
  }

  private growthFits(bytes: number, share: BodyShare): boolean {
    if (this.fits(bytes, 1)) return true;
    if (!this.fits(bytes, GROWTH)) return false;
    if (!this.comingIn.has(share)) return true; // It unfolds.
    if (!this.isOldest(share)) return false;
    // What is worked on comes to its end without it. Bodies that come in would wait for each other.
    let comesIn = bytes;
    for (const each of this.comingIn) comesIn += each.bytes;
    return comesIn > this.options.bytesMax;
  }

  /** Whether it is the body that comes in for the longest time. */
  private isOldest(share: BodyShare): boolean {
    const [oldest] = this.comingIn;
    return share === oldest;
  }

  private rejected(reason: RejectReason): false {
    this.options.onRejected?.(reason);
    return false;
  }

  private async wait(queue: Waiter[], who: Pick<Waiter, "bytes" | "share">, signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted === true) return false; // It would not be told again.
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { ...who, admit: resolve };
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
    // The oldest body may stand behind younger ones, which have to wait for it in the end.
    const oldest = this.growing.findIndex(({ share }) => share !== undefined && this.isOldest(share));
    if (oldest >= 0) this.admitted(this.growing, oldest);
    for (let at = 0; at < this.growing.length; ) if (!this.admitted(this.growing, at)) at++;
    while (this.growing.length === 0 && this.beginning.length > 0 && this.admitted(this.beginning, 0));
  }

  private admitted(queue: Waiter[], at: number): boolean {
    const waiter = queue[at];
    if (waiter === undefined) return false;
    const { bytes, share } = waiter;
    if (share === undefined ? !this.fits(bytes, 1) : !this.growthFits(bytes, share)) return false;
    queue.splice(at, 1);
    this.used += bytes;
    if (share !== undefined) share.bytes += bytes; // Now: others are looked at before it goes on.
    waiter.admit(true);
    return true;
  }
}

/** Whether it is a number of bytes: nothing else may come near the total, which would be NaN for ever. */
function isCount(bytes: number): boolean {
  return Number.isSafeInteger(bytes) && bytes >= 0;
}

/** What one request holds. */
export class BodyShare {
  /** Bytes held now. */
  bytes = 0;
  private readonly owner: InFlightBytes;
  private body: Uint8Array | undefined;
  private promised = 0;
  private isReleased = false;

  constructor(owner: InFlightBytes) {
    this.owner = owner;
  }

  /** Most bytes that the share could ever hold. */
  get bytesMax(): number {
    return this.owner.bytesMax === 0 ? Number.POSITIVE_INFINITY : GROWTH * this.owner.bytesMax;
  }

  /**
   * Takes the first bytes of a body of `all` bytes as far as is known; false when there was no room in time, there can be none, or the
   * client left. Once a share.
   */
  async begin(bytes: number, all: number, signal?: AbortSignal): Promise<boolean> {
    if (!(await this.owner.begin(bytes, all, signal))) return false;
    this.bytes += bytes;
    if (!this.isReleased) return true;
    this.release();
    return false;
  }

  /** Whether all of a body may be taken before it comes: see `InFlightBytes.promise`. `cameIn` ends it. */
  promise(bytes: number): boolean {
    if (!this.owner.promise(bytes)) return false;
    this.promised = bytes;
    return true;
  }

  /** Says that the body comes in piece by piece, in its turn of age. `cameIn` ends it. */
  comesIn(): void {
    this.owner.reading(this);
  }

  /** The body has come in, or will not. */
  cameIn(): void {
    this.owner.readingEnded(this);
    this.owner.promiseEnded(this.promised);
    this.promised = 0;
  }

  /** Makes the share hold `bytes`: less at once, more when there is room; false when there was none, and the share is as it was. */
  async resize(bytes: number, signal?: AbortSignal): Promise<boolean> {
    const more = bytes - this.bytes;
    if (!isCount(bytes)) return false;
    if (more > 0 && !(await this.owner.grow(more, this, signal))) return false;
    if (this.isReleased) {
      this.release(); // Nobody would give back what has come since.
      return false;
    }
    if (more < 0) {
      this.bytes = bytes;
      this.owner.release(-more);
    }
    return true;
  }

  /** Makes the share hold more if there is room now, below the limit; false when there is not. */
  takeAhead(bytes: number): boolean {
    if (!this.owner.takeAhead(bytes - this.bytes)) return false;
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
    this.isReleased = true;
    this.cameIn();
    this.body = undefined;
    this.bytes = 0;
    if (bytes > 0) this.owner.release(bytes);
  }
}
