/**
 * A machine that an engine runs on, in memory: its log, meta store and files outlive the engine, flushes can be held or made to fail, and
 * a crash leaves only what was durable.
 */
import { type Random, seededRandom } from "../../bench/macro/random.ts";
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import type { Clock } from "../../src/base/clock.ts";
import { systemClock } from "../../src/base/clock.ts";
import { DbError } from "../../src/base/error.ts";
import { type Logger, silentLogger } from "../../src/base/log.ts";
import type { ServerMemory } from "../../src/base/memory/server-memory.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { RowsElsewhere } from "../../src/engine/elsewhere.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { DiskWatchOptions } from "../../src/engine/health/disk-watch.ts";
import { IngestThread } from "../../src/engine/threads/ingest-thread.ts";
import { SharedState } from "../../src/engine/threads/shared-state.ts";
import type { Place } from "../../src/engine/health/place-watch.ts";
import type { CompactionLimits } from "../../src/engine/compaction/compactor.ts";
import type { FlushLimits } from "../../src/engine/flush/flush-scheduler.ts";
import type { CatalogueElsewhere } from "../../src/engine/schema/catalog-port.ts";
import type { SeriesRenewalLimits } from "../../src/engine/catalog/series-renewal.ts";
import { inlineMergeExecutor, type MergeExecutor } from "../../src/storage/compaction/merge-executor.ts";
import type { FileStore } from "../../src/storage/file-store/file-store.ts";
import { memoryFileStore } from "../../src/storage/file-store/memory-file-store.ts";
import { memoryMetaStore } from "../../src/storage/meta-store/memory-meta-store.ts";
import type { LocalMetaStore, MetaStore } from "../../src/storage/meta-store/meta-store.ts";
import type { FlushJob } from "../../src/storage/sst/write/flush.ts";
import { type FlushExecutor, inlineFlushExecutor } from "../../src/storage/sst/write/flush-executor.ts";
import { type MemoryWal, memoryWal } from "../../src/storage/wal/memory-wal.ts";
import type { WalRecoveryReport } from "../../src/storage/wal/wal.ts";
import { TEST_SHARDS } from "../support/shard-count.ts";
import { LateMeta } from "./late-meta.ts";
import { LateCatalog } from "./late-catalog.ts";
import { type Links, makeLinks } from "./thread-links.ts";
import { unexpectedBug } from "./unexpected-bug.ts";

/** Limits under which nothing is flushed or refused by itself. */
export const NO_LIMITS: FlushLimits = {
  memtableBytes: 1 << 30,
  writeBufferBytes: 1 << 30,
  logBytesMax: 1 << 30,
  idleMillis: Number.POSITIVE_INFINITY,
  stallMillis: 50,
};

/** Limits under which nothing is merged by itself. */
export const NO_COMPACTION: CompactionLimits = { isAutomatic: false, triggerFiles: 4, outputBytesMax: 1 << 30 };

/** Nobody waits until it is worth it. */
const FORCED_RENEWAL: SeriesRenewalLimits = { seriesMin: 0, restMillis: 0, isForced: true };

/** VARVE_LATE_CATALOG=7: every machine has a catalogue that others share, with that seed. For runs of other tests over it. */
const LATE: Random | undefined = lateOfEnvironment(process.env["VARVE_LATE_CATALOG"]);
/** VARVE_LATE_META=7: every machine has a meta store that answers later what is of files, with that seed. For runs of other tests. */
const LATE_META: Random | undefined = lateOfEnvironment(process.env["VARVE_LATE_META"]);

function lateOfEnvironment(seed: string | undefined): Random | undefined {
  return seed === undefined ? undefined : seededRandom(Number(seed));
}

/** How a machine differs from the plain one. */
export interface MachineOptions {
  readonly limits?: Partial<FlushLimits>;
  readonly compaction?: Partial<CompactionLimits>;
  readonly segmentBytes?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Stands between the engine and its files, e.g. `faultyFileStore`; called at each start. */
  readonly wrapFiles?: (files: FileStore) => FileStore;
  /** Stands between the engine and its meta store, e.g. `faultyMetaStore`; called at each start. */
  readonly wrapMeta?: (meta: MetaStore) => MetaStore;
  readonly disk?: DiskWatchOptions;
  readonly places?: readonly Place[];
  readonly memory?: ServerMemory;
  /** Is told of bugs that would end the process; by default they fail the test. */
  readonly onBug?: (error: Error) => void;
  /** Is told that the meta store is another's; by default nobody is. */
  readonly onFenced?: (why: Error) => void;
  /** When what is known of series begins anew; by default every time that `engine.keepUp` is called. */
  readonly seriesRenewal?: SeriesRenewalLimits;
  /** Ingest threads beside the engine, all of them on this one; 0 by default. */
  readonly threads?: number;
  /** Parts that series of tables are spread over. Default: `TEST_SHARDS`. */
  readonly shards?: number;
  /** Seeds a catalogue that others share, and that answers later (late-catalog.ts). Default: this machine's own. */
  readonly lateCatalog?: Random;
  /** The catalogue that others have, too; asked at each start. Default: this machine's own. */
  readonly catalogue?: () => CatalogueElsewhere;
  /** Seeds a meta store that answers later (late-meta.ts). Default: it answers at once. */
  readonly lateMeta?: Random;
  /** Where rows go and are, asked at each start. Default: here. */
  readonly elsewhere?: () => RowsElsewhere | undefined;
}

/** See the file header. One engine runs at a time. */
export class Machine {
  readonly files: Map<string, Uint8Array> = new Map();
  readonly meta: LocalMetaStore = memoryMetaStore();
  wal: MemoryWal;
  /** Logs of ingest threads by number, also of those that are no longer there. */
  readonly threadWals: Map<number, MemoryWal> = new Map();
  /** The ingest threads; that of number n is at n - 1. */
  threads: IngestThread[] = [];
  links: Links[] = [];
  shared!: SharedState;
  /** How many of them the next start makes. */
  threadCount: number;
  engine!: Engine;
  /** The catalogue where it answers later. */
  catalog!: LateCatalog;
  /** The meta store where it answers later. */
  lateMeta: LateMeta | undefined;
  recovery!: WalRecoveryReport;
  /** Why the next flushes fail; undefined: they do not. */
  flushFailure: string | undefined;
  /** Why the next commits of the meta store fail. */
  commitFailure: string | undefined;
  /** Why the next merges fail. */
  mergeFailure: string | undefined;
  /** Why a single flush fails. */
  flushFailureOf: (job: FlushJob) => string | undefined = () => undefined;
  /** Commits of the meta store since the machine was made. */
  commitCount = 0;
  /** Flushes begun since the machine was made. */
  flushCount = 0;
  private gate: PromiseWithResolvers<void> | undefined;
  private mergeGate: PromiseWithResolvers<void> | undefined;
  private life = 0;
  private readonly options: MachineOptions;

  private constructor(options: MachineOptions) {
    this.options = options;
    this.threadCount = options.threads ?? 0;
    this.wal = memoryWal(options.segmentBytes);
  }

  /** A machine with an open engine. */
  static async start(options: MachineOptions = {}): Promise<Machine> {
    const machine = new Machine(options);
    await machine.open();
    return machine;
  }

  /** Closes the engine and opens another. */
  async restart(): Promise<void> {
    await this.engine.close();
    await this.crash();
  }

  /** Loses power, then opens another engine on what was durable. Flushes and writes under way never end. */
  async crash(): Promise<void> {
    this.life++;
    this.gate = undefined;
    this.mergeGate = undefined;
    this.wal = this.wal.crash();
    for (const links of this.links) links.cut();
    for (const [id, wal] of this.threadWals) this.threadWals.set(id, wal.crash());
    await this.open();
  }

  /** A thread that writes: 0 is the engine's own. */
  writer(thread: number): Engine | IngestThread {
    return thread === 0 ? this.engine : (this.threads[thread - 1] as IngestThread);
  }

  /** The log that a thread writes. */
  logOf(thread: number): MemoryWal {
    return thread === 0 ? this.wal : (this.threadWals.get(thread) as MemoryWal);
  }

  /** From now on nothing that is written becomes durable, until `releaseLogs`. */
  holdLogs(): void {
    for (const wal of [this.wal, ...this.threadWals.values()]) wal.hold();
  }

  releaseLogs(): void {
    for (const wal of [this.wal, ...this.threadWals.values()]) wal.release();
  }

  /** From now on flushes stand still, after their files are written and before they are known, until `releaseFlush`. */
  holdFlush(): void {
    this.gate ??= Promise.withResolvers<void>();
  }

  releaseFlush(): void {
    this.gate?.resolve();
    this.gate = undefined;
  }

  /** From now on merges stand still, after their file is written and before it is known, until `releaseMerge`. */
  holdMerge(): void {
    this.mergeGate ??= Promise.withResolvers<void>();
  }

  releaseMerge(): void {
    this.mergeGate?.resolve();
    this.mergeGate = undefined;
  }

  /** Shards of its engines. */
  get shards(): number {
    return this.options.shards ?? TEST_SHARDS;
  }

  /** The files as another thread sees them. */
  get store(): FileStore {
    return memoryFileStore(this.files);
  }

  private async open(): Promise<void> {
    const { clock = systemClock, logger = silentLogger, limits, compaction, lateCatalog = LATE } = this.options;
    const bare = memoryFileStore(this.files);
    const files = this.options.wrapFiles?.(bare) ?? bare;
    const { lateMeta = LATE_META } = this.options;
    this.lateMeta = lateMeta === undefined ? undefined : new LateMeta(lateMeta, this.options.lateMeta === undefined);
    const plain = this.metaOf(this.life);
    const wrapped = this.options.wrapMeta?.(plain) ?? plain;
    const meta = this.lateMeta?.over(wrapped) ?? wrapped;
    const shared = new SharedState(this.threadCount);
    this.shared = shared;
    const threadLogs = [...this.threadWals].map(([id, wal]) => ({
      id,
      wal,
      remove: async () => {
        this.threadWals.delete(id);
      },
    }));
    const { engine, recovery } = await Engine.open({
      wal: this.wal,
      shared,
      threadLogs,
      meta,
      shards: this.shards,
      files,
      flusher: this.flusherOf(this.life, files),
      merger: this.mergerOf(this.life, files),
      clock,
      scheduler: new Scheduler(clock),
      logger,
      limits: { ...NO_LIMITS, ...limits },
      compaction: { ...NO_COMPACTION, ...compaction },
      pageCacheBytes: 1 << 20,
      onBug: (error) => this.onBug(error),
      ...(this.options.onFenced === undefined ? {} : { onFenced: this.options.onFenced }),
      ...(this.options.places === undefined ? {} : { places: this.options.places }),
      ...(this.options.disk === undefined ? {} : { disk: this.options.disk }),
      elsewhere: this.options.elsewhere?.(),
      ...(this.options.catalogue === undefined ? {} : { catalogue: this.options.catalogue() }),
      ...(lateCatalog === undefined || this.options.catalogue !== undefined
        ? {}
        : {
            catalog: (local) => {
              this.catalog = new LateCatalog(local, this.meta, lateCatalog);
              return this.catalog;
            },
          }),
      seriesRenewal: this.options.seriesRenewal ?? FORCED_RENEWAL,
      ...(this.options.memory === undefined ? {} : { memory: this.options.memory }),
    });
    this.engine = engine;
    this.recovery = recovery;
    this.threads = [];
    this.links = [];
    for (let id = 1; id <= this.threadCount; id++) await this.startThread(id, shared);
  }

  private async startThread(id: number, shared: SharedState): Promise<void> {
    const links = makeLinks();
    const { limits, clock = systemClock } = this.options;
    await this.engine.addThread(id, links.owner);
    const wal = this.threadWals.get(id)?.crash() ?? memoryWal(this.options.segmentBytes); // As another thread opens it again.
    await wal.recover(() => undefined);
    this.threadWals.set(id, wal);
    const { writeBufferBytes } = { ...NO_LIMITS, ...limits };
    const news = this.engine.catalogNews();
    const onBug = (error: Error): void => this.onBug(error);
    const parts = { id, shards: this.shards, shared, link: links.thread, wal, clock, news, writeBufferBytes, pooledBytes: 1 << 24, onBug };
    this.threads.push(new IngestThread(parts));
    this.links.push(links);
  }

  private onBug(error: Error): void {
    (this.options.onBug ?? unexpectedBug)(error);
  }

  private metaOf(life: number): MetaStore {
    const { meta } = this;
    return {
      get: (key) => meta.get(key),
      list: (prefix) => meta.list(prefix),
      commit: (changes) => {
        this.commitCount++;
        if (this.commitFailure !== undefined) throw new DbError(StatusCode.StorageUnavailable, this.commitFailure);
        if (life !== this.life) return new Promise<void>(() => undefined); // A dead machine does nothing any more.
        return meta.commit(changes);
      },
      settled: () => (life === this.life ? meta.settled() : new Promise(() => undefined)),
      secure: () => meta.secure(),
      copyTo: (path) => meta.copyTo(path),
      close: () => undefined,
    };
  }

  private mergerOf(life: number, files: FileStore): MergeExecutor {
    const inline = inlineMergeExecutor(files);
    return {
      merge: async (job) => {
        if (this.mergeFailure !== undefined) throw new DbError(StatusCode.StorageUnavailable, `cannot compact: ${this.mergeFailure}`);
        const made = await inline.merge(job);
        while (this.mergeGate !== undefined && life === this.life) await this.mergeGate.promise;
        return life === this.life ? made : new Promise(() => undefined);
      },
      close: () => inline.close(),
    };
  }

  private flusherOf(life: number, files: FileStore): FlushExecutor {
    const inline = inlineFlushExecutor(files);
    return {
      flush: async (job) => {
        this.flushCount++;
        const failure = this.flushFailure ?? this.flushFailureOf(job);
        if (failure !== undefined) throw new DbError(StatusCode.StorageUnavailable, `cannot flush: ${failure}`);
        const made = await inline.flush(job);
        while (this.gate !== undefined && life === this.life) await this.gate.promise;
        return life === this.life ? made : new Promise(() => undefined);
      },
      close: () => inline.close(),
    };
  }
}
