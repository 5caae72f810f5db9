/**
 * Where each shard should be, from what the directory tells: whose turn it is to take one that is free, and which may change hands now.
 * All nodes come to the same answers but for what they were told a moment later.
 *
 * Turns. A free shard is its assigned node's (`assign`). When nobody served it for `TURN_MILLIS` that node may be stuck: the next by rank
 * may take it too, and so on.
 *
 * Moves. A shard that is served by another node than its assigned one moves, but not more than `MOVES_MAX` in the whole cluster at a time:
 * the first of the list of all that should move, draining nodes' before others. Shards that nobody serves are on the move already.
 */
import type { KnownNode } from "./directory.ts";
import type { FollowedDirectory } from "./followed-directory.ts";
import { MOVE_MILLIS, TURN_MILLIS } from "./limits.ts";
import { assign, rank } from "./ranking.ts";
import type { Timers } from "./timers.ts";

/** See the file header. */
export class Placement {
  private readonly directory: FollowedDirectory;
  private readonly shards: number;
  private readonly timers: Timers;
  /** Nodes that may own shards, by id in order. */
  private able: readonly KnownNode[] = [];
  private ableKey: string | undefined;
  private assigned: ReadonlyMap<number, string> = new Map();
  /** Since when nobody serves a shard, as far as this process saw. */
  private readonly unserved = new Map<number, number>();
  /** Shards that somebody served while this process looked. */
  private readonly served = new Set<number>();
  /** Since when a shard is among the first that should move. */
  private readonly moving = new Map<number, number>();

  constructor(directory: FollowedDirectory, shards: number, timers: Timers) {
    this.directory = directory;
    this.shards = shards;
    this.timers = timers;
  }

  /** Takes in what the directory tells now. */
  look(): void {
    this.able = this.directory.nodes().filter(({ isDraining }) => !isDraining);
    const key = this.able.map(({ id }) => id).join(" ");
    if (key !== this.ableKey) {
      this.ableKey = key;
      this.assigned = assign(
        this.shards,
        this.able.map(({ id }) => id),
      );
    }
    const now = this.timers.monotonicMillis();
    for (let shard = 0; shard < this.shards; shard++) {
      if (this.directory.ownerOf(shard) !== undefined) {
        this.unserved.delete(shard);
        this.served.add(shard);
      } else if (!this.unserved.has(shard)) this.unserved.set(shard, now);
    }
  }

  /** The node that should own a shard; undefined where there are none. */
  assignedTo(shard: number): KnownNode | undefined {
    const id = this.assigned.get(shard);
    return id === undefined ? undefined : this.directory.node(id);
  }

  /** Whether anybody served a shard since this process began to look. */
  wasServed(shard: number): boolean {
    return this.served.has(shard);
  }

  /** For how long nobody has served a shard, in milliseconds. */
  unservedMillis(shard: number): number {
    const since = this.unserved.get(shard);
    return since === undefined ? 0 : this.timers.monotonicMillis() - since;
  }

  /** Whether a node may take a shard that is free. */
  isTurnOf(id: string, shard: number): boolean {
    const first = this.assigned.get(shard);
    if (first === id) return true;
    const turns = Math.floor(this.unservedMillis(shard) / TURN_MILLIS);
    if (turns === 0 || first === undefined) return false;
    const ids = this.able.map((node) => node.id);
    const others = rank(shard, ids).filter((other) => other !== first);
    return others.slice(0, turns).includes(id);
  }

  /**
   * Shards that may change hands now.
   *
   * @param closing those of which this node knows, and others maybe not yet, that nobody serves
   * @param most that nobody serves at once
   */
  moves(closing: ReadonlySet<number>, most: number): ReadonlySet<number> {
    const now = this.timers.monotonicMillis();
    let left = most;
    const draining: number[] = [];
    const others: number[] = [];
    for (let shard = 0; shard < this.shards; shard++) {
      const owner = this.directory.ownerOf(shard);
      if (owner === undefined || closing.has(shard)) {
        if (this.unservedMillis(shard) < MOVE_MILLIS) left--;
        continue;
      }
      const assigned = this.assigned.get(shard);
      if (assigned === undefined || assigned === owner.nodeId) continue;
      if (this.directory.node(owner.nodeId)?.isDraining === true) draining.push(shard);
      else if (this.directory.leaseOf(shard)?.value?.isKept !== true) others.push(shard);
    }
    const moves = new Set<number>();
    for (const shard of [...draining, ...others]) {
      if (left <= 0) break;
      const since = this.moving.get(shard) ?? now;
      this.moving.set(shard, since);
      moves.add(shard);
      if (now - since < MOVE_MILLIS) left--; // One whose owner does not let it go must not hold up others.
    }
    for (const shard of this.moving.keys()) if (!moves.has(shard)) this.moving.delete(shard);
    return moves;
  }
}
