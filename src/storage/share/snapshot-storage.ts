import type { PageCache } from "../cache/page-cache.ts";
import type { FileStore } from "../file-store/file-store.ts";
import { OpenSnapshot } from "./part-scan.ts";
import type { ScanSnapshot } from "./scan-snapshot.ts";
import { SnapshotFiles } from "./snapshot-files.ts";

/** All that a thread needs to run parts of scans whose snapshots other threads took. */
export class SnapshotStorage {
  private readonly cache: PageCache;
  private readonly files: SnapshotFiles;

  /** @param onWarning takes what is wrong with a file that can still be read */
  constructor(store: FileStore, cache: PageCache, onWarning: (text: string) => void) {
    this.cache = cache;
    this.files = new SnapshotFiles(store, cache, onWarning);
  }

  /** What parts of a `SharedScan.snapshot` read; to be closed. */
  open(snapshot: object): OpenSnapshot {
    return new OpenSnapshot(snapshot as ScanSnapshot, this.files, this.cache); // Nobody else makes snapshots.
  }

  /** Bytes of pages and open files. */
  cacheBytes(): number {
    return this.cache.bytes;
  }

  /** Drops pages, and keeps no more than are left until `mayGrow`. */
  giveBack(bytes: number): void {
    this.cache.giveBack(bytes);
  }

  /** Lets the cache have a little more. */
  mayGrow(): void {
    this.cache.mayGrow();
  }
}
