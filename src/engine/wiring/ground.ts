/** What all other parts stand on: what is stored and watched, and who knows of it. Nothing here asks for a part of another file. */
import type { Clock } from "../../base/clock.ts";
import type { Scheduler } from "../../base/scheduler/scheduler.ts";
import type { Logger } from "../../base/log.ts";
import { MemoryCounter, ServerMemory } from "../../base/memory/server-memory.ts";
import { SureSteps } from "../../base/process/sure-steps.ts";
import { Troubles } from "../../base/process/troubles.ts";
import { PageCache } from "../../storage/cache/page-cache.ts";
import type { FileStore } from "../../storage/file-store/file-store.ts";
import { ownFiles } from "../../storage/file-store/own-files.ts";
import { type LastingDeletes, lastingDeletes } from "../../storage/file-store/lasting-deletes.ts";
import type { MetaStore } from "../../storage/meta-store/meta-store.ts";
import { noWal } from "../../storage/wal/no-wal.ts";
import type { Wal } from "../../storage/wal/wal.ts";
import { LiveTables } from "../catalog/live-tables.ts";
import { wholeCatalog } from "../catalog/tables-in-force.ts";
import type { EngineParts } from "../engine-parts.ts";
import { FollowedStream } from "../follow/followed-stream.ts";
import { Follower } from "../follow/follower.ts";
import { LogTrimmer } from "../flush/log-trimmer.ts";
import { DamagedFiles } from "../health/damaged-files.ts";
import { DiskWatch, type DiskWatchOptions, systemFreeBytes } from "../health/disk-watch.ts";
import { PlaceWatch } from "../health/place-watch.ts";
import { watchedMetaStore } from "../health/watched-meta-store.ts";
import { WriteGate } from "../health/write-gate.ts";
import { type WatchedWal, watchAppends } from "../log/append-watch.ts";
import { LogWriter } from "../log/log-writer.ts";
import { LogStreams } from "../log/log-streams.ts";
import type { SequenceCounter } from "../log/sequence-counter.ts";
import { CatalogPlans } from "../schema/catalog-plans.ts";
import { type CatalogPort, localCatalog } from "../schema/catalog-port.ts";
import { Commits } from "../schema/commits.ts";
import { FileIds } from "../schema/file-ids.ts";
import { type Shards, shardsOf } from "../schema/shards.ts";
import { SchemaStore } from "../schema/schema-store.ts";
import { CatalogFeed } from "../threads/catalog-feed.ts";
import { SharedState } from "../threads/shared-state.ts";
import { Expiry } from "../time/expiry.ts";

/** See the file header. */
export interface Ground {
  readonly clock: Clock;
  /** Of the thread that the engine runs on. */
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  /** What brings memory up to what is stored. */
  readonly sure: SureSteps;
  /** What does not work, the log apart. */
  readonly troubles: Troubles;
  readonly memory: ServerMemory;
  /** Counts what workers need. */
  readonly workerMemory: MemoryCounter;
  readonly wal: Wal;
  /** Numbers the records of `wal`. */
  readonly writer: LogWriter;
  readonly appends: WatchedWal;
  readonly meta: MetaStore;
  readonly commits: Commits;
  readonly files: FileStore;
  readonly leftovers: LastingDeletes["leftovers"];
  readonly cache: PageCache;
  readonly disk: DiskWatch;
  readonly places: PlaceWatch;
  readonly damaged: DamagedFiles;
  readonly shared: SharedState;
  readonly sequences: SequenceCounter;
  readonly fileIds: FileIds;
  readonly schemas: SchemaStore;
  readonly shards: Shards;
  readonly plans: CatalogPlans;
  readonly catalog: CatalogPort;
  readonly live: LiveTables;
  readonly expiry: Expiry;
  /** Takes the records of a log that others write; undefined: this engine writes its own. */
  readonly follower: Follower | undefined;
  /** Has that log go on by a message without records. */
  readonly pad: (() => Promise<void>) | undefined;
  readonly streams: LogStreams;
  readonly trimmer: LogTrimmer;
  readonly gate: WriteGate;
  readonly feed: CatalogFeed;
}

/** No disk is watched. */
const NO_DISK: DiskWatchOptions = { paths: [], freeBytesMin: 0, freeBytesOf: systemFreeBytes };

/** Makes it, of what whoever starts an engine hands over. */
export function layGround(parts: EngineParts): Ground {
  const { clock, scheduler, logger } = parts;
  const appends = watchAppends(parts.wal ?? noWal("rows come by the log of the shard"));
  const { wal } = appends;
  const sure = new SureSteps(parts.onBug);
  const troubles = new Troubles(logger.child("health"), clock);
  const memory = parts.memory ?? new ServerMemory(Number.POSITIVE_INFINITY);
  const meta = watchedMetaStore(parts.meta, troubles);
  const shared = parts.shared ?? new SharedState(0);
  const commits = new Commits(meta, (why) => {
    shared.isRefusing = true; // At once: other threads must not acknowledge what nobody will find.
    troubles.failed("metadata", why.message);
    parts.onFenced?.(why);
  });
  const lasting = lastingDeletes(parts.files, (reason) => troubles.failed("file_delete", reason));
  const { leftovers } = lasting;
  const files = ownFiles(lasting.store, () => commits.fenced === undefined);
  const cache = parts.pageCache ?? new PageCache(parts.pageCacheBytes, () => memory.onGarbage());
  const disk = new DiskWatch(parts.disk ?? NO_DISK, troubles);
  const places = new PlaceWatch(parts.places ?? [], troubles);
  const damaged = new DamagedFiles(files, troubles, logger);
  const { catalogue } = parts;
  const shards = shardsOf(catalogue?.entries ?? meta, parts.shards ?? 1, parts.ownShard);
  const schemas = new SchemaStore(catalogue?.entries ?? meta, catalogue?.version);
  const plans = new CatalogPlans(schemas, clock);
  const catalog = catalogue?.port ?? catalogHere(parts, localCatalog(meta, commits, schemas, shards));
  const live = new LiveTables(shards, parts.elsewhere);
  const expiry = new Expiry(clock, (name) => schemas.database(name)?.options ?? {});
  const { sequences } = shared;
  const followed = follow(parts, { meta, commits, shards, schemas, live, sequences });
  const streams = new LogStreams(wal, parts.threadLogs ?? [], followed?.stream);
  const trimmer = new LogTrimmer(streams, live, troubles, meta);
  const gate = new WriteGate(streams, disk, places, commits);
  const feed = new CatalogFeed(
    shared,
    () => wholeCatalog(schemas),
    () => meta.settled(),
  );
  const common = { clock, scheduler, logger, sure, troubles, memory, workerMemory: new MemoryCounter() };
  const writer = new LogWriter(() => schemas.version);
  const stored = { wal, writer, appends, meta, commits, files, leftovers, cache, disk, places, damaged };
  return {
    ...common,
    ...stored,
    shared,
    sequences,
    fileIds: new FileIds(meta, commits),
    schemas,
    shards,
    plans,
    catalog,
    live,
    expiry,
    follower: followed?.follower,
    pad: followed?.pad,
    streams,
    trimmer,
    gate,
    feed,
  };
}

/** What follows the log that others write, if there is one. */
function follow(
  { followed: source, clock, logger: engineLogger }: EngineParts,
  { meta, commits, shards, schemas, live, sequences }: Pick<Ground, "meta" | "commits" | "shards" | "schemas" | "live" | "sequences">,
): { readonly follower: Follower; readonly stream: FollowedStream; readonly pad: () => Promise<void> } | undefined {
  if (source === undefined) return undefined;
  const logger = engineLogger.child("follow");
  const nowMillis = (): number => clock.monotonicMillis();
  const follower = new Follower({
    meta,
    sequences,
    shards,
    logger,
    snapshotMessages: source.snapshotMessages,
    nowMillis,
    regionOf: (id) => live.byRegionId(id)?.table.region,
    nextTableId: () => schemas.nextTableId,
  });
  commits.withEach(() => follower.uncommitted());
  const stream = new FollowedStream({ follower, source, commits, flushed: live, nowMillis, logger });
  return { follower, stream, pad: () => source.pad() };
}

function catalogHere({ catalog }: EngineParts, local: CatalogPort): CatalogPort {
  return catalog?.(local) ?? local;
}
