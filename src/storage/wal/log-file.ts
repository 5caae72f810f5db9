/**
 * A file of the log that is open for writing. Its descriptor is known here alone, so that nobody can use it once it is closed and its
 * number is another file's: calls on a closed file are bugs, and closing waits for those under way.
 */
import { assert } from "../../base/assert.ts";
import { type LogDisk, writeAll } from "./log-disk.ts";

/** Invariant: one holder, who closes it once. At most one sync runs at a time, since the system tells only one of two that it failed. */
export class LogFile {
  readonly path: string;
  private readonly disk: LogDisk;
  private readonly fd: number;
  private isClosed = false;
  private readonly underWay: Set<Promise<unknown>> = new Set();
  private syncing: Promise<unknown> | undefined;

  private constructor(disk: LogDisk, path: string, fd: number) {
    this.disk = disk;
    this.path = path;
    this.fd = fd;
  }

  /** Makes a file that must not exist yet. @throws the system's error, as all calls here */
  static async create(disk: LogDisk, path: string): Promise<LogFile> {
    return new LogFile(disk, path, await disk.create(path));
  }

  /** Opens a file that exists. */
  static async open(disk: LogDisk, path: string): Promise<LogFile> {
    return new LogFile(disk, path, await disk.open(path));
  }

  /** Opens a file that exists, for as long as `work` takes. */
  static async with<T>(disk: LogDisk, path: string, work: (file: LogFile) => Promise<T>): Promise<T> {
    const file = await LogFile.open(disk, path);
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  /** Writes all parts, none of them empty, at `position`. */
  write(parts: readonly Uint8Array[], position: number): Promise<void> {
    return this.run((fd) => writeAll(this.disk, fd, parts, position));
  }

  truncate(length: number): Promise<void> {
    return this.run((fd) => this.disk.truncate(fd, length));
  }

  /** Makes bytes and length durable that were written before the call. */
  sync(): Promise<void> {
    return this.run(async (fd) => {
      while (this.syncing !== undefined) await this.syncing;
      const sync = this.disk.sync(fd);
      this.syncing = sync.then(ended, ended);
      try {
        await sync;
      } finally {
        this.syncing = undefined;
      }
    });
  }

  /** Closes it once the calls under way have ended. */
  async close(): Promise<void> {
    assert(!this.isClosed, `a log file is closed once; got ${this.path} again`);
    this.isClosed = true;
    await Promise.allSettled(this.underWay);
    await this.disk.close(this.fd);
  }

  private async run(work: (fd: number) => Promise<void>): Promise<void> {
    assert(!this.isClosed, `a log file is used while it is open; got ${this.path} after its end`);
    const call = work(this.fd);
    this.underWay.add(call);
    try {
      await call;
    } finally {
      this.underWay.delete(call);
    }
  }
}

function ended(): void {
  // The caller of the sync has its outcome.
}
