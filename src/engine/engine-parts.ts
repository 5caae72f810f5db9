/** What an engine is made of, as whoever starts one hands it over. */
import type { Clock } from "../base/clock.ts";
import type { Scheduler } from "../base/scheduler/scheduler.ts";
import type { Logger } from "../base/log.ts";
import type { ServerMemory } from "../base/memory/server-memory.ts";
import type { MergeExecutor } from "../storage/compaction/merge-executor.ts";
import type { PageCache } from "../storage/cache/page-cache.ts";
import type { FileStore } from "../storage/file-store/file-store.ts";
import type { Fenced, MetaStore } from "../storage/meta-store/meta-store.ts";
import type { FlushExecutor } from "../storage/sst/write/flush-executor.ts";
import type { Wal } from "../storage/wal/wal.ts";
import type { OnBackgroundWork } from "./background-work.ts";
import type { CompactionLimits } from "./compaction/compactor.ts";
import type { RowsElsewhere } from "./elsewhere.ts";
import type { FollowedSource } from "./follow/followed-source.ts";
import type { FlushLimits } from "./flush/flush-scheduler.ts";
import type { DiskWatchOptions } from "./health/disk-watch.ts";
import type { Place } from "./health/place-watch.ts";
import type { ThreadLog } from "./log/log-stream.ts";
import type { SeriesRenewalLimits } from "./catalog/series-renewal.ts";
import type { CatalogPort, CatalogueElsewhere } from "./schema/catalog-port.ts";
import type { SharedState } from "./threads/shared-state.ts";

/** Where an engine's files lie on a disk, for those who copy them. */
export interface BackupPlaces {
  readonly dataFolder: string;
  readonly logFolder: string;
  /** Where copies of the meta store lie while they are read; only for them. */
  readonly copyFolder: string;
  /** A backup ends unless it is renewed within this time. Default: `BACKUP_LEASE_MILLIS`. */
  readonly leaseMillis?: number;
}

/** What an engine is made of. The engine owns all of them and closes them. */
export interface EngineParts {
  /** The log that it writes. Absent: it writes none. */
  readonly wal?: Wal;
  /** A log that others write and it follows: `Engine.follow` is given its messages. Default: there is none. */
  readonly followed?: FollowedSource | undefined;
  /** What all threads share; by default there is only this one. */
  readonly shared?: SharedState;
  /** Logs of ingest threads that an earlier process left; none by default. */
  readonly threadLogs?: readonly ThreadLog[];
  readonly meta: MetaStore;
  /**
   * The catalogue where other processes have it, too. Whoever hands it over closes its port where the engine does not open. Default: it
   * lies in the meta store.
   */
  readonly catalogue?: CatalogueElsewhere | undefined;
  /** Where changes of the catalogue are agreed on, given the one in the meta store. Default: that one. */
  readonly catalog?: ((local: CatalogPort) => CatalogPort) | undefined;
  readonly files: FileStore;
  /** What the folders of its tables lie in, with a `/` at its end, in a store that it shares with other shards. Default: nothing. */
  readonly folder?: string | undefined;
  /** Parts that the series of tables are spread over: as many as ever since the data was made. Default: 1. */
  readonly shards?: number;
  /** The only one of them whose rows are here. Default: all are. */
  readonly ownShard?: number | undefined;
  readonly flusher: FlushExecutor;
  readonly merger: MergeExecutor;
  readonly clock: Clock;
  /** Of the thread that the engine runs on. */
  readonly scheduler: Scheduler;
  readonly logger: Logger;
  readonly limits: FlushLimits;
  readonly compaction: CompactionLimits;
  /**
   * Called when memory could not be brought up to what is stored: has to end the process, without a flush. Should it return, the engine
   * acknowledges and commits nothing any more.
   */
  readonly onBug: (error: Error) => void;
  /**
   * Called once when another owner has taken the meta store over. Writes are refused from then on, and no file is deleted; the engine has
   * to be closed, which then flushes nothing. Default: nobody is told.
   */
  readonly onFenced?: (why: Fenced) => void;
  /** Is told of each flush and merge that ended well. Default: nobody is. */
  readonly onWork?: OnBackgroundWork | undefined;
  /** Most bytes of decoded pages kept. */
  readonly pageCacheBytes: number;
  /** The cache that it shares with others: whoever made it counts it and sees to it. Default: one of its own. */
  readonly pageCache?: PageCache | undefined;
  /** The memory of the whole server, in which the engine counts. Default: one without a limit. */
  readonly memory?: ServerMemory;
  /** What must stay where it is, and is there once the log was read. Default: nothing is watched. */
  readonly places?: readonly Place[];
  /** Room that is kept on disks. Default: none. */
  readonly disk?: DiskWatchOptions;
  /**
   * Where rows are and go that are not here. Then `wal` takes no rows, nor do threads; backups are refused. `limits.memtableBytes` is what
   * rows take here until their lanes have answered, and a little behind that. Default: rows are here.
   */
  readonly elsewhere?: RowsElsewhere | undefined;
  /** Default: backups are refused. */
  readonly backup?: BackupPlaces;
  /** When what is known of series begins anew; by default as servers have it. */
  readonly seriesRenewal?: SeriesRenewalLimits;
}
