/**
 * A data node's part in the cluster: its membership, the directory, and the shards that it owns.
 *
 *   follow the directory ─► join ─► keep shards ─► (drain) ─► give shards back ─► leave ─► stop following
 */
import { assert } from "../../base/assert.ts";
import type { DbError } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import type { OpenShard, ShardHost } from "../shard/shard-host.ts";
import type { Directory } from "./directory.ts";
import { begun, FollowedDirectory } from "./followed-directory.ts";
import { CLUSTER_SHARDS_MAX, STOP_MILLIS } from "./limits.ts";
import { type NodeFacts, NodeMember } from "./node-member.ts";
import { type KeptShardStatus, ShardKeeper } from "./shard-keeper.ts";
import { type Timers, within } from "./timers.ts";

/** What a data node is made of. */
export interface DataNodeParts {
  readonly port: Pick<ClusterPort, "leases" | "identity">;
  readonly facts: NodeFacts;
  /** How many shards the cluster has. */
  readonly shards: number;
  readonly openShard: OpenShard;
  /** Brings a shard's memory into files while it still serves, so that handing it over takes no time. */
  readonly beforeHandOver?: (host: ShardHost) => Promise<void>;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Another process has the node's id, or the port is closed: the process should end. Shards are closed already. */
  onOusted(why: DbError): void;
}

/** See the file header. */
export class DataNode {
  private readonly parts: DataNodeParts;
  private readonly followed: FollowedDirectory;
  private readonly member: NodeMember;
  private readonly keeper: ShardKeeper;
  private isStopping = false;

  private constructor(parts: DataNodeParts, followed: FollowedDirectory, member: NodeMember, keeper: ShardKeeper) {
    this.parts = parts;
    this.followed = followed;
    this.member = member;
    this.keeper = keeper;
  }

  /** Joins the cluster and begins to take shards. @throws DbError as `NodeMember.join` */
  static async join(parts: DataNodeParts): Promise<DataNode> {
    const { port, facts, timers, logger } = parts;
    assert(parts.shards >= 1 && parts.shards <= CLUSTER_SHARDS_MAX, `a cluster has 1 to ${CLUSTER_SHARDS_MAX} shards; got ${parts.shards}`);
    const { leases, identity } = port;
    const directory = FollowedDirectory.follow({ leases, timers, logger });
    let node: DataNode | undefined;
    try {
      await begun(directory, timers);
      const shared = { leases, timers, logger, identity, directory };
      const news = {
        progress: () => node?.keeper.progress() ?? new Map(),
        failing: () => node?.keeper.failing() ?? new Map(),
        onOusted: (why: DbError) => void node?.oust(why), // It ends by telling who wired the node.
      };
      const member = await NodeMember.join(facts, shared, news);
      const isMember = (): boolean => member.isHeld;
      const { shards, openShard, beforeHandOver } = parts;
      const keeper = ShardKeeper.begin({ ...shared, nodeId: facts.id, shards, openShard, beforeHandOver, isMember });
      node = new DataNode(parts, directory, member, keeper);
      return node;
    } finally {
      if (node === undefined) await directory.close();
    }
  }

  get directory(): Directory {
    return this.followed;
  }

  /** A shard that is served here; undefined: it is not. */
  host(shard: number): ShardHost | undefined {
    return this.keeper.host(shard);
  }

  /** Shards that this node has or had a hand in. */
  shards(): readonly KeptShardStatus[] {
    return this.keeper.status();
  }

  /**
   * Gives all shards to other nodes, two at a time, and takes none any more. Resolves when none is left: as long as there is no other
   * node, it does not.
   */
  async drain(): Promise<void> {
    this.member.beginDraining();
    await this.keeper.drained("as the others");
  }

  /** Ends its part: shards go to others within `STOP_MILLIS`, the rest are closed. Where there are no others, memory is flushed as well. */
  async stop(): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    this.member.beginDraining();
    const outcome = await within(this.parts.timers, STOP_MILLIS, (signal) => this.givenAway(signal));
    await this.keeper.close(outcome !== "late");
    await this.member.leave();
    await this.followed.close();
  }

  /** Resolves when no shard is left here, or no other node that could take one: they may stop at the same time. */
  private async givenAway(signal: AbortSignal): Promise<void> {
    let isDrained = false;
    const drained = this.keeper.drained("stop").then(() => (isDrained = true));
    while (!isDrained && this.keeper.hasHeirs && !signal.aborted) await Promise.race([drained, this.followed.nextChange()]);
  }

  private async oust(why: DbError): Promise<void> {
    if (this.isStopping) return;
    this.isStopping = true;
    this.parts.logger.error({ node: this.member.facts.id, reason: why.message }, "this node is no member of the cluster any more");
    await this.keeper.close(false);
    await this.followed.close();
    this.parts.onOusted(why);
  }
}
