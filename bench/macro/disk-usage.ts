/** What a directory takes on the disk. */
import type { Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Bytes on the disk (allocated blocks, as `du` counts them). */
export interface DiskUsage {
  readonly bytes: number;
  /** Files below a directory named `wal`, or `wal1`, `wal2`, … as QuestDB has them. */
  readonly logBytes: number;
}

const BLOCK_BYTES = 512; // Unit of st_blocks, whatever the file system's block size.

/** Adds up a directory. Files that vanish meanwhile count as nothing: servers replace files while we look. */
export async function diskUsage(directory: string): Promise<DiskUsage> {
  let bytes = 0;
  let logBytes = 0;
  for (const name of await readdir(directory, { recursive: true }).catch(absent<string[]>([]))) {
    const stats = await lstat(join(directory, name)).catch(absent<Stats | undefined>(undefined));
    if (stats === undefined || stats.isDirectory()) continue;
    const size = stats.blocks * BLOCK_BYTES;
    bytes += size;
    if (/(?:^|\/)wal\d*\//.test(name)) logBytes += size;
  }
  return { bytes, logBytes };
}

function absent<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return value;
    throw error;
  };
}
