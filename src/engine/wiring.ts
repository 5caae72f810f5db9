/**
 * The parts of an engine, put together: what each is made of, and what it may ask of the others.
 */
import type { Clock } from "../base/clock.ts";
import type { Scheduler } from "../base/scheduler/scheduler.ts";
import type { Logger } from "../base/log.ts";
import { MemoryCounter, ServerMemory } from "../base/server-memory.ts";
import { SureSteps } from "../base/sure-steps.ts";
import { Troubles } from "../base/troubles.ts";
import { PageCache } from "../storage/cache/page-cache.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import { type LastingDeletes, lastingDeletes } from "../storage/file-store/lasting-deletes.ts";
import { SlabPool } from "../storage/memtable/arena.ts";
import type { MetaStore } from "../storage/meta-store/meta-store.ts";
import type { Region } from "../storage/region/region.ts";
import type { FlushExecutor } from "../storage/sst/flush-executor.ts";
import type { Wal } from "../storage/wal/wal.ts";
import { Compactor } from "./compaction/compactor.ts";
import { Deleter } from "./change/deleter.ts";
import type { EngineParts } from "./engine-parts.ts";
import { Expiry } from "./time/expiry.ts";
import { type FlushLimits, FlushScheduler } from "./flush/flush-scheduler.ts";
import { Flusher } from "./flush/flusher.ts";
import { DamagedFiles } from "./health/damaged-files.ts";
import { DiskWatch, type DiskWatchOptions, systemFreeBytes } from "./health/disk-watch.ts";
import { PlaceWatch } from "./health/place-watch.ts";
import { Upkeep } from "./health/upkeep.ts";
import { probeMetaStore, watchedMetaStore } from "./health/watched-meta-store.ts";
import { WriteGate } from "./health/write-gate.ts";
import { LiveTables } from "./catalog/live-tables.ts";
import { LogStreams } from "./log/log-streams.ts";
import { LogTrimmer } from "./flush/log-trimmer.ts";
import { SchemaStore } from "./schema/schema-store.ts";
import { SeriesRenewal } from "./catalog/series-renewal.ts";
import type { SequenceCounter } from "./log/sequence-counter.ts";
import { TableChanges } from "./change/table-changes.ts";
import { TablesInForce, wholeCatalog } from "./catalog/tables-in-force.ts";
import { CatalogFeed } from "./threads/catalog-feed.ts";
import { SharedState } from "./threads/shared-state.ts";
import type { ThreadOwner } from "./threads/thread-host.ts";
import { ThreadHosts } from "./threads/thread-hosts.ts";
import { Truncation } from "./change/truncation.ts";
import { WritePath } from "./write/write-path.ts";

/** No disk is watched. */
const NO_DISK: DiskWatchOptions = { paths: [], freeBytesMin: 0, freeBytesOf: systemFreeBytes };

/** See the file header. Nothing runs yet: whoever has it starts and ends its parts. */
export class Wiring {
  readonly wal: Wal;
  readonly meta: MetaStore;
  readonly flushExecutor: FlushExecutor;
  readonly clock: Clock;
  private readonly thread: Scheduler;
  readonly logger: Logger;
  readonly files: FileStore;
  readonly limits: FlushLimits;
  readonly schemas: SchemaStore;
  readonly live: LiveTables = new LiveTables();
  readonly shared: SharedState;
  readonly sequences: SequenceCounter;
  readonly streams: LogStreams;
  readonly feed: CatalogFeed;
  readonly threads: ThreadHosts;
  readonly trimmer: LogTrimmer;
  readonly writePath: WritePath;
  readonly flusher: Flusher;
  readonly scheduler: FlushScheduler<Region>;
  readonly compactor: Compactor;
  readonly deleter: Deleter;
  readonly inForce: TablesInForce;
  readonly changes: TableChanges;
  readonly truncation: Truncation;
  readonly disk: DiskWatch;
  readonly places: PlaceWatch;
  readonly gate: WriteGate;
  readonly damaged: DamagedFiles;
  readonly upkeep: Upkeep;
  readonly series: SeriesRenewal;
  /** What does not work, the log apart. */
  readonly faults: Troubles;
  /** What brings memory up to what is stored. */
  readonly sure: SureSteps;
  readonly cache: PageCache;
  private readonly memory: ServerMemory;

  constructor(parts: EngineParts) {
    const { wal, merger, clock, logger } = parts;
    this.sure = new SureSteps(parts.onBug);
    const troubles = new Troubles(logger.child("health"), clock);
    const deletes = lastingDeletes(parts.files, (reason) => troubles.failed("file_delete", reason));
    const meta = watchedMetaStore(parts.meta, troubles);
    const files = deletes.store;
    this.wal = wal;
    this.meta = meta;
    this.files = files;
    this.flushExecutor = parts.flusher;
    this.clock = clock;
    this.thread = parts.scheduler;
    this.logger = logger;
    this.limits = parts.limits;
    this.faults = troubles;
    this.memory = parts.memory ?? new ServerMemory(Number.POSITIVE_INFINITY);
    this.disk = new DiskWatch(parts.disk ?? NO_DISK, troubles);
    this.places = new PlaceWatch(parts.places ?? [], troubles);
    this.damaged = new DamagedFiles(files, troubles, logger);
    this.schemas = new SchemaStore(meta, undefined, clock);
    this.cache = new PageCache(parts.pageCacheBytes, () => this.memory.onGarbage());
    this.shared = parts.shared ?? new SharedState(0);
    this.sequences = this.shared.sequences;
    this.streams = new LogStreams(wal, parts.threadLogs ?? []);
    const { live, streams, sequences, schemas, disk, shared } = this;
    const workerMemory = new MemoryCounter();
    this.trimmer = new LogTrimmer(streams, live, troubles, meta);
    this.gate = new WriteGate(streams, disk, this.places);
    this.feed = new CatalogFeed(
      shared,
      () => wholeCatalog(schemas),
      () => meta.settled(),
    );
    this.threads = new ThreadHosts(this.threadOwner());
    const { trimmer, threads } = this;
    const expiry = new Expiry(clock, (name) => schemas.database(name)?.options ?? {});
    const limits = parts.compaction;
    this.compactor = new Compactor(
      { merger, meta, files, clock, expiry, limits, troubles, sure: this.sure, workerMemory, logger: logger.child("compaction") },
      {
        regions: () => live.regions(),
        isLive: (region) => live.isLive(region),
        takeFileId: () => schemas.takeFileIds(1),
        hasRoomFor: (bytes) => disk.hasRoomFor(bytes),
      },
    );
    this.flusher = this.makeFlusher(workerMemory);
    this.scheduler = this.makeScheduler();
    this.deleter = this.makeDeleter();
    this.inForce = this.makeTables(expiry);
    const { inForce, compactor, flusher } = this;
    this.changes = new TableChanges(inForce, { meta, compactor, flusher, threads, trimmer, sure: this.sure });
    this.truncation = new Truncation(inForce, { meta, compactor, flusher, threads, trimmer, sequences, sure: this.sure });
    this.writePath = new WritePath({
      wal,
      clock,
      tables: inForce.forWrites(),
      sequences,
      expiry,
      sure: this.sure,
      noteLogged: (segment, tableId, sequence) => streams.own.ledger.note(segment, tableId, sequence),
      noteExpired: (rows) => shared.addExpiredRows(rows),
    });
    this.series = this.makeSeries(parts);
    this.upkeep = this.makeUpkeep(deletes);
    this.countMemory(workerMemory);
  }

  private threadOwner(): ThreadOwner {
    const { shared, feed, meta, sure } = this;
    const countMemory = (): void => shared.setKnownBytes(this.scheduler.memoryBytes);
    return {
      shared,
      feed,
      sure,
      regionOf: (tableId) => this.live.byTableId(tableId)?.table.region,
      evolve: (steps) => {
        this.inForce.applySteps(steps);
      },
      written: (bytes) => {
        this.scheduler.written(bytes);
        countMemory();
      },
      admit: async () => {
        await this.threads.released();
        this.gate.check();
        await this.scheduler.admit();
        countMemory();
      },
      durable: () => meta.settled(),
    };
  }

  private makeFlusher(workerMemory: MemoryCounter): Flusher {
    const {
      meta,
      files,
      flushExecutor: executor,
      clock,
      logger,
      live: tables,
      schemas,
      sequences,
      trimmer,
      threads,
      compactor,
      sure,
    } = this;
    const onFlushed = (region: Region): void => compactor.flushed(region);
    return new Flusher({
      meta,
      files,
      executor,
      clock,
      logger,
      tables,
      schemas,
      sequences,
      trimmer,
      sure,
      workerMemory,
      threads,
      onFlushed,
    });
  }

  private makeScheduler(): FlushScheduler<Region> {
    const { wal, live, trimmer, gate, memory, shared, limits, logger, faults: troubles } = this;
    const host = {
      regions: () => live.regions(),
      logBytes: () => trimmer.bytes,
      logHolders: () => trimmer.holders(),
      logRecords: () => wal.queued().records,
      untoldBytes: () => shared.untoldBytes,
      isUrgent: () => gate.failure() !== undefined,
      isOverMemory: () => memory.isOver(),
      flush: (regions: readonly Region[]) => this.flusher.flushTogether(regions),
      flushEnded: (reason: string | undefined) => (reason === undefined ? troubles.works("flush") : troubles.failed("flush", reason)),
    };
    return new FlushScheduler(limits, host, this.thread, logger.child("flush"));
  }

  private makeTables(expiry: Expiry): TablesInForce {
    const { schemas, live, feed, sequences, meta, files, clock, logger, limits, cache, deleter, threads, streams } = this;
    return new TablesInForce({
      schemas,
      live,
      feed,
      sequences,
      meta,
      files,
      pool: new SlabPool(limits.memtableBytes),
      clock,
      logger,
      ofTables: { cache, clock, expiry, deleter, catchUp: () => threads.drain() },
      sure: this.sure,
      // Rows of other threads, now or before a restart, find their place among others by their sequences.
      mayJoin: () => !threads.isShared && streams.isSingle,
      seriesRoom: this.shared,
    });
  }

  private makeDeleter(): Deleter {
    const { live, sequences, streams, scheduler, flusher, threads, faults, sure } = this;
    return new Deleter({
      wal: this.wal,
      tables: live,
      sequences,
      sure,
      noteLogged: (segment, tableId, sequence) => streams.own.ledger.note(segment, tableId, sequence),
      logFailed: () => {
        faults.failures.log++;
      },
      catchUp: () => threads.drain(),
      whileQuiet: (tableId, step) => threads.whileQuiet(tableId, step),
      admit: () => scheduler.admit(),
      refuse: (bytes) => this.gate.checkDelete(bytes),
      written: (bytes) => scheduler.written(bytes),
      flush: (region) => flusher.flush(region),
    });
  }

  private makeSeries({ seriesRenewal: limits }: EngineParts): SeriesRenewal {
    const { live, shared, memory, sure, clock, logger, threads } = this;
    return new SeriesRenewal({
      live,
      shared,
      memory,
      sure,
      clock,
      scheduler: this.thread,
      logger: logger.child("series"),
      limits,
      threadSeriesBytes: () => threads.seriesBytes,
      renewOnThreads: (tableId) => threads.renew(tableId),
    });
  }

  private makeUpkeep({ leftovers }: LastingDeletes): Upkeep {
    const { memory, disk, places, damaged, live, trimmer, streams, meta, gate, faults: troubles } = this;
    return new Upkeep({
      disk,
      places,
      onLooked: () => {
        this.shared.isRefusing = gate.refusal() !== undefined;
      },
      secureMeta: () => meta.secure(),
      memory,
      troubles,
      leftovers,
      logger: this.logger,
      trimLog: () => trimmer.trim(),
      isLogFailing: () => streams.failure() !== undefined,
      keepSeries: () => this.series.tick(),
      probeMeta: () => probeMetaStore(this.meta),
      lookAtFiles: async () => {
        const needed = live.fileNames();
        await damaged.lookAgain(({ name }) => needed.has(name));
      },
    });
  }

  private countMemory(workerMemory: MemoryCounter): void {
    const { memory, cache, scheduler, shared } = this;
    memory.register("page_cache", {
      bytes: () => cache.bytes,
      giveBack: (bytes) => cache.giveBack(bytes),
      mayGrow: () => cache.mayGrow(),
    });
    memory.register("memtables", { bytes: () => scheduler.memoryBytes + shared.untoldBytes });
    memory.register("workers", workerMemory);
  }
}
