/** What an engine in a test is made of beside its log and meta store, where the test is about something else. */
import { Scheduler } from "../../src/base/scheduler/scheduler.ts";
import { systemClock } from "../../src/base/clock.ts";
import { silentLogger } from "../../src/base/log.ts";
import type { EngineParts } from "../../src/engine/engine-parts.ts";
import { inlineMergeExecutor } from "../../src/storage/compaction/merge-executor.ts";
import type { FileStore } from "../../src/storage/file-store/file-store.ts";
import { inlineFlushExecutor } from "../../src/storage/sst/write/flush-executor.ts";
import { unexpectedBug } from "./unexpected-bug.ts";
import { NO_COMPACTION, NO_LIMITS } from "./machine.ts";

/** Flushes and merges in place when they are asked for, without limits, on this machine's clock. */
export function plainParts(files: FileStore): Omit<EngineParts, "wal" | "meta"> {
  return {
    files,
    flusher: inlineFlushExecutor(files),
    merger: inlineMergeExecutor(files),
    compaction: NO_COMPACTION,
    clock: systemClock,
    scheduler: new Scheduler(),
    logger: silentLogger,
    limits: NO_LIMITS,
    pageCacheBytes: 1 << 20,
    onBug: unexpectedBug,
  };
}
