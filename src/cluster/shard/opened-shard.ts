/** A shard that is open on this node: see `shard-host.ts`. */
import { DbError, errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { TableId } from "../../base/units.ts";
import type { Engine } from "../../engine/engine.ts";
import type { ScannedTable } from "../../table/catalog.ts";
import { CLOSE_MILLIS_MAX } from "./limits.ts";
import type { ShardHost } from "./shard-host.ts";
import type { ShardLog } from "./shard-log.ts";

/** What it is made of. */
export interface OpenedShardParts {
  readonly shard: number;
  readonly epoch: number;
  readonly engine: Engine;
  readonly log: ShardLog;
  readonly logger: Logger;
  /** As of `OpenShardOptions`. */
  onLost(why: Error): void;
}

/** See the file header. */
export class OpenedShard implements ShardHost {
  readonly shard: number;
  readonly epoch: number;
  readonly engine: Engine;
  private readonly parts: OpenedShardParts;
  private closing: Promise<void> | undefined;

  constructor(parts: OpenedShardParts) {
    this.shard = parts.shard;
    this.epoch = parts.epoch;
    this.engine = parts.engine;
    this.parts = parts;
  }

  get applied(): number {
    return this.engine.followed.applied;
  }

  get lag(): { readonly records: number; readonly memoryBytes: number } {
    return { records: this.parts.log.behind(this.applied), memoryBytes: this.engine.memtableBytes };
  }

  get asked(): { readonly count: number; readonly writer: number } {
    return this.engine.followed.losses.asked;
  }

  reach(least: number, signal?: AbortSignal): Promise<void> {
    return this.parts.log.reach(least, signal);
  }

  table(id: TableId): ScannedTable {
    const table = this.engine.tableOfId(id);
    if (table === undefined) throw new DbError(StatusCode.TableNotFound, `table ${id} does not exist`);
    return table;
  }

  confirm(): Promise<void> {
    return this.engine.confirmStore();
  }

  close(flushes: boolean): Promise<void> {
    this.closing ??= this.closeWithin(flushes, new Error("this node has given it up"));
    return this.closing;
  }

  /** Ends it since it cannot go on. */
  lose(why: Error): void {
    if (this.closing !== undefined) return; // Whoever closes it knows.
    this.closing = this.closeWithin(false, why);
    void this.closing.then(() => this.parts.onLost(why)); // Never rejects.
  }

  /** Never rejects. What takes longer goes on by itself: whoever opens the shard next refuses what it commits. */
  private async closeWithin(flushes: boolean, why: Error): Promise<void> {
    const { log, engine, logger, shard } = this.parts;
    log.end(why);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      logger.warn({ shard, millis: CLOSE_MILLIS_MAX }, "a shard takes long to close");
      late.resolve();
    }, CLOSE_MILLIS_MAX);
    const close = async (): Promise<void> => {
      try {
        await log.ended();
        await engine.close(flushes);
      } catch (error) {
        logger.warn({ shard, error: errorText(error) }, "cannot close a shard as it should be; the log has its rows");
      }
    };
    await Promise.race([close(), late.promise]);
    clearTimeout(timer);
  }
}
