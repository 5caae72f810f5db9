/**
 * The few calls by which a file store changes its disk, so that tests can take the power away between any two of them.
 */
import { closeSync, fdatasync, fsync, mkdirSync, open, openSync, writeSync } from "node:fs";
import { rename, rm, rmdir } from "node:fs/promises";
import { promisify } from "node:util";
import { withDescriptor } from "../../base/process/descriptors.ts";

const openAsync = promisify(open);
const fsyncAsync = promisify(fsync);

/** What a file store does to its folder. Each call fails with the system's error. */
export interface FileDisk {
  /** Makes a folder and its missing parents; returns the first one that was made, undefined when all were there. */
  makeFolder(path: string): string | undefined;
  /** Makes the entries of a folder durable: names that were added, replaced or removed. */
  syncFolder(path: string): Promise<void>;
  /** Makes an empty file, in the place of one of that name, and opens it for writing. */
  create(path: string): number;
  /** Appends `bytes` from `offset` on; returns how many of them the system took. */
  write(fd: number, bytes: Uint8Array, offset: number): number;
  /** Makes the file's bytes and length durable. */
  sync(fd: number): Promise<void>;
  close(fd: number): void;
  rename(from: string, to: string): Promise<void>;
  /** Deletes a file; one that does not exist is no error. */
  delete(path: string): Promise<void>;
  /** Deletes a folder with all that is in it; one that does not exist is no error. */
  deleteFolder(path: string): Promise<void>;
  /** Deletes a folder in which nothing is. */
  deleteEmptyFolder(path: string): Promise<void>;
}

/** The disk of this machine. */
export const systemFileDisk: FileDisk = {
  makeFolder: (path) => mkdirSync(path, { recursive: true }),
  async syncFolder(path) {
    const fd = await withDescriptor(() => openAsync(path, "r"));
    try {
      await fsyncAsync(fd);
    } finally {
      closeSync(fd);
    }
  },
  create: (path) => openSync(path, "w"),
  write: (fd, bytes, offset) => writeSync(fd, bytes, offset, bytes.length - offset),
  sync: promisify(fdatasync),
  close: closeSync,
  rename,
  delete: (path) => rm(path, { force: true }),
  deleteFolder: (path) => rm(path, { force: true, recursive: true }),
  deleteEmptyFolder: rmdir,
};
