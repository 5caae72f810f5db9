/**
 * The few calls by which the log uses its disk, so that tests can let one of them fail, and take the power away between any two.
 */
import { close, fdatasync, fsync, ftruncate, open, read, writev } from "node:fs";
import { readdir, rm, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { withDescriptor } from "../../base/process/descriptors.ts";

/** Most buffers of one writev; Linux's IOV_MAX is 1024. */
const WRITEV_PARTS_MAX = 1000;

/** What the log does to its directory. Each call rejects with the system's error. */
export interface LogDisk {
  /** Names in a folder. */
  list(path: string): Promise<readonly string[]>;
  /** Bytes of a file. */
  size(path: string): Promise<number>;
  /** Puts bytes of a file from `position` on into `into` and returns how many: perhaps fewer than there is room for, 0 at its end. */
  read(path: string, into: Uint8Array, position: number): Promise<number>;
  /** Opens a file that exists for writing. */
  open(path: string): Promise<number>;
  /** Makes a file that must not exist yet and opens it for writing. */
  create(path: string): Promise<number>;
  /** Writes the parts at `position` and returns how many bytes the system took: at least one, perhaps not all. */
  write(fd: number, parts: readonly Uint8Array[], position: number): Promise<number>;
  truncate(fd: number, length: number): Promise<void>;
  /** Makes the file's bytes and length durable. */
  sync(fd: number): Promise<void>;
  /** Makes the entries of a folder durable. */
  syncFolder(path: string): Promise<void>;
  close(fd: number): Promise<void>;
  /** Deletes a file; one that does not exist is no error. */
  delete(path: string): Promise<void>;
}

const openAsync = promisify(open);
const readAsync = promisify(read);
const closeAsync = promisify(close);
const fsyncAsync = promisify(fsync);

/** The disk of this machine. */
export const systemLogDisk: LogDisk = {
  list: (path) => readdir(path),
  size: async (path) => (await stat(path)).size,
  async read(path, into, position) {
    const fd = await withDescriptor(() => openAsync(path, "r"));
    try {
      return (await readAsync(fd, into, 0, into.length, position)).bytesRead;
    } finally {
      await closeAsync(fd);
    }
  },
  open: (path) => withDescriptor(() => openAsync(path, "r+")),
  create: (path) => withDescriptor(() => openAsync(path, "wx")),
  write: (fd, parts, position) =>
    new Promise((resolve, reject) => {
      writev(fd, parts as Uint8Array[], position, (error, written) => {
        if (error) reject(error);
        else if (written === 0) reject(new Error("the disk took no bytes"));
        else resolve(written);
      });
    }),
  truncate: promisify(ftruncate),
  sync: promisify(fdatasync),
  async syncFolder(path) {
    const fd = await withDescriptor(() => openAsync(path, "r"));
    try {
      await fsyncAsync(fd);
    } finally {
      await closeAsync(fd);
    }
  },
  close: closeAsync,
  delete: (path) => rm(path, { force: true }),
};

/** Writes all parts at `position`, however many calls that takes. No part is empty. @throws the system's error */
export async function writeAll(disk: LogDisk, fd: number, parts: readonly Uint8Array[], position: number): Promise<void> {
  let rest = parts;
  let at = position;
  while (rest.length > 0) {
    let written = await disk.write(fd, rest.slice(0, WRITEV_PARTS_MAX), at);
    at += written;
    let done = 0;
    while (done < rest.length && written >= (rest[done] as Uint8Array).length) written -= (rest[done++] as Uint8Array).length;
    const left = rest.slice(done);
    if (written > 0) left[0] = (left[0] as Uint8Array).subarray(written);
    rest = left;
  }
}
