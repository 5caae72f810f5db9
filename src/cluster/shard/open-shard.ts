/**
 * Opens a shard on this node.
 *
 *   manifest taken over ─► engine on its files ─► log followed ─► caught up with what the log had then
 *
 * From the first step on commits of an owner before are refused, and from the last one on all that it had acknowledged, and all that its
 * readers saw, is visible here.
 */
import type { Clock } from "../../base/clock.ts";
import { AssertionError } from "../../base/assert.ts";
import { errorText } from "../../base/error.ts";
import type { Logger } from "../../base/log.ts";
import { throwIfCancelled } from "../../base/scheduler/cancel.ts";
import { waitWithin } from "../../base/scheduler/wait-within.ts";
import { Engine } from "../../engine/engine.ts";
import type { EngineParts } from "../../engine/engine-parts.ts";
import type { FollowLimits } from "../../engine/follow/followed-source.ts";
import type { CatalogueElsewhere } from "../../engine/schema/catalog-port.ts";
import type { ConditionalLog } from "../../storage/meta-store/conditional-log.ts";
import type { OwnedMetaStore } from "../../storage/meta-store/owned-meta-store.ts";
import { openOwnedMetaStore } from "../../storage/meta-store/owned-meta-store.ts";
import { MetaLog } from "../meta-log/meta-log.ts";
import type { ClusterPort } from "../port/cluster-port.ts";
import { insist } from "../port/insist.ts";
import { type PortFailure, portFailureOf } from "../port/port-error.ts";
import { borrowedFlusher, borrowedMerger } from "./borrowed.ts";
import { OpenedShard } from "./opened-shard.ts";
import type { OpenShard, OpenShardOptions, ShardHost } from "./shard-host.ts";
import { type FollowedCatalog, ShardLog } from "./shard-log.ts";

/** What of an engine's parts the shards of a node share. None of them is closed with a shard. */
type SharedParts = Pick<
  EngineParts,
  | "files"
  | "flusher"
  | "merger"
  | "scheduler"
  | "limits"
  | "compaction"
  | "memory"
  | "pageCacheBytes"
  | "pageCache"
  | "seriesRenewal"
  | "onWork"
>;

/** What shards are opened with. */
export interface OpenShardParts extends SharedParts {
  readonly port: ClusterPort;
  /** The mirror of the catalogue. */
  readonly catalog: FollowedCatalog & {
    readonly shards: number;
    catalogue(): CatalogueElsewhere;
  };
  readonly clock: Clock;
  readonly sleep: (millis: number) => Promise<void>;
  readonly logger: Logger;
  /** As of `FollowedSource`: for tests. */
  readonly follow?: FollowLimits;
  /** Is told of bugs: has to end the process. The shard has been given up. */
  readonly onBug: (error: Error) => void;
}

/** Makes what opens shards. */
export function shardOpener(parts: OpenShardParts): OpenShard {
  return (shard, options) => openShard(parts, shard, options);
}

/** Folder of a shard's files in a store that all shards share. */
function shardFolder(shard: number): string {
  return `shard-${String(shard).padStart(4, "0")}/`;
}

async function openShard(parts: OpenShardParts, shard: number, options: OpenShardOptions): Promise<ShardHost> {
  const { port, sleep } = parts;
  const logger = parts.logger.child(`shard-${shard}`);
  const { signal } = options;
  throwIfCancelled(signal);
  const list = new MetaLog(port, `manifest.${shard}`, {
    sleep,
    onTrimFailed: (error) => logger.debug({ error: errorText(error) }, "cannot trim the manifest; a later trim does its work"),
  });
  const began = parts.clock.monotonicMillis();
  const onRestored = (why: string): void =>
    logger.error({ shard, error: why }, "the manifest of a shard went back: this node, which has all of it, has written it again");
  const meta = await takenOver(list, port.identity, signal, onRestored);
  const opening = new Opening(parts, shard, options, logger);
  return opening.open(meta, began);
}

/**
 * Takes the manifest over. Once the signal has fired nothing more is tried: the shard may be another's by then, who would be refused.
 *
 * @throws DbError StorageUnavailable; Cancelled
 */
async function takenOver(
  list: ConditionalLog,
  owner: string,
  signal: AbortSignal,
  onRestored: (why: string) => void,
): Promise<OwnedMetaStore> {
  let isOpen = false;
  const check = (): void => {
    if (!isOpen) throwIfCancelled(signal);
  };
  const log: ConditionalLog = {
    append: async (text, last) => {
      check();
      return list.append(text, last);
    },
    read: async (number) => {
      check();
      return list.read(number);
    },
    trim: (number) => list.trim(number),
  };
  const meta = await waitWithin(openOwnedMetaStore(log, owner, onRestored), { signal });
  isOpen = true;
  return meta;
}

/** One opening: whatever goes wrong ends it, or once it is open the shard. */
class Opening {
  private readonly parts: OpenShardParts;
  private readonly shard: number;
  private readonly options: OpenShardOptions;
  private readonly logger: Logger;
  private readonly log: ShardLog;
  private host: OpenedShard | undefined;
  private lost: Error | undefined;

  constructor(parts: OpenShardParts, shard: number, options: OpenShardOptions, logger: Logger) {
    this.parts = parts;
    this.shard = shard;
    this.options = options;
    this.logger = logger;
    const { port, catalog, scheduler, sleep, follow: limits } = parts;
    this.log = new ShardLog({ port, shard, catalog, scheduler, sleep, logger, limits, onLost: (why) => this.onLost(why) });
  }

  /** @param began when opening it began: the log tells where the time went */
  async open(meta: OwnedMetaStore, began: number): Promise<ShardHost> {
    const { shard, log, logger } = this;
    const { clock } = this.parts;
    const owned = clock.monotonicMillis();
    const { engine } = await Engine.open(this.engineParts(meta));
    const host = new OpenedShard({ shard, epoch: meta.epoch, engine, log, logger, onLost: (why) => this.options.onLost(why) });
    let opened = owned;
    let start = 0;
    try {
      throwIfCancelled(this.options.signal);
      opened = clock.monotonicMillis();
      start = engine.followed.start.number;
      await this.marked();
      const { wholeFrom } = engine.followed;
      log.begin(engine);
      const last = await this.answered(() => log.last(), ["went-back", "vanished"]); // The log is seen to meanwhile.
      await this.caughtUp(Math.max(last, wholeFrom));
      if (this.lost !== undefined) throw this.lost;
    } catch (error) {
      await host.close(false);
      throw this.lost ?? error;
    }
    this.host = host;
    const { epoch } = meta;
    const { applied } = host;
    const millis = [owned - began, opened - owned, clock.monotonicMillis() - opened].map(Math.round);
    const [manifestMillis, filesMillis, logMillis] = millis;
    logger.info({ shard, epoch, applied, messages: applied - start, manifestMillis, filesMillis, logMillis }, "a shard is open");
    return host;
  }

  private engineParts(meta: OwnedMetaStore): EngineParts {
    const { files, scheduler, limits, compaction, memory, pageCacheBytes, pageCache, seriesRenewal, onWork } = this.parts;
    const { catalog, flusher, merger, clock, onBug } = this.parts;
    return {
      files,
      scheduler,
      limits,
      compaction,
      ...(memory === undefined ? {} : { memory }),
      pageCacheBytes,
      pageCache,
      ...(seriesRenewal === undefined ? {} : { seriesRenewal }),
      onWork,
      followed: this.log,
      meta,
      catalogue: catalog.catalogue(),
      shards: catalog.shards,
      ownShard: this.shard,
      folder: shardFolder(this.shard),
      flusher: borrowedFlusher(flusher),
      merger: borrowedMerger(merger),
      clock,
      logger: this.logger,
      onFenced: (why) => this.onLost(why),
      onBug: (error) => {
        // A record that cannot be taken is the log's fault: the shard alone cannot go on.
        this.onLost(error.cause instanceof Error ? error.cause : error);
        if (!(error.cause instanceof Error) || error.cause instanceof AssertionError) onBug(error);
      },
    };
  }

  /** The engine has what was in the log when it was opened, and what files of tables have: they are all of one time. */
  private async caughtUp(least: number): Promise<void> {
    await waitWithin(this.log.whenTaken(least), { signal: this.options.signal });
  }

  /**
   * Tells owners of before, by the log. A log that is full takes nothing until this owner has flushed: then they hear by their commits. One
   * that is gone is made anew (`ShardLog`), and they see that.
   */
  private async marked(): Promise<void> {
    try {
      await this.answered(() => this.log.mark(), ["went-back"]);
    } catch (error) {
      const failure = portFailureOf(error);
      if (failure === "vanished") return;
      if (failure !== "full") throw error;
      this.logger.warn({ shard: this.shard }, "the log of a shard is full: an owner of before may answer with rows that are deleted");
    }
  }

  /** What the log answers; it is asked again while servers elect. @param also failures that pass as well */
  private answered(ask: () => Promise<number>, also: readonly PortFailure[]): Promise<number> {
    const { clock, sleep } = this.parts;
    const onFailure = (error: unknown): void => {
      if (this.lost !== undefined) throw error;
      throwIfCancelled(this.options.signal);
    };
    return insist(ask, { clock, sleep, passing: ["unavailable", "unknown", ...also], onFailure });
  }

  private onLost(why: Error): void {
    if (this.lost !== undefined) return;
    this.lost = why;
    this.logger.error({ shard: this.shard, error: errorText(why) }, "a shard is lost: this node cannot go on with it");
    this.log.end(why);
    this.host?.lose(why);
  }
}
