/** Who is asked for a shard, how long, and when a node that was asked is left again. */
import type { Clock } from "../../base/clock.ts";
import { DbError } from "../../base/error.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { StatusCode } from "../../base/status-code.ts";
import { AGAIN_MILLIS, QUIET_MILLIS } from "./limits.ts";
import { NotAnswered } from "./node-transport.ts";

/** Who owns shards, as the leases say. */
export interface Owners {
  ownerOf(shard: number): { readonly address: string } | undefined;
  /** Resolves when anything differs from now. */
  nextChange(): Promise<void>;
}

/** What a search goes by. */
export interface SearchParts {
  readonly owners: Owners;
  readonly clock: Pick<Clock, "monotonicMillis">;
  /** How long it looks for an owner that answers. */
  readonly millis: number;
}

/** Most nodes that may go away with a request. */
const LOST_MAX = 3;

/** Looks for the owner of a shard on behalf of one request. */
export class OwnerSearch {
  private readonly shard: number;
  private readonly parts: SearchParts;
  private readonly signal: AbortSignal;
  private since: number;
  /** When a node said last that it works on the request. */
  private heardMillis: number | undefined;
  private lost = 0;
  private lastWhy: NotAnswered | undefined;

  constructor(shard: number, parts: SearchParts, signal: AbortSignal) {
    this.shard = shard;
    this.parts = parts;
    this.signal = signal;
    this.since = parts.clock.monotonicMillis();
  }

  /** The address of the owner, once there is one. @throws DbError StorageUnavailable, Cancelled */
  async owner(): Promise<string> {
    const { owners } = this.parts;
    for (;;) {
      throwIfCancelled(this.signal);
      const change = owners.nextChange(); // Before it is looked: none is missed.
      const owner = owners.ownerOf(this.shard);
      if (owner !== undefined) return owner.address;
      await this.waitFor(change, this.left());
    }
  }

  /** Says that it begins now: until now the request was part of another one. */
  begin(): void {
    this.since = this.parts.clock.monotonicMillis();
  }

  /** Says that a node works on the request. */
  heard(): void {
    this.heardMillis = this.parts.clock.monotonicMillis();
  }

  /** Resolves when it is worth asking again. @throws DbError StorageUnavailable, Cancelled */
  async again(why: NotAnswered): Promise<void> {
    this.lastWhy = why;
    if (why.mayHaveBegun && this.heardMillis !== undefined) {
      this.since = this.heardMillis;
      this.lost++;
    }
    this.heardMillis = undefined;
    if (this.lost >= LOST_MAX) throw this.unavailable(`${this.lost} nodes went away while they worked on it; ${why.message}`);
    const left = this.left();
    await this.waitFor(this.parts.owners.nextChange(), Math.min(AGAIN_MILLIS, left));
  }

  private left(): number {
    const left = this.since + this.parts.millis - this.parts.clock.monotonicMillis();
    if (left > 0) return left;
    throw this.unavailable(this.lastWhy?.message ?? "no node owns it");
  }

  private unavailable(why: string): DbError {
    const options = { cause: this.lastWhy, retryAfterSeconds: 1 };
    return new DbError(StatusCode.StorageUnavailable, `cannot reach shard ${this.shard}: ${why}`, options);
  }

  private async waitFor(change: Promise<void>, millis: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, millis);
    try {
      await waitWithin(Promise.race([change, promise]), { signal: this.signal });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A request that one node has. It is left when the node says nothing for `QUIET_MILLIS` and another one owns one of the shards. */
export class Attempt {
  /** Why it was left; undefined: it was not. */
  left: NotAnswered | undefined;
  private readonly address: string;
  private readonly shards: readonly number[];
  private readonly parts: Pick<SearchParts, "owners" | "clock">;
  private readonly controller: AbortController = new AbortController();
  private readonly outer: AbortSignal;
  private readonly follow = (): void => this.controller.abort(this.outer.reason);
  /** Since when its next word is waited for; undefined: it is not. */
  private waitsSince: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOver = false;

  constructor(address: string, shards: readonly number[], parts: Pick<SearchParts, "owners" | "clock">, signal: AbortSignal) {
    this.address = address;
    this.shards = shards;
    this.parts = parts;
    this.outer = signal;
    if (signal.aborted) this.follow();
    else signal.addEventListener("abort", this.follow);
    this.waits();
  }

  /** Fires when it is left, and with the request's own. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Says that the node's next word is waited for. */
  waits(): void {
    this.waitsSince = this.parts.clock.monotonicMillis();
  }

  /** Says that it is not: there are words to be looked at. */
  rests(): void {
    this.waitsSince = undefined;
  }

  /** Begins to look whether another node owns the shard. */
  watch(): void {
    if (this.isOver) return;
    this.look();
    void this.parts.owners.nextChange().then(() => this.watch()); // It never fails. Owners tell news each second, so none waits for long.
  }

  /** To be called in the end. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.outer.removeEventListener("abort", this.follow);
  }

  private look(): void {
    clearTimeout(this.timer);
    const moved = this.isOver ? undefined : this.moved();
    if (moved === undefined) return;
    const { waitsSince } = this;
    const quiet = waitsSince === undefined ? 0 : this.parts.clock.monotonicMillis() - waitsSince;
    if (quiet < QUIET_MILLIS) {
      this.timer = setTimeout(() => this.look(), QUIET_MILLIS - quiet);
      return;
    }
    this.left = new NotAnswered(`node ${this.address} says nothing, and node ${moved.owner} owns shard ${moved.shard} now`, true);
    this.controller.abort();
  }

  /** The first of its shards that another node owns. */
  private moved(): { readonly shard: number; readonly owner: string } | undefined {
    for (const shard of this.shards) {
      const owner = this.parts.owners.ownerOf(shard)?.address;
      if (owner !== undefined && owner !== this.address) return { shard, owner };
    }
    return undefined;
  }
}
