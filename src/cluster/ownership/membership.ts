/**
 * A process's life in the cluster: it holds the lease of its name, and tells by it what others are to know.
 *
 * One process has a name at a time. A second one that starts with it waits for as long as the lease of a dead process stays, and is then
 * refused. One that lost its lease to another process has to end: `onOusted`.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { PortError, portFailureOf } from "../port/port-error.ts";
import { HeldLease, type LeaseParts, type LeaseUser } from "./held-lease.ts";
import { AGAIN_MILLIS, JOIN_MILLIS, RENEWALS_PER_LEASE } from "./limits.ts";
import { Waits } from "./timers.ts";
import { isAddress } from "./value-fields.ts";

/** What a membership is made of. */
export interface MembershipParts extends LeaseParts {
  /** Identity of the port. */
  readonly identity: string;
}

/** What of another process a refusal tells. */
interface OtherProcess {
  readonly identity: string;
  readonly address: string;
  readonly startedAtMillis: number;
}

/** Who lives. */
export interface Member {
  /** Names the lease, and the process in messages. */
  readonly kind: "node" | "frontend";
  /** `isNodeId`. */
  readonly id: string;
  /** What others are to know; asked before each renewal. */
  value(): string;
  /** The process that lives under this name, as far as it is known. */
  known(): OtherProcess | undefined;
  /** Another process has the name, or the port is closed: all work for the cluster has to end. */
  onOusted(why: DbError): void;
}

/** See the file header. */
export class Membership {
  private readonly member: Member;
  private readonly parts: MembershipParts;
  private held: HeldLease | undefined;

  private constructor(member: Member, parts: MembershipParts) {
    this.member = member;
    this.parts = parts;
  }

  /**
   * Joins the cluster.
   *
   * @throws DbError InvalidArguments: another process has the name; StorageUnavailable: servers do not answer; PortError denied, closed
   */
  static async join(member: Member, parts: MembershipParts): Promise<Membership> {
    const membership = new Membership(member, parts);
    membership.held = await membership.takenLease();
    return membership;
  }

  /** Whether the lease is held for certain at this moment: not so right after the process stood still for long. */
  get isHeld(): boolean {
    return this.held?.isHeld === true;
  }

  /** Tells others at once what has changed. */
  tellSoon(): void {
    this.held?.tellSoon();
  }

  /** Leaves. Never fails: where servers do not answer the lease ends by itself. */
  async leave(): Promise<void> {
    await this.held?.release();
  }

  /** Asks until the lease is held, or it is certain that another process renews it, or servers stay silent for too long. */
  private async takenLease(): Promise<HeldLease> {
    const { timers, leases } = this.parts;
    const user: LeaseUser = {
      value: () => this.member.value(),
      onOusted: (why) => this.member.onOusted(why === "held" ? this.refusal("stay in") : this.closed()),
    };
    const waits = new Waits(timers);
    const begun = timers.monotonicMillis();
    let heldSince: number | undefined;
    for (;;) {
      const result = await this.asked(user);
      const now = timers.monotonicMillis();
      if (result instanceof HeldLease) return result;
      // Servers that do not answer may let leases stay for longer.
      heldSince = result === "held" ? (heldSince ?? now) : undefined;
      if (heldSince !== undefined && now - heldSince > leases.ttlMillis * (1 + 1 / RENEWALS_PER_LEASE)) throw this.refusal("join");
      if (result !== "held" && now - begun > JOIN_MILLIS) {
        throw new DbError(StatusCode.StorageUnavailable, `cannot join ${this.clusterAs}: the servers do not answer`, { cause: result });
      }
      await waits.wait(AGAIN_MILLIS);
    }
  }

  /** One attempt. @returns what it failed with where it may be made again */
  private async asked(user: LeaseUser): Promise<HeldLease | "held" | "late" | PortError> {
    const { kind, id } = this.member;
    try {
      return await HeldLease.take(`${kind}.${id}`, this.parts, user);
    } catch (error) {
      const failure = portFailureOf(error);
      if (error instanceof PortError && (failure === "unavailable" || failure === "unknown" || failure === "full")) return error;
      throw error;
    }
  }

  private get clusterAs(): string {
    return `the cluster as ${this.member.kind} ${this.member.id}`;
  }

  private refusal(verb: "join" | "stay in"): DbError {
    const { kind } = this.member;
    const other = this.member.known();
    const isOther = other !== undefined && other.identity !== this.parts.identity;
    const who = isOther
      ? `the process at ${other.address}, started ${formatTimestamp(BigInt(other.startedAtMillis), "millisecond")} UTC,`
      : "another process";
    const what = `cannot ${verb} ${this.clusterAs}: ${who} has this id`;
    return new DbError(StatusCode.InvalidArguments, `${what}; each ${kind} needs one of its own`);
  }

  private closed(): DbError {
    return new DbError(StatusCode.StorageUnavailable, `cannot stay in ${this.clusterAs}: the connection was closed`);
  }
}

/** @throws DbError InvalidArguments: it is no address of an internal listener */
export function checkAddress(address: string): void {
  if (isAddress(address)) return;
  throw new DbError(StatusCode.InvalidArguments, `cannot join the cluster at ${JSON.stringify(address)}: it is no host and port`);
}
