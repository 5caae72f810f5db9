import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineParts } from "../../src/engine/engine-parts.ts";
import { workerMergeExecutor } from "../../src/storage/compaction/merge-executor.ts";
import { localFileStore } from "../../src/storage/file-store/local-file-store.ts";
import { openSqliteMetaStore } from "../../src/storage/meta-store/sqlite-meta-store.ts";
import { workerFlushExecutor } from "../../src/storage/sst/write/flush-executor.ts";
import { type LocalWalOptions, openLocalWal } from "../../src/storage/wal/local-wal.ts";
import { TEST_SHARDS } from "../support/shard-count.ts";
import { plainParts } from "./plain-parts.ts";

/** An engine on the parts of a server, in folder `home`: log and files on disk, SQLite, workers for flushes and merges. */
export async function openLocalEngine(
  home: string,
  { sync, segmentBytes }: Pick<LocalWalOptions, "sync" | "segmentBytes">,
  parts: Partial<EngineParts> = {},
): ReturnType<typeof Engine.open> {
  const data = join(home, "data");
  const directory = join(home, "wal");
  return Engine.open({
    wal: await openLocalWal({ directory, sync, syncIntervalMs: 100, segmentBytes, recovery: "strict", logger: silentLogger }),
    shards: TEST_SHARDS,
    meta: openSqliteMetaStore(join(home, "meta.db")),
    ...plainParts(localFileStore(data)),
    flusher: workerFlushExecutor(data),
    merger: workerMergeExecutor(data),
    ...parts,
  });
}
