/** Tables in force, and what clients do to them: writes, deletes, changes; and their series, which begin anew. */
import { uncleanKey } from "../schema/meta-codec.ts";
import { removalsOf } from "../schema/storage-entries.ts";
import type { MetaChange } from "../../storage/meta-store/meta-store.ts";
import { SlabPool } from "../../storage/memtable/arena.ts";
import { Backups } from "../backup/backups.ts";
import { SeriesRenewal } from "../catalog/series-renewal.ts";
import { type GoneTables, TablesInForce } from "../catalog/tables-in-force.ts";
import { type DeleteDurability, Deleter } from "../change/deleter.ts";
import { TableChanges, type TableChangesParts } from "../change/table-changes.ts";
import { Truncation } from "../change/truncation.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { ThreadHosts } from "../threads/thread-hosts.ts";
import { LocalLog } from "../write/batch-log.ts";
import { LanesLog } from "../write/lanes-log.ts";
import { WritePath } from "../write/write-path.ts";
import type { FileWork } from "./file-work.ts";
import type { Ground } from "./ground.ts";

/** See the file header. */
export interface TableWork {
  readonly inForce: TablesInForce;
  readonly writePath: WritePath;
  readonly deleter: Deleter;
  readonly changes: TableChanges;
  readonly truncation: Truncation;
  readonly series: SeriesRenewal;
  readonly backups: Backups;
}

/** What of an engine's parts this takes. */
type TableWorkParts = Pick<EngineParts, "limits" | "folder" | "seriesRenewal" | "backup" | "catalogue" | "elsewhere">;

/** Makes it. Nothing runs yet. */
export function wireTableWork(parts: TableWorkParts, ground: Ground, threads: ThreadHosts, work: FileWork): TableWork {
  const { meta, commits, trimmer, sequences, sure, logger } = ground;
  const { compactor, flusher } = work;
  const deleter = makeDeleter(ground, threads, work);
  const inForce = makeTables(parts, ground, threads, { deleter, onGone: (gone) => changes.gone(gone) });
  const { elsewhere } = parts;
  const forgetStorage = storageForgetter(parts, ground);
  const changes = new TableChanges(inForce, { meta, compactor, flusher, threads, trimmer, sure, logger, forgetStorage, elsewhere });
  return {
    inForce,
    writePath: makeWritePath(parts, ground, inForce),
    deleter,
    changes,
    truncation: new Truncation(inForce, { meta, commits, compactor, flusher, threads, trimmer, sequences, sure, elsewhere }),
    series: makeSeries(parts, ground, threads),
    backups: makeBackups(parts, ground, threads),
  };
}

/** What takes away the entries of storage that did not go with their tables. */
function storageForgetter({ catalogue }: TableWorkParts, { meta, commits, live }: Ground): TableChangesParts["forgetStorage"] {
  if (catalogue === undefined) return () => Promise.resolve(); // They went in the commit of the drop.
  return async (gone, unclean) => {
    await commits.make(
      () => {
        const marked = [...unclean].filter((region) => live.isLive(region) && region.sharedBy?.isUnclean() === true);
        const marks = marked.map(({ schemaNow }): MetaChange => ({ key: uncleanKey(schemaNow.id), value: true }));
        const changes = [...removalsOf(meta, gone), ...marks];
        return changes.length === 0 ? undefined : changes;
      },
      () => undefined,
    );
  };
}

function makeDeleter(ground: Ground, threads: ThreadHosts, { flushes, flusher }: FileWork): Deleter {
  const { live: tables, sequences, gate, sure } = ground;
  return new Deleter({
    durable: durabilityOf(ground),
    tables,
    sequences,
    sure,
    catchUp: () => threads.drain(),
    whileQuiet: (tableIds, step) => threads.whileQuiet(tableIds, step),
    admit: () => flushes.admit(),
    refuse: (bytes) => gate.checkDelete(bytes),
    written: (bytes) => flushes.written(bytes),
    flush: (region) => flusher.flush(region),
  });
}

/** Where deletes are before they are answered. */
function durabilityOf({ wal, writer, streams, troubles, follower, pad }: Ground): DeleteDurability {
  if (follower !== undefined && pad !== undefined) return { kind: "files", hasRoom: () => follower.hasRoom, makeRoom: pad };
  return {
    kind: "log",
    wal,
    writer,
    noteLogged: (segment, tableId, sequence) => streams.own.ledger.note(segment, tableId, sequence),
    logFailed: () => {
      troubles.failures.log++;
    },
  };
}

function makeTables(
  { limits, folder }: TableWorkParts,
  ground: Ground,
  threads: ThreadHosts,
  told: { readonly deleter: Deleter; onGone(gone: GoneTables): void },
): TablesInForce {
  const { deleter } = told;
  const { schemas, shards, plans, catalog, live, feed, follower, sequences, meta, files, clock, logger, cache, expiry, streams } = ground;
  const { sure, shared } = ground;
  return new TablesInForce({
    schemas,
    shards,
    plans,
    catalog,
    onGone: (gone) => told.onGone(gone),
    live,
    feed,
    sequences: follower ?? sequences,
    meta,
    files,
    folder,
    stallMillis: limits.stallMillis,
    pool: new SlabPool(limits.memtableBytes),
    clock,
    logger,
    ofTables: { cache, clock, expiry, deleter, catchUp: () => threads.drain() },
    sure,
    // Rows of other threads, now or before a restart, find their place among others by their sequences.
    mayJoin: () => !threads.isShared && streams.isSingle,
    seriesRoom: shared,
  });
}

function makeWritePath({ elsewhere }: TableWorkParts, ground: Ground, inForce: TablesInForce): WritePath {
  const { shards, clock, expiry, shared, sequences, sure } = ground;
  return new WritePath({
    log: elsewhere === undefined ? makeLog(ground) : new LanesLog({ lanes: elsewhere.lanes, shards, sequences, sure }),
    clock,
    tables: inForce.forWrites(),
    shards,
    expiry,
    noteExpired: (rows) => shared.addExpiredRows(rows),
  });
}

function makeLog({ wal, writer, sequences, sure, streams }: Ground): LocalLog {
  const noteLogged = streams.own.ledger.note.bind(streams.own.ledger);
  return new LocalLog({ wal, writer, sequences, sure, noteLogged });
}

function makeSeries({ seriesRenewal: limits, elsewhere }: TableWorkParts, ground: Ground, threads: ThreadHosts): SeriesRenewal {
  const { live, shared, memory, sure, clock, scheduler, wal, logger } = ground;
  return new SeriesRenewal({
    live,
    shared,
    memory,
    sure,
    clock,
    scheduler,
    endSegments: () => {
      wal.endSegment();
      for (const lane of elsewhere?.lanes ?? []) lane.endSegment();
    },
    logger: logger.child("series"),
    limits,
    isRowless: elsewhere !== undefined,
    threadSeriesBytes: () => threads.seriesBytes,
    renewOnThreads: (tableId) => threads.renew(tableId),
  });
}

function makeBackups({ backup: places, elsewhere }: TableWorkParts, ground: Ground, threads: ThreadHosts): Backups {
  const { meta, live, sequences, appends, streams, trimmer, clock, logger } = ground;
  const isRowless = elsewhere !== undefined;
  return new Backups({
    places,
    isRowless,
    meta,
    live,
    sequences,
    appends,
    streams,
    threads,
    trimmer,
    clock,
    logger: logger.child("backup"),
  });
}
