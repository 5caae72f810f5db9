/** What the log does about a disk that fails for a while: it stops, tells why, and goes on by itself, with all that it acknowledged. */
import { afterEach, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { failureOf } from "../../../test/support/failure-of.ts";
import { type LocalLog, TestLogs } from "../../../test/support/local-log.ts";
import type { Logger } from "../../base/log.ts";
import type { LocalWalOptions } from "./local-wal.ts";
import { SEGMENT_HEADER_BYTES } from "./record-header.ts";

const FULL = "ENOSPC: no space left on device";
const logs = new TestLogs();
const lines: string[] = [];

const logger: Logger = {
  debug: () => undefined,
  info: (_, message) => void lines.push(`info ${message}`),
  warn: (_, message) => void lines.push(`warn ${message}`),
  error: (_, message) => void lines.push(`error ${message}`),
  child: () => logger,
};

afterEach(async () => {
  lines.length = 0;
  await logs.dispose();
});

const open = (options: Partial<LocalWalOptions> = {}): Promise<LocalLog> => logs.open({ logger, ...options });

async function put(log: LocalLog, sequence: number): Promise<void> {
  log.wal.beginRecord();
  await log.wal.append(sequence, [new Uint8Array([sequence])]);
}

function segmentsIn({ directory }: LocalLog): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".log"))
    .sort();
}

test("a full disk: refuses after the second failure, tries seldom, goes on when there is room", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.failUntilHealed(FULL, "write");
  for (let i = 2; i <= 4; i++) {
    const error = await failureOf(put(log, i));
    expect([error.message, error.retryAfterSeconds]).toEqual([`cannot write to the log: ${FULL}`, 5]);
  }
  expect(log.wal.failure()).toBe(FULL);
  const before = log.disk.calls.length;
  for (let i = 0; i < 1000; i++) await failureOf(put(log, 5 + i));
  expect(log.disk.calls.length - before).toBeLessThan(20); // Refused without a look at the disk.
  await log.heal();
  await put(log, 2000);
  expect(lines).toEqual([
    "warn cannot write the log; trying a new segment",
    "error the log takes no writes; it goes on by itself once its disk works",
    "info the log takes writes again",
  ]);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 2000]);
});

test("tries that fail leave no files behind", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.failUntilHealed(FULL, "write");
  for (let i = 2; i <= 3; i++) await failureOf(put(log, i));
  await Bun.sleep(800); // Three tries.
  expect(segmentsIn(log).length).toBeLessThanOrEqual(2); // One may be under way.
  while (segmentsIn(log).length > 1) await Bun.sleep(1);
  await log.heal();
  await put(log, 4);
  expect(segmentsIn(log).length).toBe(2);
});

test("a disk with room for a header and not for a group is still full, and one file is tried again and again", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.failUntilHealed(FULL, "write");
  for (let i = 2; i <= 3; i++) await failureOf(put(log, i));
  log.disk.heal();
  log.disk.largestWrite = SEGMENT_HEADER_BYTES;
  await Bun.sleep(800);
  expect(log.wal.failure()).toBe(FULL);
  expect(segmentsIn(log).length).toBe(2);
  log.disk.largestWrite = Number.POSITIVE_INFINITY;
  await log.heal();
  await put(log, 4);
  expect(statSync(join(log.directory, segmentsIn(log)[1] ?? "")).size).toBe(SEGMENT_HEADER_BYTES + 32 + 1);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 4]);
});

test("a failed sync: the same bytes are never synced again, but cut off before anything else is acknowledged", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.fail("sync", "EIO: i/o error");
  await failureOf(put(log, 2));
  const before = log.disk.calls.length;
  await log.heal();
  expect(log.disk.calls.slice(before, before + 5)).toEqual(["open", "truncate", "sync", "close", "create"]);
  await put(log, 3);
  expect(log.wal.segments().map(({ id }) => id)).toEqual([1, 2]);
  expect(statSync(join(log.directory, "0000000001.log")).size).toBe(SEGMENT_HEADER_BYTES + 33);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 3]);
});

test("a failed sync and a crash before the cut: what was acknowledged is there, and the start is not refused", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.failUntilHealed("EIO: i/o error", "sync", "truncate");
  await failureOf(put(log, 2));
  await Bun.sleep(300);
  expect(log.wal.failure()).toContain("EIO");
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
});

test("a folder that cannot be synced: the new segment goes and another is made", async () => {
  const log = await open();
  log.disk.failUntilHealed("EIO: i/o error", "syncFolder");
  await failureOf(put(log, 1));
  await log.heal();
  await put(log, 2);
  expect(segmentsIn(log).length).toBe(1);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([2]);
});

test("interval: acknowledged rows are in doubt after a failed sync, so the log waits until their segment is trimmed", async () => {
  const log = await open({ sync: "interval", syncIntervalMs: 2 });
  await put(log, 1);
  log.disk.fail("sync", "EIO: i/o error");
  await put(log, 2);
  while (log.wal.failure() === undefined) await Bun.sleep(1);
  await Bun.sleep(300);
  expect(log.wal.failure()).toContain("EIO"); // The disk works, the rows are not safe.
  await log.wal.trim(2); // All rows are in files.
  await log.heal();
  await put(log, 3);
  await log.wal.close();
  expect(segmentsIn(log)).toEqual(["0000000002.log"]);
});

test("a segment that waits for its cut may be trimmed instead", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.failUntilHealed("EIO: i/o error", "truncate");
  log.disk.fail("sync", "EIO: i/o error");
  await failureOf(put(log, 2));
  await log.wal.trim(2);
  await log.heal();
  await put(log, 3);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([3]);
});

test("closes while its disk does not work, and says what was left", async () => {
  const log = await open();
  await put(log, 1);
  log.disk.failUntilHealed("EIO: i/o error", "sync", "truncate");
  await failureOf(put(log, 2));
  await log.wal.close();
  expect(lines.at(-1)).toBe("error cannot set the log right before it closes");
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
});
