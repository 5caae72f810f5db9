/**
 * What has to be set right on the log's disk after a failure before the log takes records again.
 *
 * | failure                                        | records in doubt | repair                                                       |
 * |------------------------------------------------|------------------|--------------------------------------------------------------|
 * | a write, and it could not be cut off           | refused ones     | cut: the segment ends where it was durable, and that is synced |
 * | a sync, mode "always"                          | refused ones     | cut: the same data is never synced again                     |
 * | a sync, mode "interval"                        | acknowledged     | trim: only files can make them durable; then the segment goes |
 * | the header, folder entry or name of a new segment | none           | remove: the log's ends do not name it, and the file goes     |
 *
 * Until the repair no newer segment exists, so that a start after a crash takes what is left for a torn tail. A repair names its segment by
 * its path and opens the file itself: it holds nothing that another may close. Repairs and trims run one at a time.
 */
import type { EndsFile } from "./ends-file.ts";
import type { LogDisk } from "./log-disk.ts";
import { LogFile } from "./log-file.ts";

/** One thing to set right. */
export type LogRepair =
  /** Cuts the segment to `length` bytes, and syncs that unless the log never syncs. */
  | { readonly kind: "cut"; readonly segment: number; readonly path: string; readonly length: number; readonly isSynced: boolean }
  /** Waits until the segment is trimmed. */
  | { readonly kind: "trim"; readonly segment: number }
  /** Deletes a segment that could not be begun. */
  | { readonly kind: "remove"; readonly segment: number; readonly path: string };

/** Repairs that are due, oldest first. */
export class LogRepairs {
  private readonly disk: LogDisk;
  private readonly ends: EndsFile;
  private due: LogRepair[] = [];

  constructor(disk: LogDisk, ends: EndsFile) {
    this.disk = disk;
    this.ends = ends;
  }

  add(repair: LogRepair): void {
    this.due.push(repair);
  }

  /** The oldest segment that has to be trimmed before the log goes on, or undefined. */
  get awaited(): number | undefined {
    return this.due.find(({ kind }) => kind === "trim")?.segment;
  }

  /** Does what can be done. Returns whether nothing is left to do. @throws the system's error; what was not done stays due */
  async run(): Promise<boolean> {
    for (const repair of this.due) {
      if (repair.kind === "trim") continue;
      await this.repair(repair);
      this.due = this.due.filter((one) => one !== repair);
    }
    return this.due.length === 0;
  }

  /** Says that a segment was deleted: nothing about it is left to do. */
  deleted(segment: number): void {
    this.due = this.due.filter((one) => one.segment !== segment);
  }

  private async repair(repair: Exclude<LogRepair, { kind: "trim" }>): Promise<void> {
    if (repair.kind === "remove") {
      await this.ends.settle(); // So that the disk does not name it any more.
      await this.disk.delete(repair.path);
      return;
    }
    await LogFile.with(this.disk, repair.path, async (file) => {
      await file.truncate(repair.length);
      if (repair.isSynced) await file.sync();
    });
  }
}
