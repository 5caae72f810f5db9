/**
 * A log that heals while others end and trim its segments, as flushes and upkeep do. Each test stops the disk at every call of the healing
 * in turn and lets the others go ahead there; `FaultyLogDisk` fails a test in which a file is used that is not open.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { errorOf, failureOf } from "../../../test/support/failure-of.ts";
import { FaultyLogDisk } from "../../../test/support/faulty-log-disk.ts";
import { type LocalLog, TestLogs } from "../../../test/support/local-log.ts";
import type { LocalWalOptions } from "./local-wal.ts";
import { LogFile } from "./log-file.ts";

/** More calls than any healing makes. */
const CALLS_MAX = 40;
/** Long enough for the first try to heal, which comes after 100 ms. */
const HEAL_MS = 400;

const logs = new TestLogs();
afterEach(() => logs.dispose());

async function put(log: LocalLog, sequence: number): Promise<void> {
  log.wal.beginRecord();
  await log.wal.append(sequence, [new Uint8Array(10)]);
}

/** What an engine does when no row of the log is needed any more. */
async function trimAll(log: LocalLog): Promise<void> {
  const head = log.wal.segments().at(-1)?.id ?? 0;
  await log.wal.rotate();
  await log.wal.trim(head + 1);
}

/** Ways into trouble, each with a record refused. */
const TROUBLES: readonly {
  readonly name: string;
  readonly options: Partial<LocalWalOptions>;
  readonly into: (log: LocalLog) => Promise<void>;
}[] = [
  {
    name: "a failed sync",
    options: {},
    async into(log) {
      log.disk.fail("sync", "EIO: i/o error");
      await failureOf(put(log, 2));
    },
  },
  {
    name: "a full disk",
    options: {},
    async into(log) {
      log.disk.failUntilHealed("ENOSPC: no space left on device", "write");
      await failureOf(put(log, 2));
      await failureOf(put(log, 2));
      log.disk.heal();
    },
  },
  {
    name: "a segment that could not be begun",
    options: { segmentBytes: 40 },
    async into(log) {
      log.disk.fail("syncFolder", "EIO: i/o error");
      await failureOf(put(log, 2));
    },
  },
  {
    name: "a failed sync, mode never cutting back a failed write",
    options: { sync: "never" },
    async into(log) {
      log.disk.fail("write", "EIO: i/o error", 5);
      log.disk.fail("truncate", "EIO: i/o error");
      await failureOf(put(log, 2));
    },
  },
];

describe("a trim in the midst of healing", () => {
  test.each(TROUBLES.map((trouble) => [trouble.name, trouble] as const))(
    "uses no file that is closed, and the log goes on: after %s, at each call to the disk",
    async (_, { options, into }) => {
      let steps = 0;
      for (let call = 1; call <= CALLS_MAX; call++) {
        const log = await logs.open(options);
        await put(log, 1);
        await into(log);
        const stopped = await Promise.race([log.disk.holdNth(call).then(() => true), Bun.sleep(HEAL_MS).then(() => false)]);
        const trims = [trimAll(log), trimAll(log)];
        await Bun.sleep(1);
        log.disk.release();
        await Promise.all(trims);
        await log.heal();
        await trimAll(log);
        await put(log, 3);
        expect({ call, found: await logs.sequencesAfterPowerLoss(log) }).toEqual({ call, found: options.sync === "never" ? [] : [3] });
        await logs.dispose();
        if (!stopped) break;
        steps++;
      }
      expect(steps).toBeGreaterThan(5);
      expect(steps).toBeLessThan(CALLS_MAX);
    },
    120_000,
  );

  test("keeps what is needed: of segments below the head alone, acknowledged records are there after a power loss", async () => {
    for (let call = 1; call <= 12; call++) {
      const log = await logs.open({ segmentBytes: 60 });
      await put(log, 1);
      await put(log, 2);
      log.disk.fail("sync", "EIO: i/o error", 0, 2); // Those of the header and the ends pass.
      await failureOf(put(log, 3));
      await Promise.race([log.disk.holdNth(call), Bun.sleep(HEAL_MS)]);
      const head = log.wal.segments().at(-1)?.id ?? 0;
      const trimmed = log.wal.trim(head);
      await Bun.sleep(1);
      log.disk.release();
      await trimmed;
      await log.heal();
      await put(log, 4);
      expect((await logs.sequencesAfterPowerLoss(log)).at(-1)).toBe(4);
      await logs.dispose();
    }
  });
});

describe("interval", () => {
  test("syncs a file once at a time, also when it leaves it as a round comes", async () => {
    const log = await logs.open({ sync: "interval", syncIntervalMs: 1, segmentBytes: 100 });
    await put(log, 1);
    for (let i = 2; i <= 6; i += 2) {
      const syncing = log.disk.hold("sync");
      await put(log, i); // Fills the segment; the next record leaves it.
      await syncing;
      const next = put(log, i + 1);
      await Bun.sleep(5); // Rounds come by.
      log.disk.release("sync");
      await next;
    }
    await log.wal.close();
    expect(log.disk.unsyncedBytes).toBe(0);
  });

  test("a background sync that fails while a record is being written leaves the file open for it", async () => {
    const log = await logs.open({ sync: "interval", syncIntervalMs: 2 });
    await put(log, 1);
    const writing = log.disk.hold("write");
    const second = put(log, 2);
    await writing;
    log.disk.fail("sync", "EIO: i/o error");
    while (log.wal.failure() === undefined) await Bun.sleep(1);
    await Bun.sleep(150); // A try to heal begins.
    log.disk.release("write");
    await second; // In doubt, as all that no sync covers: the engine makes it durable in a file.
    await log.wal.rotate();
    await log.wal.trim(2);
    await log.heal();
    await put(log, 3);
    await log.wal.close();
    expect(readdirSync(log.directory).filter((name) => name.endsWith(".log"))).toHaveLength(1);
  });
});

describe("rotating", () => {
  test("beside an append that begins a segment closes each file once", async () => {
    const log = await logs.open({ sync: "interval", syncIntervalMs: 1_000_000 });
    await put(log, 1);
    const syncing = log.disk.hold("sync");
    const rotated = log.wal.rotate();
    await syncing;
    const second = put(log, 2);
    await Bun.sleep(1);
    log.disk.release("sync");
    await Promise.all([rotated, second]);
    await log.wal.trim(2);
    expect(log.wal.segments().map(({ id }) => id)).toEqual([2]);
    await log.wal.close();
    const next = await logs.reopen(log);
    const found: number[] = [];
    await next.wal.recover(({ sequence }) => void found.push(sequence));
    expect(found).toEqual([2]);
  });
});

describe("trimming", () => {
  test("keeps the order of segments when deletes fail in two trims at once", async () => {
    const log = await logs.open({ segmentBytes: 40 });
    for (let i = 1; i <= 4; i++) await put(log, i);
    const deleting = log.disk.hold("delete");
    const first = log.wal.trim(3);
    await deleting;
    const second = log.wal.trim(4);
    log.disk.failUntilHealed("permission denied", "delete");
    log.disk.release("delete");
    expect((await failureOf(first)).message).toBe("cannot delete log segment 1: permission denied");
    expect((await failureOf(second)).message).toBe("cannot delete log segment 1: permission denied");
    expect(log.wal.segments().map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    log.disk.heal();
    await log.wal.trim(4);
    expect(readdirSync(log.directory).filter((name) => name.endsWith(".log"))).toEqual(["0000000004.log"]);
  });

  test("a closed log trims nothing: whoever has it now does", async () => {
    const log = await logs.open({ segmentBytes: 40 });
    for (let i = 1; i <= 3; i++) await put(log, i);
    await log.wal.close();
    await log.wal.trim(3);
    expect(readdirSync(log.directory).filter((name) => name.endsWith(".log"))).toHaveLength(3);
  });
});

describe("a log file", () => {
  test("is closed once, after the calls under way, and refuses every call after its end", async () => {
    const log = await logs.open();
    const disk = new FaultyLogDisk();
    const file = await LogFile.create(disk, join(log.directory, "x"));
    const syncing = disk.hold("sync");
    const both = [file.sync(), file.sync()];
    await syncing;
    const closed = file.close();
    disk.release("sync");
    await Promise.all([...both, closed]);
    expect(disk.calls).toEqual(["create", "sync", "sync", "close"]);
    for (const call of [() => file.sync(), () => file.truncate(0), () => file.write([new Uint8Array(1)], 0), () => file.close()]) {
      expect(String(await call().catch((error: unknown) => error))).toContain("AssertionError");
    }
  });
});

describe("the disk of these tests", () => {
  test("hears of calls on files that are not open, second syncs at once, and closes beneath a call", async () => {
    const log = await logs.open();
    const seen: string[] = [];
    const disk = new FaultyLogDisk(({ message }) => void seen.push(message));
    const path = join(log.directory, "x");
    const fd = await disk.create(path);
    const syncing = disk.hold("sync");
    const first = disk.sync(fd);
    await syncing;
    await errorOf(disk.sync(fd));
    await errorOf(disk.close(fd));
    disk.release();
    await first;
    await disk.close(fd);
    await errorOf(disk.truncate(fd, 0));
    await errorOf(disk.write(77, [new Uint8Array(1)], 0));
    expect(seen.map((message) => message.replace("the log misuses its disk: ", "").replaceAll(String(fd), "N"))).toEqual([
      `second sync at once of ${path}`,
      `close of ${path} beneath a call that is under way`,
      "truncate on descriptor N, which is not open",
      "write on descriptor 77, which is not open",
    ]);
  });
});
