/**
 * The directory of owners: follows all leases (`Leases.watch`) and keeps what their values say.
 *
 *   lease.<s> ─► who holds it, opens, serves ──┐
 *   node.<id> ─► where it is, what it tells ───┴─► an owner: a lease that serves, of a node that lives under the same holder
 *   frontend.<id> ─► where it is
 *
 * Values that cannot be read are skipped and named once in the log: other versions wrote them, or nobody should have.
 */
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { LeaseChanges, Leases, LeaseState } from "../port/leases.ts";
import { type PortFailure, portFailureOf } from "../port/port-error.ts";
import type { Directory, KnownFrontend, KnownNode, ShardClaim, ShardOwner, ShardProgress } from "./directory.ts";
import { decodeFrontendValue } from "./frontend-value.ts";
import { CLUSTER_SHARDS_MAX, FOLLOW_AGAIN_MILLIS, FRONTENDS_MAX, JOIN_MILLIS, LAG_RECORD_BYTES, NODES_MAX } from "./limits.ts";
import { isNodeId } from "./node-id.ts";
import { decodeNodeValue } from "./node-value.ts";
import { decodeShardValue } from "./shard-value.ts";
import { type Timers, Waits, within } from "./timers.ts";
import { ValueError } from "./value-fields.ts";

/** What a directory is made of. */
export interface DirectoryParts {
  readonly leases: Leases;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** A shard's lease that somebody holds. */
export interface KnownShardLease {
  /** Identity of the holder's port. */
  readonly holder: string;
  readonly number: number;
  /** undefined: it cannot be read. */
  readonly value: ShardClaim | undefined;
}

const LEASE = /^lease\.(0|[1-9]\d{0,3})$/;
const NODE = /^node\.(.*)$/;
const FRONTEND = /^frontend\.(.*)$/;

/** See the file header. */
export class FollowedDirectory implements Directory {
  readonly started: Promise<void>;
  /** Rises whenever a shard's lease changes, or a node comes, goes, or begins to drain: not when nodes only tell how far they are. */
  ownershipVersion = 0;
  private readonly parts: DirectoryParts;
  private readonly known = new Map<string, KnownNode>();
  private readonly knownFrontends = new Map<string, KnownFrontend>();
  private readonly leases = new Map<number, KnownShardLease>();
  /** Highest epoch that was told of each shard. */
  private readonly epochs = new Map<number, number>();
  /** Names of leases whose value cannot be read and was reported. */
  private readonly reported = new Set<string>();
  /** How following them failed last; undefined: it does not. */
  private failing: PortFailure | undefined;
  private sorted: readonly KnownNode[] | undefined;
  private change: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  private readonly listeners = new Set<() => void>();
  private readonly closing: AbortController = new AbortController();
  private readonly waits: Waits;
  private readonly following: Promise<void>;

  private constructor(parts: DirectoryParts) {
    this.parts = parts;
    this.waits = new Waits(parts.timers);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    promise.catch((error: unknown) => parts.logger.debug({ error: errorText(error) }, "leases are not followed")); // Nobody needs to wait.
    this.following = this.follow(resolve, reject);
  }

  /** Begins to follow. */
  static follow(parts: DirectoryParts): FollowedDirectory {
    return new FollowedDirectory(parts);
  }

  async close(): Promise<void> {
    this.closing.abort();
    this.waits.wake();
    await this.following;
  }

  ownerOf(shard: number): ShardOwner | undefined {
    const lease = this.leases.get(shard);
    if (lease?.value?.state !== "serving") return undefined;
    const { nodeId, epoch } = lease.value;
    const node = this.known.get(nodeId);
    if (node?.identity !== lease.holder) return undefined;
    return { shard, nodeId, address: node.address, identity: node.identity, epoch };
  }

  claimOf(shard: number): ShardClaim | undefined {
    return this.leases.get(shard)?.value;
  }

  nodes(): readonly KnownNode[] {
    this.sorted ??= [...this.known.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    return this.sorted;
  }

  frontends(): readonly KnownFrontend[] {
    return [...this.knownFrontends.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** A frontend that lives. */
  frontend(id: string): KnownFrontend | undefined {
    return this.knownFrontends.get(id);
  }

  /** A node that lives. */
  node(id: string): KnownNode | undefined {
    return this.known.get(id);
  }

  /** The lease of a shard; undefined where nobody holds it. */
  leaseOf(shard: number): KnownShardLease | undefined {
    return this.leases.get(shard);
  }

  /** The highest epoch that was ever told of a shard; 0: none. */
  highestEpoch(shard: number): number {
    return this.epochs.get(shard) ?? 0;
  }

  lagOf(shard: number): ShardProgress | undefined {
    const owner = this.ownerOf(shard);
    return owner === undefined ? undefined : this.known.get(owner.nodeId)?.shards.get(shard);
  }

  isBehind(shard: number, bytes: number): boolean {
    return (this.lagOf(shard)?.lagRecords ?? 0) * LAG_RECORD_BYTES > bytes;
  }

  nextChange(): Promise<void> {
    return this.change.promise;
  }

  /** Calls back after each change until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private async follow(start: () => void, fail: (error: unknown) => void): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      try {
        let isFirst = true;
        for await (const told of this.parts.leases.watch({ signal })) {
          if (isFirst) this.forgetUntold(told);
          this.take(told, isFirst ? told.leases.keys() : told.changed);
          isFirst = false;
          this.failing = undefined;
          start();
        }
      } catch (error) {
        const failure = portFailureOf(error);
        if (failure === "closed") return fail(error);
        if (failure === undefined) throw error;
        if (!signal.aborted && failure !== this.failing) {
          this.failing = failure;
          this.parts.logger.error({ failure, error: errorText(error) }, "leases cannot be followed; tried again until they can");
        }
      }
      if (!signal.aborted) await this.waits.wait(FOLLOW_AGAIN_MILLIS);
    }
  }

  /** A watch that begins tells what is held, not what was let go since the one before it. */
  private forgetUntold({ leases }: LeaseChanges): void {
    const names = [
      ...[...this.known.keys()].map((id) => `node.${id}`),
      ...[...this.knownFrontends.keys()].map((id) => `frontend.${id}`),
      ...[...this.leases.keys()].map((shard) => `lease.${shard}`),
    ];
    const gone = names.filter((name) => !leases.has(name));
    this.take({ leases, changed: new Set(gone) }, gone);
  }

  private take({ leases }: LeaseChanges, changed: Iterable<string>): void {
    for (const name of changed) {
      const state = leases.get(name);
      if (state === undefined) this.reported.delete(name);
      const shard = LEASE.exec(name)?.[1];
      const id = NODE.exec(name)?.[1];
      const frontend = FRONTEND.exec(name)?.[1];
      if (shard !== undefined && Number(shard) < CLUSTER_SHARDS_MAX) this.takeShard(Number(shard), name, state);
      else if (id !== undefined && isNodeId(id)) this.takeNode(id, name, state);
      else if (frontend !== undefined && isNodeId(frontend)) this.takeFrontend(frontend, name, state);
    }
    this.change.resolve();
    this.change = Promise.withResolvers<void>();
    for (const listener of this.listeners) listener();
  }

  private takeShard(shard: number, name: string, state: LeaseState | undefined): void {
    this.ownershipVersion++;
    if (state === undefined) return void this.leases.delete(shard);
    const value = this.read(name, () => decodeShardValue(state.value));
    this.leases.set(shard, { holder: state.holder, number: state.number, value });
    this.epochs.set(shard, Math.max(value?.epoch ?? 0, this.highestEpoch(shard)));
  }

  private takeNode(id: string, name: string, state: LeaseState | undefined): void {
    const before = this.known.get(id);
    const isTooMany = before === undefined && this.known.size >= NODES_MAX;
    const value = this.readHolders(name, state, decodeNodeValue, isTooMany ? `there are ${NODES_MAX} nodes already` : undefined);
    const now = value && { id, ...value };
    if (now === undefined) this.known.delete(id);
    else this.known.set(id, now);
    this.sorted = undefined;
    const isSame = before?.identity === now?.identity && before?.isDraining === now?.isDraining && before?.address === now?.address;
    if (!isSame) this.ownershipVersion++;
  }

  private takeFrontend(id: string, name: string, state: LeaseState | undefined): void {
    const isTooMany = !this.knownFrontends.has(id) && this.knownFrontends.size >= FRONTENDS_MAX;
    const refusal = isTooMany ? `there are ${FRONTENDS_MAX} frontends already` : undefined;
    const value = this.readHolders(name, state, decodeFrontendValue, refusal);
    if (value === undefined) this.knownFrontends.delete(id);
    else this.knownFrontends.set(id, { id, ...value });
  }

  /** What who holds a lease says of itself; undefined: nobody does, it cannot be read, or it is refused. @param refusal why it is */
  private readHolders<T extends { readonly identity: string }>(
    name: string,
    state: LeaseState | undefined,
    decode: (text: string) => T,
    refusal: string | undefined,
  ): T | undefined {
    const value = state && this.read(name, () => decode(state.value));
    if (value === undefined) return undefined;
    const why = value.identity === state?.holder ? refusal : "its identity is not its holder's";
    if (why === undefined) return value;
    this.report(name, why);
    return undefined;
  }

  private read<T>(name: string, decode: () => T): T | undefined {
    try {
      const value = decode();
      this.reported.delete(name);
      return value;
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      this.report(name, error.message);
      return undefined;
    }
  }

  private report(name: string, why: string): void {
    if (this.reported.has(name)) return;
    this.reported.add(name);
    this.parts.logger.warn({ lease: name, reason: why }, "the value of a lease cannot be read and is skipped");
  }
}

/** Waits until a directory was told of the leases. @throws DbError StorageUnavailable: not within `JOIN_MILLIS`; PortError closed */
export async function begun(directory: Directory, timers: Timers): Promise<void> {
  if ((await within(timers, JOIN_MILLIS, () => directory.started)) !== "late") return;
  throw new DbError(StatusCode.StorageUnavailable, "cannot read the leases of the cluster: the servers do not answer");
}
