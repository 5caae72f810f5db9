import type { CachedFileStore } from "../../file-store/cached/cached-file-store.ts";
import type { FlushExecutor } from "./flush-executor.ts";

/**
 * Flushes by one that makes local files, which are uploaded then. A flush whose files cannot be uploaded has failed: its rows stay in
 * memory and in the log.
 *
 * @param local has the folder of the store's copies
 */
export function uploadingFlushExecutor(local: FlushExecutor, store: CachedFileStore): FlushExecutor {
  return {
    async flush(job) {
      const made = await local.flush(job);
      const uploads = await Promise.allSettled(made.map(({ name, byteLength }) => store.upload(name, byteLength)));
      const failed = uploads.find((upload) => upload.status === "rejected");
      if (failed === undefined) return made;
      await Promise.all(made.map(({ name }) => store.discard(name))); // No entry names them.
      throw failed.reason;
    },
    close: () => local.close(),
  };
}
