/** The segments of a log as files of one folder: their names, which there are, and the newest one made to last at a start. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { type LogDisk, writeAll } from "./log-disk.ts";
import type { SegmentReplay } from "./replay.ts";

/** See the file header. */
export class LogFolder {
  readonly path: string;
  private readonly disk: LogDisk;

  constructor(path: string, disk: LogDisk) {
    this.path = path;
    this.disk = disk;
  }

  /** Where a segment is. */
  pathOf(id: number): string {
    return join(this.path, `${String(id).padStart(10, "0")}.log`);
  }

  /** Ids of the segments, oldest first. @throws DbError StorageUnavailable */
  async segments(): Promise<number[]> {
    let names: string[];
    try {
      names = [...(await this.disk.list(this.path))];
    } catch (cause) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot list the log directory ${this.path}: ${errorText(cause)}`, {
        cause,
      });
    }
    return names
      .filter((name) => /^\d{10}\.log$/.test(name))
      .map((name) => Number.parseInt(name, 10))
      .sort((a, b) => a - b);
  }

  /** Bytes of a segment's file. @throws DbError StorageUnavailable */
  async sizeOf(id: number): Promise<number> {
    const path = this.pathOf(id);
    try {
      return (await stat(path)).size;
    } catch (cause) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot read the size of log segment ${path}: ${errorText(cause)}`, { cause });
    }
  }

  /**
   * A process that was killed may have left records that no sync has covered, in a file whose name may not last. They count from now
   * on, and newer segments will follow: beneath those a torn record is damage. They are written once more, since after a failed sync
   * the system takes for written what may have reached no disk, and would not write it again.
   *
   * @throws DbError StorageUnavailable
   */
  async settle(id: number, { doubtful, doubtfulFrom }: SegmentReplay): Promise<void> {
    try {
      const fd = await this.disk.open(this.pathOf(id));
      try {
        if (doubtful.length > 0) await writeAll(this.disk, fd, [doubtful], doubtfulFrom);
        await this.disk.sync(fd);
      } finally {
        await this.disk.close(fd);
      }
      await this.disk.syncFolder(this.path);
    } catch (cause) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot sync log segment ${this.pathOf(id)}: ${errorText(cause)}`, { cause });
    }
  }
}
