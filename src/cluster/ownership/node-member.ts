/**
 * A data node's life in the cluster: it holds `node.<id>`, and tells each second how far its shards are.
 *
 * One process has an id at a time. A second one that starts with it waits for as long as the lease of a dead process stays, and is then
 * refused. One that lost its lease to another process has to end: `onOusted`.
 */
import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { formatTimestamp } from "../../value/format-time.ts";
import { PortError, portFailureOf } from "../port/port-error.ts";
import type { ShardProgress } from "./directory.ts";
import type { FollowedDirectory } from "./followed-directory.ts";
import { HeldLease, type LeaseParts, type LeaseUser } from "./held-lease.ts";
import { AGAIN_MILLIS, JOIN_MILLIS, RENEWALS_PER_LEASE } from "./limits.ts";
import { checkNodeId } from "./node-id.ts";
import { encodeNodeValue, isAddress } from "./node-value.ts";
import { Waits } from "./timers.ts";

/** What a node is. */
export interface NodeFacts {
  /** From its configuration: `isNodeId`. */
  readonly id: string;
  /** "host:port" of its internal listener, as others reach it. */
  readonly address: string;
  /** Of the server. */
  readonly version: string;
}

/** What a node tells beside what it is. */
export interface NodeNews {
  /** How far its shards are. */
  progress(): ReadonlyMap<number, ShardProgress>;
  /** Shards that fail there, and why. */
  failing(): ReadonlyMap<number, string>;
  /** Another process has the node's id, or the port is closed: all work for the cluster has to end. */
  onOusted(why: DbError): void;
}

/** What a member is made of. */
export interface MemberParts extends LeaseParts {
  /** Identity of the port. */
  readonly identity: string;
  readonly directory: FollowedDirectory;
}

/** See the file header. */
export class NodeMember {
  readonly facts: NodeFacts;
  private readonly parts: MemberParts;
  private readonly news: NodeNews;
  private readonly startedAtMillis: number;
  private isDrainingNow = false;
  private held: HeldLease | undefined;

  private constructor(facts: NodeFacts, parts: MemberParts, news: NodeNews) {
    this.facts = facts;
    this.parts = parts;
    this.news = news;
    this.startedAtMillis = parts.timers.nowMillis();
  }

  /**
   * Joins the cluster.
   *
   * @throws DbError InvalidArguments: the id or address is none, or another process has the id; StorageUnavailable: servers do not answer
   */
  static async join(facts: NodeFacts, parts: MemberParts, news: NodeNews): Promise<NodeMember> {
    checkNodeId(facts.id);
    if (!isAddress(facts.address)) {
      throw new DbError(StatusCode.InvalidArguments, `cannot join the cluster at ${JSON.stringify(facts.address)}: it is no host and port`);
    }
    const member = new NodeMember(facts, parts, news);
    member.held = await member.takenLease();
    parts.logger.info({ node: facts.id, address: facts.address }, "this node has joined the cluster");
    return member;
  }

  /** Whether the node's lease is held for certain at this moment: not so right after the process stood still for long. */
  get isHeld(): boolean {
    return this.held?.isHeld === true;
  }

  get isDraining(): boolean {
    return this.isDrainingNow;
  }

  /** Tells all that this node gives its shards away. */
  beginDraining(): void {
    this.isDrainingNow = true;
    this.held?.tellSoon();
  }

  /** Leaves: shards must be given back before. */
  async leave(): Promise<void> {
    await this.held?.release();
    this.parts.logger.info({ node: this.facts.id }, "this node has left the cluster");
  }

  /** Asks until the lease is held, or it is certain that another process renews it, or servers stay silent for too long. */
  private async takenLease(): Promise<HeldLease> {
    const { timers, leases } = this.parts;
    const user: LeaseUser = {
      value: () => this.value(),
      onOusted: (why) => this.news.onOusted(why === "held" ? this.refusal("goes on as") : this.closed()),
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
      if (heldSince !== undefined && now - heldSince > leases.ttlMillis * (1 + 1 / RENEWALS_PER_LEASE)) throw this.refusal("joins as");
      if (result !== "held" && now - begun > JOIN_MILLIS) {
        throw new DbError(StatusCode.StorageUnavailable, `cannot join the cluster as node ${this.facts.id}: the servers do not answer`, {
          cause: result,
        });
      }
      await waits.wait(AGAIN_MILLIS);
    }
  }

  /** One attempt. @returns what it failed with where it may be made again */
  private async asked(user: LeaseUser): Promise<HeldLease | "held" | "late" | PortError> {
    try {
      return await HeldLease.take(`node.${this.facts.id}`, this.parts, user);
    } catch (error) {
      const failure = portFailureOf(error);
      if (error instanceof PortError && (failure === "unavailable" || failure === "unknown" || failure === "full")) return error;
      throw error;
    }
  }

  private refusal(verb: "joins as" | "goes on as"): DbError {
    const { id } = this.facts;
    const other = this.parts.directory.node(id);
    const isOther = other !== undefined && other.identity !== this.parts.identity;
    const who = isOther
      ? `the process at ${other.address}, started ${formatTimestamp(BigInt(other.startedAtMillis), "millisecond")} UTC,`
      : "another process";
    const what = verb === "joins as" ? "join the cluster" : "stay in the cluster";
    return new DbError(StatusCode.InvalidArguments, `cannot ${what} as node ${id}: ${who} has this id; each node needs one of its own`);
  }

  private closed(): DbError {
    return new DbError(StatusCode.StorageUnavailable, `cannot stay in the cluster as node ${this.facts.id}: the connection was closed`);
  }

  private value(): string {
    const { address, version } = this.facts;
    return encodeNodeValue({
      address,
      identity: this.parts.identity,
      startedAtMillis: this.startedAtMillis,
      version,
      isDraining: this.isDrainingNow,
      shards: this.news.progress(),
      failing: this.news.failing(),
    });
  }
}
