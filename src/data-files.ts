/** Where a server's data files are, by its settings: in its data directory, or in an S3 store with copies there. */
import { join } from "node:path";
import { errorText } from "./base/error.ts";
import type { Logger } from "./base/log.ts";
import { MemoryCounter, type ServerMemory } from "./base/memory/server-memory.ts";
import type { MetricRegistry } from "./base/metrics.ts";
import type { Settings, StorageSettings } from "./config/settings.ts";
import type { EngineParts } from "./engine/engine-parts.ts";
import { workerMergeExecutor } from "./storage/compaction/merge-executor.ts";
import { uploadingMergeExecutor } from "./storage/compaction/uploading-merge.ts";
import { registerCacheMetrics } from "./storage/file-store/cached/cache-metrics.ts";
import { type CachedFileStore, cachedFileStore } from "./storage/file-store/cached/cached-file-store.ts";
import type { RemoteFileStore } from "./storage/file-store/remote-file-store.ts";
import { localFileStore } from "./storage/file-store/local-file-store.ts";
import { openS3Files } from "./storage/file-store/s3/open-s3-files.ts";
import { claimPlace, mustBeLocal } from "./storage/file-store/s3/owner.ts";
import { workerFlushExecutor } from "./storage/sst/write/flush-executor.ts";
import { uploadingFlushExecutor } from "./storage/sst/write/uploading-flush.ts";

/** Largest file that compaction makes of smaller ones: 1 GiB is minutes of merging at most. */
const MERGED_BYTES_MAX = 1024 * 1024 * 1024;
/** The same where files are copied whole before they are read: a quarter of a second at 1 GiB a second, ten at 25 MiB a second. */
const MERGED_BYTES_MAX_REMOTE = 256 * 1024 * 1024;
/** Part of the cache that a merged file may take: the inputs of a merge must be there at once. */
const MERGED_PART_MAX: number = 1 / 8;
/** Between two tries to upload what the store does not have. */
const UPLOAD_AGAIN_MILLIS = 30_000;

/** Parts of an engine that depend on where files are. */
export interface DataFiles extends Pick<EngineParts, "files" | "flusher" | "merger"> {
  readonly outputBytesMax: number;
  /** Whether the folder must stay as it is. */
  readonly isFolderNeeded: boolean;
  /** Begins to upload files that are only here; call it when the engine has looked at all. Returns what ends it. */
  uploadLeft(): () => void;
}

/** Opens them. @throws DbError StorageUnavailable: the store cannot be reached or used, or has another owner */
export async function openDataFiles(
  storage: StorageSettings,
  dataFolder: string,
  { metrics, memory }: { readonly metrics: MetricRegistry; readonly memory: ServerMemory },
  logger: Logger,
): Promise<DataFiles> {
  const executors = (): Pick<EngineParts, "flusher" | "merger"> => ({
    flusher: workerFlushExecutor(dataFolder),
    merger: workerMergeExecutor(dataFolder),
  });
  if (storage.type === "File") {
    mustBeLocal(storage.dataHome);
    const files = localFileStore(dataFolder);
    return { files, ...executors(), outputBytesMax: MERGED_BYTES_MAX, isFolderNeeded: true, uploadLeft: () => () => undefined };
  }
  const { remote, cache, parts } = cachedFiles(storage, dataFolder, executors(), { metrics, memory }, logger);
  await claimPlace(remote, storage.dataHome);
  return { ...parts, isFolderNeeded: false, uploadLeft: () => uploadingLeft(cache, logger) };
}

/** Files in an S3 store, with copies in a folder. */
function cachedFiles(
  storage: StorageSettings,
  dataFolder: string,
  { flusher, merger }: Pick<EngineParts, "flusher" | "merger">,
  { metrics, memory }: { readonly metrics: MetricRegistry; readonly memory: ServerMemory },
  logger: Logger,
): { readonly remote: RemoteFileStore; readonly cache: CachedFileStore; readonly parts: Omit<DataFiles, "uploadLeft" | "isFolderNeeded"> } {
  const transfers = new MemoryCounter();
  memory.register("file_transfers", transfers);
  const remote = openS3Files(storage, join(storage.dataHome, "uploads"), transfers);
  const onTrouble = (reason: string): void => logger.warn({ reason }, "copies of data files");
  const cache = cachedFileStore({ remote, folder: dataFolder, bytesMax: storage.cacheBytesMax, onTrouble });
  registerCacheMetrics(metrics, cache);
  const parts = {
    files: cache,
    flusher: uploadingFlushExecutor(flusher, cache),
    merger: uploadingMergeExecutor(merger, cache),
    outputBytesMax: Math.min(MERGED_BYTES_MAX_REMOTE, Math.floor(storage.cacheBytesMax * MERGED_PART_MAX)),
  };
  return { remote, cache, parts };
}

/**
 * Files of a data node, which other nodes have, too: in a folder that all see, or in an S3 store with copies here. The place is nobody's
 * alone: shards say by their manifests whose a file is.
 */
export function openClusterFiles(
  { storage, cluster }: Settings,
  dataFolder: string,
  { metrics, memory }: { readonly metrics: MetricRegistry; readonly memory: ServerMemory },
  logger: Logger,
): Omit<DataFiles, "uploadLeft" | "isFolderNeeded"> {
  const flusher = workerFlushExecutor(dataFolder);
  const merger = workerMergeExecutor(dataFolder);
  if (cluster.sharedDir !== undefined) return { files: localFileStore(dataFolder), flusher, merger, outputBytesMax: MERGED_BYTES_MAX };
  return cachedFiles(storage, dataFolder, { flusher, merger }, { metrics, memory }, logger).parts;
}

function uploadingLeft(cache: CachedFileStore, logger: Logger): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  const run = async (): Promise<void> => {
    try {
      const files = await cache.uploadLeft();
      if (files > 0) logger.info({ files }, "uploaded data files that were only here");
    } catch (error) {
      logger.error({ reason: errorText(error) }, "cannot upload data files that are only here; tried again");
      if (!isEnded) timer = setTimeout(() => void run(), UPLOAD_AGAIN_MILLIS); // Never rejects.
    }
  };
  void run(); // As above.
  return () => {
    isEnded = true;
    clearTimeout(timer);
  };
}
