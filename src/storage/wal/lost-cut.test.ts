/**
 * A cut of the log's end whose sync failed: the system shows the shorter file and takes the cut for written. Found by lives with power
 * losses (`test/crash/power`, sync mode "interval", seed 4): a start saw nothing to cut, began the next segment, and the start after a
 * power loss refused the zeros beneath it.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../../bench/macro/random.ts";
import { PowerDisk } from "../../../test/support/power-disk.ts";
import { silentLogger } from "../../base/log.ts";
import { openLocalWal } from "./local-wal.ts";
import type { Wal } from "./wal.ts";

const folder = mkdtempSync(join(tmpdir(), "varve-lost-cut-"));
afterAll(() => rmSync(folder, { recursive: true }));

const walOf = (disk: PowerDisk): string => join(disk.root, "wal");

/** A log as a new process finds it, and the sequences that it had. */
async function started(disk: PowerDisk): Promise<{ readonly wal: Wal; readonly sequences: readonly number[] }> {
  const options = { sync: "interval", syncIntervalMs: 1000, segmentBytes: 1 << 20, recovery: "strict", logger: silentLogger } as const;
  const wal = await openLocalWal({ directory: walOf(disk), disk: disk.attach().log, ...options });
  const sequences: number[] = [];
  await wal.recover(({ sequence }) => void sequences.push(sequence));
  return { wal, sequences };
}

async function put(wal: Wal, sequence: number): Promise<void> {
  wal.beginRecord();
  await wal.append(sequence, [new Uint8Array([sequence])]);
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "is made once more by the next start, before a newer segment begins (losses of seed %i)",
  async (seed) => {
    mkdirSync(join(folder, `${seed}`, "wal"), { recursive: true });
    const disk = new PowerDisk(join(folder, `${seed}`));
    const first = await started(disk);
    await put(first.wal, 1);
    await first.wal.close();

    const dying = disk.attach();
    const path = join(walOf(disk), "0000000001.log");
    const file = await dying.log.open(path);
    const bytes = await dying.log.size(path);
    await dying.log.write(file, [new Uint8Array(5000)], bytes);
    await dying.log.sync(file);
    await dying.log.truncate(file, bytes);
    dying.failSome(0, 1, { ...seededRandom(seed), below: () => 0 }); // Nothing of the cut reaches the disk.
    const synced = await dying.log.sync(file).then(
      () => "well",
      (error: unknown) => String(error),
    );
    expect(synced).toContain("EIO");

    const second = await started(disk);
    await put(second.wal, 2);
    const left = disk.losePower(join(folder, `${seed}-left`), seededRandom(seed));
    const third = await started(left);
    expect(third.sequences[0]).toBe(1);
    await Promise.all([second.wal.close(), third.wal.close()]);
  },
);
