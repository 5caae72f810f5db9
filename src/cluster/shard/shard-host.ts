/**
 * One shard of the cluster on the node that owns it: an engine over the shard's slice of all tables, which follows the shard's log.
 *
 *   openShard ─► manifest taken over (the fence) ─► log followed from what is flushed ─► caught up: serves ─► close
 *
 * It ends by itself, loudly, when another owner has taken the manifest over, or the log is not what it was (`onLost`).
 */
import type { ScannedTable } from "../../table/catalog.ts";
import type { TableId } from "../../base/units.ts";
import type { Engine } from "../../engine/engine.ts";

/** A shard that is open. */
export interface ShardHost {
  readonly shard: number;
  /** Of the manifest: rises with each owner. */
  readonly epoch: number;
  /** The engine over the shard's rows. */
  readonly engine: Engine;
  /** Number of the last record that is visible. */
  readonly applied: number;
  /** Bytes of the log behind the last record that is visible, as far as is known; and of memtables. */
  readonly lag: { readonly records: number; readonly memoryBytes: number };
  /** How often writers were asked to send again what they hold, since the log lost records; and which the last time, 0: all. */
  readonly asked: { readonly count: number; readonly writer: number };
  /**
   * Resolves when all records up to `least` are visible.
   *
   * @throws DbError StorageUnavailable: it was closed or lost, or the log does not give them in time; Cancelled
   */
  reach(least: number, signal?: AbortSignal): Promise<void>;
  /** A table by its id, as readers of this shard see it. @throws DbError TableNotFound */
  table(id: TableId): ScannedTable;
  /** Resolves when the manifest was this owner's at a moment after the call. @throws DbError StorageUnavailable: it may not be */
  confirm(): Promise<void>;
  /**
   * Ends it. With `flushes`, what is in memory goes to files first, so that the next owner has little to follow; nothing waits for that
   * longer than 10 s.
   */
  close(flushes: boolean): Promise<void>;
}

/** Opens shards: `cluster/ownership` decides which. @throws DbError StorageUnavailable */
export type OpenShard = (shard: number, options: OpenShardOptions) => Promise<ShardHost>;

/** What opening a shard is told. */
export interface OpenShardOptions {
  /** Ends the opening, which then fails with Cancelled and leaves nothing behind. */
  readonly signal: AbortSignal;
  /** Called once when the shard cannot go on: it is closed without a flush already. The lease is to be given back. */
  onLost(why: Error): void;
  /**
   * Whether the shard's lease is held for certain at this moment. While it is not, the shard goes on serving what it follows, but nothing
   * that costs much is begun whose outcome another owner would refuse: merges. Absent: as if it were.
   */
  readonly holds?: () => boolean;
}
