/**
 * Where tests put their files. Half of their time went into waiting for `fdatasync`, of which no test sees whether it reached the disk:
 * losses of power are simulated (test/crash/power). In memory the same calls take no time.
 *
 * Servers that run as processes keep to the disk (`test/support/disk-folder.ts`), so that their log and files meet a real file system.
 */
import { mkdtempSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const MEMORY_DISK = "/dev/shm";
/** `TMPFS_MAGIC` of linux/magic.h */
const TMPFS = 0x0102_1994;
/** What has to be free there, and of the machine's memory: tests hold some hundred MiB at a time. */
const FREE_BYTES_MIN = 4 * 1024 ** 3;

/** A new folder in memory, for whoever asks to remove; undefined where there is no such disk, or not enough room on it. */
export function memoryFolder(): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY_DISK);
    if (type !== TMPFS || bavail * bsize < FREE_BYTES_MIN || freemem() < FREE_BYTES_MIN) return undefined;
    return mkdtempSync(join(MEMORY_DISK, "varve-gate-"));
  } catch (error) {
    if (error instanceof Error) return undefined; // No such folder, or no right to write there.
    throw error;
  }
}
