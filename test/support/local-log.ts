/** Local logs in a folder of their own, on a disk that obeys the test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { type LocalWalOptions, openLocalWal } from "../../src/storage/wal/local-wal.ts";
import type { Wal } from "../../src/storage/wal/wal.ts";
import type { WalFixture } from "../contract/wal-contract.ts";
import { FaultyLogDisk } from "./faulty-log-disk.ts";

/** A log on the real disk. */
export interface LocalLog extends WalFixture {
  readonly directory: string;
  readonly disk: FaultyLogDisk;
  crash(): Promise<LocalLog>;
}

/** A new folder with an empty log. */
export async function makeLocalLog(options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
  return openLocalLog(await mkdtemp(join(tmpdir(), "varve-log-")), options);
}

/** Opens the log in `directory`, which `dispose` deletes. */
export async function openLocalLog(directory: string, options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
  const disk = new FaultyLogDisk();
  const wal: Wal = await openLocalWal({
    sync: "always",
    syncIntervalMs: 5,
    segmentBytes: 1024 * 1024,
    recovery: "strict",
    logger: silentLogger,
    ...options,
    directory,
    disk,
  });
  return {
    wal,
    directory,
    disk,
    hold: () => void disk.hold(),
    release: () => disk.release(),
    failNextWrite: (why) => disk.fail("write", why, 7),
    failNextSync: (why) => disk.fail("sync", why),
    async heal() {
      disk.heal();
      while (wal.failure() !== undefined) await Bun.sleep(5);
    },
    crash() {
      disk.losePower();
      return openLocalLog(directory, options);
    },
    async dispose() {
      if (disk.isPowered) await wal.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The logs of a test, which `dispose` deletes. */
export class TestLogs {
  private readonly logs: LocalLog[] = [];

  /** A new log, recovered. */
  async open(options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
    const log = this.add(await makeLocalLog(options));
    await log.wal.recover(() => undefined);
    return log;
  }

  /** The next process's view of a log, not recovered yet. */
  async reopen({ directory }: LocalLog, options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
    return this.add(await openLocalLog(directory, options));
  }

  /** Sequences that the start after a loss of power finds. */
  async sequencesAfterPowerLoss(log: LocalLog): Promise<number[]> {
    const next = this.add(await log.crash());
    const sequences: number[] = [];
    await next.wal.recover(({ sequence }) => void sequences.push(sequence));
    return sequences;
  }

  async dispose(): Promise<void> {
    for (const log of this.logs.splice(0)) {
      log.disk.release();
      log.disk.heal();
      await log.dispose();
    }
  }

  private add(log: LocalLog): LocalLog {
    this.logs.push(log);
    return log;
  }
}
