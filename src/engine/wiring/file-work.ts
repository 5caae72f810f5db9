/** From memory to files, and fewer files from many: what flushes and merges are made of, and what starts them. */
import type { Region } from "../../storage/region/region.ts";
import { Compactor } from "../compaction/compactor.ts";
import type { EngineParts } from "../engine-parts.ts";
import { FlushScheduler } from "../flush/flush-scheduler.ts";
import { Flusher } from "../flush/flusher.ts";
import type { ThreadHosts } from "../threads/thread-hosts.ts";
import type { Ground } from "./ground.ts";

/** See the file header. */
export interface FileWork {
  readonly compactor: Compactor;
  readonly flusher: Flusher;
  readonly flushes: FlushScheduler<Region>;
}

/** What of an engine's parts this takes. */
type FileWorkParts = Pick<EngineParts, "merger" | "flusher" | "limits" | "compaction" | "onWork">;

/** Makes it. Nothing runs yet. */
export function wireFileWork(parts: FileWorkParts, ground: Ground, threads: ThreadHosts): FileWork {
  const compactor = makeCompactor(parts, ground);
  const onFlushed = (region: Region): void => {
    flushes.flushed(region);
    compactor.flushed(region);
  };
  const flusher = makeFlusher(parts, ground, threads, onFlushed);
  const flushes = makeScheduler(parts, ground, flusher);
  return { compactor, flusher, flushes };
}

function makeCompactor({ merger, compaction: limits, onWork }: FileWorkParts, ground: Ground): Compactor {
  const { meta, commits, files, clock, expiry, troubles, sure, workerMemory, logger, live, fileIds, disk } = ground;
  return new Compactor(
    { merger, meta, commits, files, clock, expiry, limits, troubles, sure, workerMemory, onWork, logger: logger.child("compaction") },
    {
      regions: () => live.regions(),
      isLive: (region) => live.isLive(region),
      takeFileId: () => fileIds.take(1),
      hasRoomFor: (bytes) => disk.hasRoomFor(bytes),
    },
  );
}

function makeFlusher(
  { flusher: executor, onWork }: FileWorkParts,
  ground: Ground,
  threads: ThreadHosts,
  onFlushed: (region: Region) => void,
): Flusher {
  const { meta, commits, files, clock, logger, live: tables, fileIds, sequences, trimmer, sure, workerMemory } = ground;
  const stores = { meta, commits, files, fileIds, tables, sequences, trimmer };
  return new Flusher({ ...stores, executor, clock, logger, sure, workerMemory, threads, onWork, onFlushed });
}

function makeScheduler({ limits }: FileWorkParts, ground: Ground, flusher: Flusher): FlushScheduler<Region> {
  const { wal, live, trimmer, gate, memory, shared, scheduler, logger, troubles } = ground;
  const host = {
    regions: () => live.regions(),
    logBytes: () => trimmer.weight,
    logHolders: () => trimmer.holders(),
    logRecords: () => wal.queued().records,
    untoldBytes: () => shared.untoldBytes,
    isUrgent: () => gate.failure() !== undefined,
    isOverMemory: () => memory.isOver(),
    flush: (regions: readonly Region[]) => flusher.flushTogether(regions),
    flushEnded: (reason: string | undefined) => (reason === undefined ? troubles.works("flush") : troubles.failed("flush", reason)),
  };
  return new FlushScheduler(limits, host, scheduler, logger.child("flush"));
}
