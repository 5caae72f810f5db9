/**
 * A lease that is renewed, five times in its time, for as long as it is wanted.
 *
 *   held ──"lost"──► ended ──take──► held         servers were silent, or this process stood still: it is taken again
 *                      └──"held"──► ousted        another has it: told once, and nothing is renewed any more
 *
 * What only an operator can change, such as a permission that is not there, is told once and tried again ever later.
 *
 * Calls that nobody answers are given up, so that three fit into the time of a lease. What they did is found out
 * by the next one.
 */
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { Lease, LeaseName, Leases } from "../port/leases.ts";
import { type PortFailure, portFailureOf } from "../port/port-error.ts";
import { AGAIN_MILLIS, DENIED_MILLIS_MAX, RENEWALS_PER_LEASE, SILENT_RENEWALS_MAX } from "./limits.ts";
import { type Timers, Waits, within } from "./timers.ts";

/** What a lease is held with. */
export interface LeaseParts {
  readonly leases: Leases;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** Whose lease it is. */
export interface LeaseUser {
  /** What others are to know; asked before each call. */
  value(): string;
  /** Another has it now ("held"), or the port is closed. Called once at most, and not after `release`. */
  onOusted(why: "held" | "closed"): void;
  /** It had ended and was taken again: others may have had it between. */
  onRetaken?(): void;
}

const LASTING: ReadonlySet<PortFailure> = new Set(["denied", "vanished", "went-back", "too-large"]);

/** Whether a failure does not pass by itself, so that an operator has to know of it. */
export function isLasting(failure: PortFailure): boolean {
  return LASTING.has(failure);
}

/** How long a call waits for its answer. */
function callMillis({ ttlMillis }: Leases): number {
  return ttlMillis / SILENT_RENEWALS_MAX;
}

/** See the file header. */
export class HeldLease {
  private readonly name: LeaseName;
  private readonly parts: LeaseParts;
  private readonly user: LeaseUser;
  /** What is held, or was until it was lost. */
  private lease: Lease;
  private isLost = false;
  private isEnding = false;
  private reported: PortFailure | undefined;
  private readonly waits: Waits;
  private readonly renewing: Promise<void>;

  private constructor(lease: Lease, parts: LeaseParts, user: LeaseUser) {
    this.name = lease.name;
    this.lease = lease;
    this.parts = parts;
    this.user = user;
    this.waits = new Waits(parts.timers);
    this.renewing = this.renewUntilEnd();
  }

  /**
   * Takes a lease that is free, or held by this port already. No answer in time means as little as `unknown`.
   *
   * @returns "held": another has it
   * @throws PortError as `Leases.take`
   */
  static async take(name: LeaseName, parts: LeaseParts, user: LeaseUser): Promise<HeldLease | "held" | "late"> {
    const take = (signal: AbortSignal): Promise<Lease | "held"> => parts.leases.take(name, user.value(), { signal });
    const lease = await within(parts.timers, 2 * callMillis(parts.leases), take); // It asks before it appends.
    return typeof lease === "string" ? lease : new HeldLease(lease, parts, user);
  }

  /** Whether nobody else can have it at this moment, as far as clocks run alike. Also right after this process stood still. */
  get isHeld(): boolean {
    return !this.isLost && this.parts.timers.monotonicMillis() < this.lease.endsAtMillis;
  }

  /** Of the last message that held it (`Lease.number`). */
  get number(): number {
    return this.lease.number;
  }

  /** Renews it at once, with a new value. */
  tellSoon(): void {
    this.waits.wake();
  }

  /** Renews nothing any more and ends it. Never fails: one whose servers do not answer ends by itself. */
  async release(): Promise<void> {
    this.isEnding = true;
    this.waits.wake();
    await this.renewing;
    const { leases, timers } = this.parts;
    while (this.isHeld) {
      try {
        const released = await within(timers, callMillis(leases), (signal) => leases.release(this.lease, { signal }));
        if (released !== "late") return;
      } catch (error) {
        const failure = this.failed(error);
        if (failure === "closed") return;
      }
      await this.waits.wait(AGAIN_MILLIS);
    }
  }

  private async renewUntilEnd(): Promise<void> {
    const renewMillis = this.parts.leases.ttlMillis / RENEWALS_PER_LEASE;
    let lasting = AGAIN_MILLIS;
    for (let pause = renewMillis; ; ) {
      await this.waits.wait(pause);
      if (this.isEnding) return;
      const begun = this.parts.timers.monotonicMillis();
      const outcome = await this.renewOnce();
      if (outcome === "held" || outcome === "closed") {
        this.isLost = true;
        if (!this.isEnding) this.user.onOusted(outcome);
        return;
      }
      const spent = this.parts.timers.monotonicMillis() - begun;
      lasting = outcome === "lasting" ? Math.min(lasting * 2, DENIED_MILLIS_MAX) : AGAIN_MILLIS;
      pause = outcome === "renewed" ? Math.max(0, renewMillis - spent) : outcome === "late" ? 0 : lasting;
    }
  }

  private async renewOnce(): Promise<"renewed" | "late" | "again" | "lasting" | "held" | "closed"> {
    const { leases, timers, logger } = this.parts;
    const value = this.user.value();
    const call = (signal: AbortSignal): Promise<Lease | "lost" | "held"> =>
      this.isLost ? leases.take(this.name, value, { signal }) : leases.renew(this.lease, value, { signal });
    try {
      const next = await within(timers, callMillis(leases), call);
      if (next === "late" || next === "held") return next;
      if (next === "lost") {
        this.isLost = true;
        return "late"; // Taken again at once.
      }
      if (this.isLost) {
        logger.warn({ lease: this.name }, "a lease ended before it was renewed; it is taken again");
        this.user.onRetaken?.();
      }
      this.lease = next;
      this.isLost = false;
      this.reported = undefined;
      return "renewed";
    } catch (error) {
      const failure = this.failed(error);
      return failure === "closed" ? "closed" : isLasting(failure) ? "lasting" : "again";
    }
  }

  /** What a call failed with; what is no failure of a port is thrown on. */
  private failed(error: unknown): PortFailure {
    const failure = portFailureOf(error);
    if (failure === undefined) throw error;
    if (isLasting(failure) && failure !== this.reported) {
      this.parts.logger.error(
        { lease: this.name, failure, error: errorText(error) },
        "a lease cannot be renewed; tried again until it can",
      );
    }
    if (isLasting(failure)) this.reported = failure;
    return failure;
  }
}
