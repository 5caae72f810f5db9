/**
 * One shard on this node, from the attempt to take its lease until the lease is given back.
 *
 *   take ─► open ─► serve ─► (flush) ─► close ─► release
 *
 * | what happens while it serves                | and then                                                                        |
 * |---------------------------------------------|---------------------------------------------------------------------------------|
 * | the lease ended, nobody has it              | it goes on: the lease is taken again. Merges wait meanwhile (`holds`)           |
 * | the lease was taken again                   | another may have owned the shard meanwhile: it serves once its manifest has     |
 * |                                             | taken a commit; a refused one says that it is lost                              |
 * | another has the lease, or a higher epoch    | closed without a flush: that one has fenced it, or will                         |
 * | the host is lost (fenced, the log is broken)| it is closed already; the lease is released                                     |
 * | it should be another's                      | flushed while it still serves, closed with a flush of the rest, released        |
 *
 * Why it goes on without a lease: reads are right as long as the log is followed, and whoever takes over fences what is written. To stop
 * would make every election of the servers that is longer than a lease an outage of all shards.
 */
import { bugText } from "../../base/assert.ts";
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { portFailureOf } from "../port/port-error.ts";
import type { OpenShard, ShardHost } from "../shard/shard-host.ts";
import { HeldLease, isLasting, type LeaseParts } from "./held-lease.ts";
import { AGAIN_MILLIS, END_MILLIS } from "./limits.ts";
import type { ShardState } from "./directory.ts";
import { encodeShardValue } from "./shard-value.ts";
import { within } from "./timers.ts";

/** What tenures are made of. */
export interface TenureParts extends LeaseParts {
  readonly nodeId: string;
  readonly openShard: OpenShard;
  /** Brings a shard's memory into files while it still serves, so that closing it takes no time. */
  readonly beforeHandOver?: ((host: ShardHost) => Promise<void>) | undefined;
}

/** What one tenure is told. */
export interface TenureOptions {
  /** The highest epoch that was told of the shard before. */
  readonly epochAtStart: number;
  /** How long opening may take. */
  readonly openMillis: number;
  /** Whether this node keeps a shard that is another's by rank; asked before each renewal. */
  isKept(): boolean;
}

/** How a tenure ended. */
export type TenureEnd =
  /** Another has the lease. */
  | { readonly kind: "held" }
  /** The servers did not give the lease. */
  | { readonly kind: "unanswered" }
  /** It could not be opened, or not go on. */
  | { readonly kind: "failed"; readonly reason: string; readonly isLate: boolean }
  /** It was told to end, or another took it. */
  | { readonly kind: "ended" };

/** Why it should end. */
export type EndOrder =
  | { readonly kind: "hand-over"; readonly to: string }
  /** Opening is not worth while any more. */
  | { readonly kind: "give-up" }
  | { readonly kind: "ousted" }
  | { readonly kind: "stop"; readonly flushes: boolean };

type Order = EndOrder | { readonly kind: "lost"; readonly reason: string } | { readonly kind: "late" };

/** See the file header. */
export class Tenure {
  readonly shard: number;
  readonly options: TenureOptions;
  private readonly parts: TenureParts;
  private readonly logger: Logger;
  private readonly order: PromiseWithResolvers<Order> = Promise.withResolvers<Order>();
  private stateNow: ShardState = "opening";
  private isOrdered = false;
  private lost: string | undefined;
  private isStopping = false;
  /** Resolves when an end that takes its time has to be a short one. */
  private readonly hurry: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  private held: HeldLease | undefined;
  private hostNow: ShardHost | undefined;
  private servedSince = Number.POSITIVE_INFINITY;
  private wasKept = false;
  /** Whether another may have owned the shard and let it go since it was opened here. */
  private isDoubted = false;

  constructor(shard: number, parts: TenureParts, options: TenureOptions) {
    this.shard = shard;
    this.parts = parts;
    this.options = options;
    this.logger = parts.logger;
  }

  /** All of it, once. */
  async run(): Promise<TenureEnd> {
    const { parts, shard } = this;
    const user = { value: () => this.value(), onOusted: () => this.end({ kind: "ousted" }), onRetaken: () => this.doubt() };
    let held: HeldLease | "held" | "late";
    try {
      held = await HeldLease.take(`lease.${shard}`, parts, user);
    } catch (error) {
      const failure = portFailureOf(error);
      if (failure === undefined) throw error;
      return isLasting(failure) ? this.notOpened(errorText(error), { error }) : { kind: "unanswered" };
    }
    if (held === "held") return { kind: "held" };
    if (held === "late") return { kind: "unanswered" };
    this.held = held;
    try {
      if (this.isOrdered) return { kind: "ended" };
      return held.isHeld ? await this.openAndServe() : { kind: "unanswered" }; // This process stood still meanwhile.
    } finally {
      await held.release();
    }
  }

  get state(): ShardState {
    return this.stateNow;
  }

  /** The shard, while it serves. */
  get host(): ShardHost | undefined {
    return this.stateNow === "serving" && !this.isDoubted ? this.hostNow : undefined;
  }

  /** Monotonic: since when it has been served here; infinite while it is not open. */
  get servedSinceMillis(): number {
    return this.servedSince;
  }

  /** Whether it was told to end. */
  get isEnding(): boolean {
    return this.isOrdered;
  }

  get isHeld(): boolean {
    return this.held?.isHeld === true;
  }

  /** Number of the last message that held the lease; 0: not taken yet. */
  get leaseNumber(): number {
    return this.held?.number ?? 0;
  }

  /** Tells others at once when it is kept from now on, or no longer. */
  look(): void {
    if (this.options.isKept() !== this.wasKept) this.held?.tellSoon();
  }

  /** Ends it. Told twice, the first one counts, but "stop" also makes an end that is under way a short one. */
  end(order: EndOrder): void {
    this.isOrdered = true;
    if (order.kind === "stop" || order.kind === "ousted") {
      this.isStopping = true;
      this.hurry.resolve();
    }
    this.order.resolve(order);
  }

  private value(): string {
    this.wasKept = this.options.isKept();
    const epoch = this.hostNow?.epoch ?? 0;
    const { count: asked, writer: askedOf } = this.hostNow?.asked ?? { count: 0, writer: 0 };
    return encodeShardValue({ nodeId: this.parts.nodeId, epoch, state: this.stateNow, isKept: this.wasKept, asked, askedOf });
  }

  private become(state: ShardState): void {
    this.stateNow = state;
    this.held?.tellSoon();
  }

  private async openAndServe(): Promise<TenureEnd> {
    const { timers } = this.parts;
    const begun = timers.monotonicMillis();
    const host = await this.open();
    if ("kind" in host) return host;
    this.hostNow = host;
    if (this.isDoubted) void this.confirm(host); // It never rejects.
    this.become("serving");
    this.servedSince = timers.monotonicMillis();
    const { shard } = this;
    const millis = Math.round(this.servedSince - begun);
    this.logger.info({ shard, epoch: host.epoch, applied: host.applied, millis }, "a shard is served here");
    const order = await this.order.promise;
    await this.close(host, order);
    if (order.kind !== "lost") return { kind: "ended" };
    return { kind: "failed", reason: order.reason, isLate: false };
  }

  /** Opens the shard until it serves, fails, takes too long, or is told to end. */
  private async open(): Promise<ShardHost | TenureEnd> {
    const { timers, openShard } = this.parts;
    const controller = new AbortController();
    const options = { signal: controller.signal, onLost: (why: Error) => this.lose(why), holds: () => this.isHeld };
    const opening = openShard(this.shard, options).then(
      (host) => ({ kind: "open" as const, host }),
      (error: unknown) => ({ kind: "error" as const, error }),
    );
    const forget = timers.after(this.options.openMillis, () => this.order.resolve({ kind: "late" }));
    const first = await Promise.race([opening, this.order.promise]);
    forget();
    if (first.kind === "open" && !this.isOrdered && this.lost === undefined) return first.host;
    if (first.kind === "error") return this.notOpened(errorText(first.error), { error: first.error });
    this.become("closing");
    controller.abort();
    const closed = opening.then(async (result) => {
      if (result.kind === "open") await this.closed(result.host, false);
    });
    await within(timers, END_MILLIS, () => closed);
    if (first.kind === "late")
      return this.notOpened(`it was not open after ${Math.round(this.options.openMillis / 1000)} s`, { isLate: true });
    return this.lost === undefined ? { kind: "ended" } : this.notOpened(this.lost);
  }

  private notOpened(reason: string, { error, isLate = false }: { readonly error?: unknown; readonly isLate?: boolean } = {}): TenureEnd {
    if (this.isOrdered) return { kind: "ended" };
    const told = error === undefined || error instanceof DbError ? reason : bugText(error);
    this.logger.warn({ shard: this.shard, reason: told }, "a shard cannot be opened; tried again later");
    return { kind: "failed", reason, isLate };
  }

  /** The lease ended and was taken again: another may have had it between. Nothing is served until the manifest says who owns the shard. */
  private doubt(): void {
    if (this.isDoubted) return;
    this.isDoubted = true;
    if (this.hostNow !== undefined) void this.confirm(this.hostNow); // It never rejects.
  }

  private async confirm(host: ShardHost): Promise<void> {
    const { timers } = this.parts;
    while (this.isDoubted && !this.isOrdered && this.lost === undefined) {
      try {
        await host.confirm();
        this.isDoubted = false;
      } catch (error) {
        this.logger.warn({ shard: this.shard, reason: errorText(error) }, "nobody knows whether a shard is still this node's");
        const { promise, resolve } = Promise.withResolvers<void>();
        timers.after(AGAIN_MILLIS, resolve);
        await promise;
      }
    }
  }

  private lose(why: Error): void {
    if (this.lost !== undefined) return;
    this.lost = errorText(why);
    if (this.stateNow === "serving") this.logger.warn({ shard: this.shard, reason: this.lost }, "a shard was lost here");
    this.hurry.resolve();
    this.order.resolve({ kind: "lost", reason: this.lost });
  }

  private async close(host: ShardHost, order: Order): Promise<void> {
    const { shard, logger } = this;
    const { timers, beforeHandOver } = this.parts;
    const begun = timers.monotonicMillis();
    if (order.kind === "hand-over" && beforeHandOver !== undefined) {
      try {
        await within(timers, END_MILLIS, () => Promise.race([beforeHandOver(host), this.hurry.promise]));
      } catch (error) {
        logger.warn({ shard, reason: errorText(error) }, "a shard cannot be flushed before it is handed over");
      }
    }
    this.become("closing");
    // Closed already where it was lost.
    const flushes = !this.isStopping ? order.kind === "hand-over" : order.kind === "stop" && order.flushes;
    if (this.lost === undefined) await this.closed(host, flushes);
    const millis = Math.round(timers.monotonicMillis() - begun);
    if (order.kind === "hand-over") logger.info({ shard, to: order.to, millis }, "a shard is handed over");
    else if (order.kind === "ousted") logger.warn({ shard, epoch: host.epoch }, "a shard is another node's now, and was closed here");
    else if (order.kind === "stop") logger.info({ shard, flushed: flushes, millis }, "a shard was closed");
  }

  /** Closes a shard; one that does not end is left. */
  private async closed(host: ShardHost, flushes: boolean): Promise<void> {
    const { shard, logger } = this;
    try {
      const result = await within(this.parts.timers, END_MILLIS, () => host.close(flushes));
      if (result === "late") logger.error({ shard }, "a shard does not close; its lease is given back all the same");
    } catch (error) {
      logger.warn({ shard, reason: errorText(error) }, "a shard did not close as it should");
    }
  }
}
