/** The disk under a file store, with calls that fail when a test says so. */
import { type FileDisk, systemFileDisk } from "../../src/storage/file-store/file-disk.ts";

/** Names of the calls that can be made to fail. */
export type FileDiskCall = keyof FileDisk;

/** The disk of this machine; `fail` decides before each call whether it fails, and why. */
export function faultyFileDisk(fail: (call: FileDiskCall) => Error | undefined): FileDisk {
  const check = (call: FileDiskCall): void => {
    const error = fail(call);
    if (error !== undefined) throw error;
  };
  const disk = systemFileDisk;
  return {
    makeFolder(path) {
      check("makeFolder");
      return disk.makeFolder(path);
    },
    async syncFolder(path) {
      check("syncFolder");
      await disk.syncFolder(path);
    },
    create(path) {
      check("create");
      return disk.create(path);
    },
    write(fd, bytes, offset) {
      check("write");
      return disk.write(fd, bytes, offset);
    },
    async sync(fd) {
      check("sync");
      await disk.sync(fd);
    },
    close: (fd) => disk.close(fd),
    async rename(from, to) {
      check("rename");
      await disk.rename(from, to);
    },
    async delete(path) {
      check("delete");
      await disk.delete(path);
    },
    async deleteFolder(path) {
      check("deleteFolder");
      await disk.deleteFolder(path);
    },
    async deleteEmptyFolder(path) {
      check("deleteEmptyFolder");
      await disk.deleteEmptyFolder(path);
    },
  };
}
