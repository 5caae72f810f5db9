/** A data node's life in the cluster: it holds `node.<id>`, and tells each second how far its shards are. */
import type { DbError } from "../../base/error.ts";
import type { ShardProgress } from "./directory.ts";
import type { FollowedDirectory } from "./followed-directory.ts";
import { checkAddress, Membership, type MembershipParts } from "./membership.ts";
import { checkNodeId } from "./node-id.ts";
import { encodeNodeValue } from "./node-value.ts";

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
export interface MemberParts extends MembershipParts {
  readonly directory: FollowedDirectory;
}

/** See the file header. */
export class NodeMember {
  readonly facts: NodeFacts;
  private readonly parts: MemberParts;
  private readonly news: NodeNews;
  private readonly startedAtMillis: number;
  private isDrainingNow = false;
  private membership: Membership | undefined;

  private constructor(facts: NodeFacts, parts: MemberParts, news: NodeNews) {
    this.facts = facts;
    this.parts = parts;
    this.news = news;
    this.startedAtMillis = parts.timers.nowMillis();
  }

  /**
   * Joins the cluster.
   *
   * @throws DbError InvalidArguments: the id or address is none; as `Membership.join`
   */
  static async join(facts: NodeFacts, parts: MemberParts, news: NodeNews): Promise<NodeMember> {
    const { id, address } = facts;
    checkNodeId(id);
    checkAddress(address);
    const node = new NodeMember(facts, parts, news);
    const known = (): ReturnType<FollowedDirectory["node"]> => parts.directory.node(id);
    const member = { kind: "node" as const, id, value: () => node.value(), known, onOusted: (why: DbError) => news.onOusted(why) };
    node.membership = await Membership.join(member, parts);
    parts.logger.info({ node: id, address }, "this node has joined the cluster");
    return node;
  }

  /** Whether the node's lease is held for certain at this moment: not so right after the process stood still for long. */
  get isHeld(): boolean {
    return this.membership?.isHeld === true;
  }

  get isDraining(): boolean {
    return this.isDrainingNow;
  }

  /** Tells all that this node gives its shards away. */
  beginDraining(): void {
    this.isDrainingNow = true;
    this.membership?.tellSoon();
  }

  /** Leaves: shards must be given back before. */
  async leave(): Promise<void> {
    await this.membership?.leave();
    this.parts.logger.info({ node: this.facts.id }, "this node has left the cluster");
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
