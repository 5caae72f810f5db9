/** The segments of a log as files of one folder: their names, which there are, and the newest one made to last at a start. */
import { join } from "node:path";
import { DbError, errorText } from "../../base/error.ts";
import { StatusCode } from "../../base/status-code.ts";
import { ENDS_NAME } from "./ends-file.ts";
import type { LogDisk } from "./log-disk.ts";
import { LogFile } from "./log-file.ts";
import type { SegmentEnd } from "./record-header.ts";
import { replaySegment, type SegmentListener, type SegmentReplay } from "./replay.ts";

/** Its records and what it lost are known already. */
const NOBODY: SegmentListener = { onHead: () => undefined, onRecord: () => undefined, onLost: () => undefined };

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

  /** Ids of the segments, oldest first, and whether there is a file of the log's ends. @throws DbError StorageUnavailable */
  async list(): Promise<{ readonly ids: readonly number[]; readonly hasEnds: boolean }> {
    let names: readonly string[];
    try {
      names = await this.disk.list(this.path);
    } catch (cause) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot list the log directory ${this.path}: ${errorText(cause)}`, {
        cause,
      });
    }
    const ids = names
      .filter((name) => /^\d{10}\.log$/.test(name))
      .map((name) => Number.parseInt(name, 10))
      .sort((a, b) => a - b);
    return { ids, hasEnds: names.includes(ENDS_NAME) };
  }

  /**
   * How a segment ends that was read back and set right by another log object. Of those that are not the newest nobody asks more than their
   * size.
   *
   * @throws DbError StorageUnavailable
   */
  async endOf(id: number, isNewest: boolean): Promise<SegmentEnd> {
    const path = this.pathOf(id);
    if (isNewest) {
      const source = { path, id, isNewest: false, durableBytes: 0, recovery: "skip_corrupt", disk: this.disk } as const;
      return (await replaySegment(source, NOBODY)).end;
    }
    try {
      return { id, bytes: await this.disk.size(path), check: 0 };
    } catch (cause) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot read the size of log segment ${path}: ${errorText(cause)}`, { cause });
    }
  }

  /**
   * A process that was killed may have left records that no sync has covered, in a file whose name may not last. They count from now
   * on, and newer segments will follow: beneath those a torn record is damage. They are written once more, and the file is cut where it
   * ends, since after a failed sync the system takes for written what may have reached no disk, and would not write it again.
   *
   * @throws DbError StorageUnavailable
   */
  async settle({ end: { id, bytes }, doubtful, doubtfulFrom }: SegmentReplay): Promise<void> {
    try {
      await LogFile.with(this.disk, this.pathOf(id), async (file) => {
        if (doubtful.length > 0) await file.write([doubtful], doubtfulFrom);
        await file.truncate(bytes);
        await file.sync();
      });
      await this.disk.syncFolder(this.path);
    } catch (cause) {
      throw new DbError(StatusCode.StorageUnavailable, `cannot sync log segment ${this.pathOf(id)}: ${errorText(cause)}`, { cause });
    }
  }
}
