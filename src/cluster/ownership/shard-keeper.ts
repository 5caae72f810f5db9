/**
 * Takes the shards that should be this node's, and gives back those that should be another's (`placement.ts` says which). It looks at
 * everything after each change of ownership, and twice a second.
 *
 *   free, and its turn ─► `Tenure` ─► another's by rank: handed over │ failed: tried again after a growing wait
 *
 * Nothing is taken or handed over while the node's own lease is not held for certain: after a stop of the process all that was told is old.
 */
import type { ShardProgress, ShardState } from "./directory.ts";
import { Failures, type ShardFailure } from "./failures.ts";
import type { FollowedDirectory } from "./followed-directory.ts";
import { KeptShards } from "./kept-shards.ts";
import { AGAIN_MILLIS, LOOK_MILLIS, MOVES_MAX, OPENINGS_MAX, SETTLE_MILLIS, SOUND_MILLIS, STOP_MOVES_MAX } from "./limits.ts";
import { Placement } from "./placement.ts";
import type { ShardHost } from "../shard/shard-host.ts";
import { Tenure, type TenureEnd, type TenureParts } from "./tenure.ts";
import { Waits } from "./timers.ts";

/** What a keeper is made of. */
export interface KeeperParts extends TenureParts {
  readonly directory: FollowedDirectory;
  /** How many shards the cluster has. */
  readonly shards: number;
  /** Of this node's port. */
  readonly identity: string;
  /** Whether the node's own lease is held for certain (`NodeMember.isHeld`). */
  readonly isMember: () => boolean;
}

/** A shard that this node has a hand in. */
export interface KeptShardStatus {
  readonly shard: number;
  /** undefined: it only failed here. */
  readonly state: ShardState | undefined;
  readonly failure: ShardFailure | undefined;
}

/** How shards are given away. "stop": more at once, as there is little time. */
type Pace = "as the others" | "stop";

/** See the file header. */
export class ShardKeeper {
  private readonly parts: KeeperParts;
  private readonly placement: Placement;
  private readonly tenures = new Map<number, Tenure>();
  /** Ends of tenures. */
  private readonly ending = new Map<Tenure, Promise<void>>();
  private readonly failures: Failures;
  private readonly kept: KeptShards;
  /** Shards that the servers did not give: when to ask again. */
  private readonly notBefore = new Map<number, number>();
  private readonly waits: Waits;
  private readonly settledMillis: number;
  private isDraining = false;
  private pace: Pace = "as the others";
  private isEnding = false;
  private seenVersion = -1;
  private readonly quiet: () => void;
  private looking: Promise<void> = Promise.resolve();
  private empty: PromiseWithResolvers<void> | undefined;

  private constructor(parts: KeeperParts) {
    const { directory, timers, shards } = parts;
    this.parts = parts;
    this.placement = new Placement(directory, shards, timers);
    this.failures = new Failures(timers);
    this.kept = new KeptShards(timers);
    this.waits = new Waits(timers);
    this.settledMillis = timers.monotonicMillis() + SETTLE_MILLIS;
    this.quiet = directory.listen(() => {
      if (directory.ownershipVersion !== this.seenVersion) this.waits.wake();
    });
  }

  /** Begins to take shards. */
  static begin(parts: KeeperParts): ShardKeeper {
    const keeper = new ShardKeeper(parts);
    keeper.looking = keeper.lookUntilEnd();
    return keeper;
  }

  /** A shard that is served here. */
  host(shard: number): ShardHost | undefined {
    return this.tenures.get(shard)?.host;
  }

  /** Shards that this node has or had a hand in, in order. */
  status(): KeptShardStatus[] {
    const shards = [...new Set([...this.tenures.keys(), ...this.failures.all().keys()])].sort((one, other) => one - other);
    return shards.map((shard) => ({
      shard,
      state: this.tenures.get(shard)?.state,
      failure: this.failures.all().get(shard),
    }));
  }

  /** How far the shards are that are served here. */
  progress(): Map<number, ShardProgress> {
    const progress = new Map<number, ShardProgress>();
    for (const [shard, { host }] of this.tenures) {
      if (host === undefined) continue;
      const { epoch, applied, lag } = host;
      progress.set(shard, { epoch, applied, lagRecords: lag.records, memoryBytes: lag.memoryBytes });
    }
    return progress;
  }

  /** Why shards that should be served here, or are served by nobody, are not. */
  failing(): Map<number, string> {
    const { directory, nodeId } = this.parts;
    const failing = new Map<number, string>();
    for (const [shard, { reason }] of this.failures.all()) {
      if (this.tenures.get(shard)?.host !== undefined) continue;
      const isMissing = directory.ownerOf(shard) === undefined || this.placement.assignedTo(shard)?.id === nodeId;
      if (isMissing) failing.set(shard, reason);
    }
    return failing;
  }

  /** Takes no shards any more, and resolves when none is left here. The node must tell that it is draining. */
  drained(pace: Pace): Promise<void> {
    this.isDraining = true;
    this.pace = pace;
    this.waits.wake();
    if (this.tenures.size === 0) return Promise.resolve();
    this.empty ??= Promise.withResolvers<void>();
    return this.empty.promise;
  }

  /** Whether another node could take what is here. */
  get hasHeirs(): boolean {
    return this.parts.directory.nodes().some(({ id, isDraining }) => id !== this.parts.nodeId && !isDraining);
  }

  /** Closes all shards and gives their leases back. @param flushes some at a time, with what is in memory brought to files */
  async close(flushes: boolean): Promise<void> {
    this.isEnding = true;
    this.quiet();
    this.waits.wake();
    await this.looking;
    const shards = [...this.tenures.keys()];
    const close = async (): Promise<void> => {
      for (let shard = shards.pop(); shard !== undefined; shard = shards.pop()) {
        const tenure = this.tenures.get(shard);
        if (tenure === undefined) continue;
        tenure.end({ kind: "stop", flushes });
        await this.ending.get(tenure);
      }
    };
    await Promise.all(Array.from({ length: flushes ? STOP_MOVES_MAX : shards.length }, close));
  }

  private async lookUntilEnd(): Promise<void> {
    while (!this.isEnding) {
      this.look();
      await this.waits.wait(LOOK_MILLIS);
    }
  }

  private look(): void {
    const { directory, nodeId, identity, timers, isMember } = this.parts;
    this.seenVersion = directory.ownershipVersion;
    this.placement.look();
    const now = timers.monotonicMillis();
    for (const [shard, tenure] of this.tenures) {
      this.oustIfTaken(tenure);
      if (now - tenure.servedSinceMillis >= SOUND_MILLIS) this.failures.forget(shard);
    }
    const me = directory.node(nodeId);
    if (!isMember() || me?.identity !== identity) return;
    this.giveBack();
    if (!this.isDraining && !me.isDraining) this.takeFree(now >= this.settledMillis);
  }

  private oustIfTaken(tenure: Tenure): void {
    const { directory, identity } = this.parts;
    const { shard, host } = tenure;
    const told = directory.leaseOf(shard);
    const isTaken = told !== undefined && told.holder !== identity && tenure.leaseNumber > 0 && told.number > tenure.leaseNumber;
    const { epochAtStart } = tenure.options;
    const isFenced = host !== undefined && directory.highestEpoch(shard) > Math.max(host.epoch, epochAtStart);
    if (isTaken || isFenced) tenure.end({ kind: "ousted" });
  }

  private giveBack(): void {
    const { nodeId } = this.parts;
    const closing = new Set<number>();
    for (const [shard, tenure] of this.tenures) if (tenure.isEnding || tenure.state === "closing") closing.add(shard);
    const moves = this.placement.moves(closing, this.pace === "stop" ? STOP_MOVES_MAX : MOVES_MAX);
    for (const [shard, tenure] of this.tenures) {
      tenure.look();
      const assigned = this.placement.assignedTo(shard);
      if (tenure.isEnding || assigned === undefined || assigned.id === nodeId || !tenure.isHeld) continue;
      if (tenure.state === "opening") {
        if (this.isDraining || !this.kept.isKept(shard, assigned.identity)) tenure.end({ kind: "give-up" });
      } else if (moves.has(shard)) tenure.end({ kind: "hand-over", to: assigned.id });
    }
  }

  /** @param isSettled otherwise only shards that were let go since this node joined, maybe for it */
  private takeFree(isSettled: boolean): void {
    const { directory, nodeId, identity, shards, timers } = this.parts;
    const now = timers.monotonicMillis();
    let opening = 0;
    for (const { state } of this.tenures.values()) if (state === "opening") opening++;
    const free: number[] = [];
    for (let shard = 0; shard < shards; shard++) {
      if (this.tenures.has(shard) || (this.notBefore.get(shard) ?? now) > now || this.failures.isWaiting(shard)) continue;
      if (!isSettled && !this.placement.wasServed(shard)) continue;
      const lease = directory.leaseOf(shard);
      const isFree = lease === undefined || lease.holder === identity;
      if (isFree && this.placement.isTurnOf(nodeId, shard)) free.push(shard);
    }
    const isOurs = (shard: number): number => (this.placement.assignedTo(shard)?.id === nodeId ? 1 : 0);
    free.sort((one, other) => isOurs(other) - isOurs(one) || one - other);
    for (const shard of free.slice(0, Math.max(0, OPENINGS_MAX - opening))) this.take(shard);
  }

  private take(shard: number): void {
    const { parts, placement, kept } = this;
    const assigned = placement.assignedTo(shard);
    const isOutOfTurn = assigned !== undefined && assigned.id !== parts.nodeId;
    const unkeep = isOutOfTurn ? kept.keep(shard, assigned.identity) : undefined;
    const tenure = new Tenure(shard, parts, {
      epochAtStart: parts.directory.highestEpoch(shard),
      openMillis: this.failures.openMillis(shard),
      isKept: () => kept.isKept(shard, placement.assignedTo(shard)?.identity),
    });
    this.tenures.set(shard, tenure);
    this.ending.set(
      tenure,
      tenure.run().then((end) => {
        if (!Number.isFinite(tenure.servedSinceMillis)) unkeep?.();
        this.over(tenure, end);
      }),
    );
  }

  private over(tenure: Tenure, end: TenureEnd): void {
    const { shard } = tenure;
    this.tenures.delete(shard);
    this.ending.delete(tenure);
    const now = this.parts.timers.monotonicMillis();
    if (end.kind === "failed") this.failures.failed(shard, end.reason, end.isLate);
    else this.notBefore.set(shard, now + AGAIN_MILLIS);
    if (this.tenures.size === 0) {
      this.empty?.resolve();
      this.empty = undefined;
    }
    this.waits.wake();
  }
}
