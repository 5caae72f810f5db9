/**
 * Syncs of folders, shared: everybody who asks while a sync of the same folder has not begun waits for that one. Sixteen small files
 * flushed side by side make the folder of all tables durable with one or two syncs instead of sixteen.
 */
import type { FileDisk } from "./file-disk.ts";

/** See the file header. */
export class FolderSyncs {
  private readonly disk: FileDisk;
  /** Syncs that have not begun, by folder. */
  private readonly waiting: Map<string, Promise<void>> = new Map();
  /** The last sync of a folder that has begun and not ended. */
  private readonly running: Map<string, Promise<void>> = new Map();

  constructor(disk: FileDisk) {
    this.disk = disk;
  }

  /** Resolves once names that are in the folder now survive a power loss. @throws the system's error */
  sync(path: string): Promise<void> {
    let next = this.waiting.get(path);
    if (next === undefined) {
      next = this.begin(path);
      this.waiting.set(path, next);
    }
    return next;
  }

  private async begin(path: string): Promise<void> {
    const before = this.running.get(path);
    await (before === undefined ? Promise.resolve() : Promise.allSettled([before])); // Its caller sees why it failed.
    const next = this.waiting.get(path);
    this.waiting.delete(path);
    if (next !== undefined) this.running.set(path, next);
    try {
      await this.disk.syncFolder(path);
    } finally {
      if (this.running.get(path) === next) this.running.delete(path);
    }
  }
}
