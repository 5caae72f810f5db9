/**
 * What has to be set right on the log's disk after a failure before the log takes records again.
 *
 * | failure                                        | records in doubt | repair                                                       |
 * |------------------------------------------------|------------------|--------------------------------------------------------------|
 * | a write, and it could not be cut off           | refused ones     | cut: the segment ends where it was durable, and that is synced |
 * | a sync, mode "always"                          | refused ones     | cut: the same data is never synced again                     |
 * | a sync, mode "interval"                        | acknowledged     | trim: only files can make them durable; then the segment goes |
 * | the header or the folder entry of a new segment | none             | remove: the file goes                                        |
 *
 * Until the repair no newer segment exists, so that a start after a crash takes what is left for a torn tail.
 */
import type { LogDisk } from "./log-disk.ts";

/** One thing to set right. A repair owns its descriptor until it is done. */
export type LogRepair =
  /** Cuts the segment to `length` bytes, and syncs that unless the log never syncs. */
  | { readonly kind: "cut"; readonly segment: number; readonly fd: number; readonly length: number; readonly isSynced: boolean }
  /** Waits until the segment is trimmed. */
  | { readonly kind: "trim"; readonly segment: number; readonly fd: number }
  /** Deletes a segment that could not be begun. */
  | { readonly kind: "remove"; readonly segment: number; readonly fd: number; readonly path: string };

/** Repairs that are due, oldest first. One call runs at a time; descriptors are closed exactly once. */
export class LogRepairs {
  private readonly disk: LogDisk;
  private due: LogRepair[] = [];
  private last: Promise<unknown> = Promise.resolve();

  constructor(disk: LogDisk) {
    this.disk = disk;
  }

  add(repair: LogRepair): void {
    this.due.push(repair);
  }

  /** The oldest segment that has to be trimmed before the log goes on, or undefined. */
  get awaited(): number | undefined {
    return this.due.find(({ kind }) => kind === "trim")?.segment;
  }

  /** Does what can be done. Returns whether nothing is left to do. @throws the system's error; what was not done stays due */
  run(): Promise<boolean> {
    return this.alone(async () => {
      for (const repair of this.due) {
        if (repair.kind === "trim") continue;
        await this.repair(repair);
        await this.settle(repair);
      }
      return this.due.length === 0;
    });
  }

  /** Says that a segment was deleted: nothing about it is left to do but to let it go. */
  deleted(segment: number): Promise<void> {
    if (this.due.length === 0) return Promise.resolve();
    return this.alone(async () => {
      for (const repair of this.due.filter((one) => one.segment === segment)) await this.settle(repair);
    });
  }

  /** Closes the files; the next start finds what was not repaired. */
  close(): Promise<void> {
    return this.alone(async () => {
      for (const repair of this.due) await this.settle(repair);
    });
  }

  private async repair(repair: Exclude<LogRepair, { kind: "trim" }>): Promise<void> {
    if (repair.kind === "remove") return this.disk.delete(repair.path);
    await this.disk.truncate(repair.fd, repair.length);
    if (repair.isSynced) await this.disk.sync(repair.fd);
  }

  private async settle(done: LogRepair): Promise<void> {
    this.due = this.due.filter((repair) => repair !== done);
    await this.disk.close(done.fd);
  }

  private alone<T>(work: () => Promise<T>): Promise<T> {
    const run = this.last.then(work);
    this.last = Promise.allSettled([run]); // The caller sees the error; the next call runs anyway.
    return run;
  }
}
