import { DbError } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { CachedFileStore } from "../file-store/cached/cached-file-store.ts";
import type { MergeExecutor } from "./merge-executor.ts";

/**
 * Merges by one that reads and makes local files: what it reads is fetched and held before, what it makes is uploaded after. Merges throw
 * RateLimited when the cache has no room for all of their inputs at once.
 *
 * @param local has the folder of the store's copies
 */
export function uploadingMergeExecutor(local: MergeExecutor, store: CachedFileStore): MergeExecutor {
  return {
    async merge(job) {
      const held = await store.hold(job.inputs);
      if (held === undefined) throw noRoom(job.inputs.length);
      try {
        const made = await local.merge(job);
        if (made !== undefined) await store.upload(made.name, made.byteLength);
        return made;
      } finally {
        held.release();
      }
    },
    close: () => local.close(),
  };
}

function noRoom(count: number): DbError {
  const why = "the local cache has no room for them beside what is in use: raise storage.cache_capacity";
  return new DbError(StatusCode.RateLimited, `cannot merge ${count} files: ${why}`);
}
