/**
 * Keeps room on the disk: while less than a reserve is free, writes are refused, so that what makes room (flushes, which shorten the log,
 * merges, drops) can still finish. They are taken again once a quarter more than the reserve is free. Deletes, like merges, may use half
 * of it.
 */
import { errorText } from "../../base/error.ts";
import { statfs } from "node:fs/promises";
import type { Troubles } from "../../base/process/troubles.ts";

/** Bytes that a process without privileges may still write to the file system of a path. Rejects with the system's error. */
export type FreeBytes = (path: string) => Promise<number>;

/** Asks the system. */
export const systemFreeBytes: FreeBytes = async (path) => {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
};

/** Which disks are watched, and when one counts as full. */
export interface DiskWatchOptions {
  /** Folders, each on a disk that matters; they exist. */
  readonly paths: readonly string[];
  /** Bytes that stay free; 0: nothing is watched. */
  readonly freeBytesMin: number;
  readonly freeBytesOf: FreeBytes;
}

/** Room over the reserve from which writes are taken again. Reason: a disk at the border must not flap. */
const RESUME_RATIO = 1.25;
/** After how many seconds a refused client should come back. */
export const LOW_DISK_RETRY_SECONDS = 10;

/** See the file header. */
export class DiskWatch {
  private readonly options: DiskWatchOptions;
  private readonly troubles: Troubles;
  private looking = false;
  private reason: string | undefined;
  /** Least free bytes of the watched folders when they were last looked at; Infinity before. */
  freeBytes: number = Number.POSITIVE_INFINITY;

  constructor(options: DiskWatchOptions, troubles: Troubles) {
    this.options = options;
    this.troubles = troubles;
  }

  /** Why writes are refused, or undefined. */
  get refusal(): string | undefined {
    return this.reason;
  }

  /** Whether a file of this many bytes can be made while half of the reserve stays. */
  hasRoomFor(bytes: number): boolean {
    return this.options.freeBytesMin === 0 || this.freeBytes - bytes >= this.options.freeBytesMin / 2;
  }

  /** Looks at the disks. A look that hangs, as on a network that is down, is not begun again. Never rejects. */
  async look(): Promise<void> {
    const { paths, freeBytesMin, freeBytesOf } = this.options;
    if (freeBytesMin === 0 || this.looking) return;
    this.looking = true;
    try {
      let least = Number.POSITIVE_INFINITY;
      let where = "";
      for (const path of paths) {
        const bytes = await freeBytesOf(path);
        if (bytes >= least) continue;
        least = bytes;
        where = path;
      }
      this.freeBytes = least;
      this.judge(where);
    } catch (error) {
      // What it was before holds: whether the disk works shows when it is written to.
      this.troubles.failures.disk_space++;
      if (this.reason !== undefined) this.troubles.failed("disk_space", `${this.reason}; now: ${errorText(error)}`);
    } finally {
      this.looking = false;
    }
  }

  private judge(where: string): void {
    const { freeBytesMin } = this.options;
    if (this.freeBytes >= (this.reason === undefined ? freeBytesMin : freeBytesMin * RESUME_RATIO)) {
      this.reason = undefined;
      this.troubles.works("disk_space");
      return;
    }
    const free = Math.floor(this.freeBytes / 1024 / 1024);
    const min = Math.ceil(freeBytesMin / 1024 / 1024);
    this.reason =
      `the disk of ${where} has ${free} MiB left, and ${min} MiB are kept free (storage.free_space_min); ` +
      "make room: drop or truncate tables, shorten their ttl, or delete other files";
    this.troubles.failed("disk_space", this.reason);
  }
}
