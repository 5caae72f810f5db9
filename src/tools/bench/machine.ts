/** What machine it is, and how long its disk takes to keep a few bytes. */
import { open, rm, statfs } from "node:fs/promises";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";

/** Names of file systems by the number that statfs gives (statfs(2)). */
const FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0xef53, "ext4"],
  [0x58465342, "xfs"],
  [0x9123683e, "btrfs"],
  [0x01021994, "tmpfs (memory: nothing here is durable)"],
  [0x794c7630, "overlay"],
  [0x2fc12fc1, "zfs"],
  [0x6969, "nfs"],
  [0xf2f52010, "f2fs"],
]);
const SYNCS = 100;
const SYNC_BYTES = 4096;
const GIB: number = 1024 ** 3;

/** The machine in two lines. */
export async function machineText(folder: string): Promise<readonly string[]> {
  const processors = cpus();
  const { type: number } = await statfs(folder);
  const system = FILE_SYSTEMS.get(Number(number)) ?? `file system 0x${Number(number).toString(16)}`;
  return [
    `${processors.length} x ${processors[0]?.model.trim() ?? "unknown processor"}, ${(totalmem() / GIB).toFixed(0)} GiB`,
    `${type()} ${release()}, Bun ${Bun.version}, ${folder} on ${system}`,
  ];
}

/** Milliseconds of each of some syncs of 4 KiB, one after the other. */
export async function syncMillis(folder: string): Promise<readonly number[]> {
  const path = join(folder, "sync");
  const file = await open(path, "w");
  const times: number[] = [];
  try {
    const bytes = new Uint8Array(SYNC_BYTES).fill(1);
    for (let i = 0; i < SYNCS; i++) {
      const began = systemClock.monotonicMillis();
      await file.write(bytes);
      await file.datasync();
      times.push(systemClock.monotonicMillis() - began);
    }
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
  return times;
}

/** The value below which so many of all lie; 0 of none. @param part from 0 to 1 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
