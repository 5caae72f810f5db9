/** Parts of an engine that several shards of a node share: an engine that closes leaves them as they are. */
import type { FlushExecutor } from "../../storage/sst/write/flush-executor.ts";
import type { MergeExecutor } from "../../storage/compaction/merge-executor.ts";

/** A flush executor that stays open. */
export function borrowedFlusher(flusher: FlushExecutor): FlushExecutor {
  return { flush: (job) => flusher.flush(job), close: () => Promise.resolve() };
}

/** A merge executor that stays open. */
export function borrowedMerger(merger: MergeExecutor): MergeExecutor {
  return { merge: (job) => merger.merge(job), close: () => Promise.resolve() };
}
