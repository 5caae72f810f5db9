import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorOf, failureOf } from "../../../test/support/failure-of.ts";
import { walContract } from "../../../test/contract/wal-contract.ts";
import { type LocalLog, makeLocalLog, openLocalLog, TestLogs } from "../../../test/support/local-log.ts";
import { StatusCode } from "../../base/status-code.ts";
import type { LocalWalOptions } from "./local-wal.ts";
import { STATEMENT_BYTES, STATEMENT_STRIDE } from "./log-ends.ts";
import { RECORD_HEADER_BYTES, RECORD_PAYLOAD_BYTES_MAX, SEGMENT_HEADER_BYTES } from "./record-header.ts";

walContract("openLocalWal", (segmentBytes) => makeLocalLog({ segmentBytes }));

const logs = new TestLogs();
afterEach(() => logs.dispose());

async function open(options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
  const log = await logs.open(options);
  log.disk.calls.length = 0;
  return log;
}

async function put(log: LocalLog, sequence: number, text = "x"): Promise<void> {
  log.wal.beginRecord();
  await log.wal.append(sequence, [new TextEncoder().encode(text)]);
}

const RECORD = RECORD_HEADER_BYTES + 1;

/** Calls that begin a segment, with the statement about it at a place. */
function begun(place: number): string[] {
  const statement = `${STATEMENT_BYTES} B at ${place * STATEMENT_STRIDE}`;
  return ["create", `${SEGMENT_HEADER_BYTES} B at 0`, "sync", "syncFolder", statement, "sync"];
}

function segmentsIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith(".log"))
    .sort();
}

describe("group commit", () => {
  test("one write and one sync cover all that waited", async () => {
    const log = await open();
    await Promise.all([1, 2, 3, 4, 5].map((i) => put(log, i)));
    // The first record finds the disk idle and goes alone; the other four wait for it.
    expect(log.disk.calls).toEqual([
      "create",
      `${SEGMENT_HEADER_BYTES} B at 0`,
      "sync",
      "syncFolder",
      `${STATEMENT_BYTES} B at ${2 * STATEMENT_STRIDE}`,
      "sync",
      `${RECORD} B at ${SEGMENT_HEADER_BYTES}`,
      "sync",
      `${4 * RECORD} B at ${SEGMENT_HEADER_BYTES + RECORD}`,
      "sync",
    ]);
  });

  test("a group ends at its byte limit", async () => {
    const log = await open({ segmentBytes: 2 ** 30 });
    const text = "y".repeat(9 * 1024 * 1024);
    await Promise.all([put(log, 1), put(log, 2, text), put(log, 3, text), put(log, 4)]);
    // The first goes alone; two of 9 MiB are more than 16 MiB, so the second does as well.
    expect(log.disk.calls.filter((call) => call === "sync")).toHaveLength(2 + 3); // The header and the ends too.
  });

  test("header, folder and the log's ends are synced before the first record of a new segment is acknowledged", async () => {
    const log = await open({ segmentBytes: 40 });
    await put(log, 1);
    await put(log, 2);
    expect(log.disk.calls).toEqual([
      ...begun(2),
      `${RECORD} B at ${SEGMENT_HEADER_BYTES}`,
      "sync",
      "close",
      ...begun(1),
      `${RECORD} B at ${SEGMENT_HEADER_BYTES}`,
      "sync",
    ]);
  });
});

describe("the sync modes", () => {
  test("interval answers before it syncs", async () => {
    const log = await open({ sync: "interval", syncIntervalMs: 1_000_000 });
    await put(log, 1);
    expect(log.disk.calls.at(-1)).toBe(`${RECORD} B at ${SEGMENT_HEADER_BYTES}`);
    await log.wal.close();
    expect(log.disk.unsyncedBytes).toBe(0);
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
  });

  test("interval syncs soon after", async () => {
    const log = await open({ sync: "interval", syncIntervalMs: 2 });
    await put(log, 1);
    while (log.disk.unsyncedBytes > 0) await Bun.sleep(1);
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
  });

  test("interval syncs a segment before it leaves it", async () => {
    const log = await open({ sync: "interval", syncIntervalMs: 1_000_000, segmentBytes: 40 });
    await put(log, 1);
    await put(log, 2);
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
  });

  test("interval stops acknowledging after a failed background sync", async () => {
    const log = await open({ sync: "interval", syncIntervalMs: 2 });
    log.disk.fail("sync", "input/output error", 0, 2); // Those of the header and the ends pass.
    await put(log, 1);
    for (let i = 0; i < 500 && log.wal.failure() === undefined; i++) await Bun.sleep(1);
    expect(log.wal.failure()).toContain("input/output error");
    expect((await failureOf(put(log, 2))).message).toContain("input/output error");
  });

  test("never leaves it to the system, until it closes", async () => {
    const log = await open({ sync: "never", segmentBytes: 40 });
    await put(log, 1);
    await put(log, 2);
    expect(log.disk.calls.filter((call) => call.startsWith("sync"))).toEqual([]);
    await log.wal.close();
    expect(log.disk.calls.filter((call) => call === "sync")).toHaveLength(2); // The segment, and that it ends there.
  });
});

describe("a disk that fails", () => {
  test("on a write: nothing of the record stays, however much was written", async () => {
    for (const taken of [0, 1, RECORD_HEADER_BYTES - 1, RECORD_HEADER_BYTES, RECORD - 1, RECORD]) {
      const log = await open();
      await put(log, 1);
      log.disk.fail("write", "no space left on device", taken);
      const error = await failureOf(put(log, 2));
      expect([error.code, error.message]).toEqual([StatusCode.StorageUnavailable, "cannot write to the log: no space left on device"]);
      expect(log.disk.calls.slice(-2)).toEqual(["truncate", "sync"]);
      await put(log, 3);
      expect(log.wal.segments().map(({ id }) => id)).toEqual([1, 2]);
      expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 3]);
    }
  });

  test("on a write: whole records of the failed group are cut off too", async () => {
    const log = await open();
    await put(log, 1);
    log.disk.fail("write", "no space left on device", 2 * RECORD + 5, 1);
    const first = put(log, 2); // Goes alone; the other three form the group behind it.
    const outcomes = await Promise.allSettled([3, 4, 5].map((i) => put(log, i)));
    await first;
    const failed = outcomes.filter(({ status }) => status === "rejected").length;
    expect(failed).toBe(3);
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 2]);
  });

  test("on cutting a failed write: takes nothing more", async () => {
    const log = await open();
    await put(log, 1);
    log.disk.fail("write", "no space left", 10);
    log.disk.fail("truncate", "read-only file system");
    await failureOf(put(log, 2));
    expect(log.wal.failure()).toBe("cannot cut a failed write (no space left) off the log: read-only file system");
    expect((await failureOf(put(log, 3))).message).toContain("read-only file system");
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
  });

  test("on the header of a segment: the segment goes, and a restart is not stopped by it", async () => {
    const log = await open({ segmentBytes: 40 });
    await put(log, 1);
    log.disk.fail("write", "no space left", 5);
    await failureOf(put(log, 2));
    expect(segmentsIn(log.directory)).toEqual(["0000000001.log"]);
    await put(log, 3);
    expect(segmentsIn(log.directory)).toEqual(["0000000001.log", "0000000003.log"]);
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 3]);
  });

  test("on making a segment: the record fails, the next one gets another", async () => {
    const log = await open();
    log.disk.fail("create", "too many open files");
    expect((await failureOf(put(log, 1))).message).toContain("too many open files");
    await put(log, 2);
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([2]);
  });

  test("on syncing the folder: takes nothing more, for the segment may vanish", async () => {
    const log = await open();
    log.disk.fail("syncFolder", "input/output error");
    await failureOf(put(log, 1));
    expect(log.wal.failure()).toContain("input/output error");
    expect(await logs.sequencesAfterPowerLoss(log)).toEqual([]);
  });

  test("on deleting a segment: says so, and the next trim tries again", async () => {
    const log = await open({ segmentBytes: 40 });
    await put(log, 1);
    await put(log, 2);
    log.disk.fail("delete", "permission denied");
    expect((await failureOf(log.wal.trim(2))).message).toBe("cannot delete log segment 1: permission denied");
    expect(log.wal.segments().map(({ id }) => id)).toEqual([1, 2]);
    await log.wal.trim(2);
    expect(segmentsIn(log.directory)).toEqual(["0000000002.log"]);
  });

  test("on the last sync: close says so", async () => {
    const log = await open({ sync: "never" });
    await put(log, 1);
    log.disk.fail("sync", "input/output error");
    expect((await failureOf(log.wal.close())).message).toContain("input/output error");
  });
});

test("a disk that takes a few bytes at a time gets them all", async () => {
  const log = await open();
  const { disk } = log;
  const write = disk.write.bind(disk);
  disk.write = (fd, parts, position) => write(fd, [parts[0]!.subarray(0, 5)], position);
  await Promise.all([put(log, 1, "abc".repeat(50)), put(log, 2, "d")]);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1, 2]);
});

test("a record beyond the limit is refused, and what relies on it goes to a new segment", async () => {
  const log = await open();
  await put(log, 1);
  log.wal.beginRecord();
  const part = new Uint8Array(RECORD_PAYLOAD_BYTES_MAX / 64);
  const error = await failureOf(log.wal.append(2, [...Array.from({ length: 64 }, () => part), new Uint8Array(1)]));
  expect(error.code).toBe(StatusCode.InvalidArguments);
  expect(error.message).toContain("1073741825 bytes");
  expect(log.wal.beginRecord()).toBe(2);
});

test("memory shared between threads is written as it is", async () => {
  const log = await open();
  const shared = new Uint8Array(new SharedArrayBuffer(100)).fill(7);
  log.wal.beginRecord();
  await log.wal.append(1, [shared.subarray(10, 20), shared.subarray(50, 60)]);
  expect(await logs.sequencesAfterPowerLoss(log)).toEqual([1]);
});

describe("a start", () => {
  test("writes once more and syncs what no record says to be durable: a sync may have failed in the process before", async () => {
    const log = await open();
    await put(log, 1);
    await put(log, 2);
    const next = await logs.reopen(log);
    await next.wal.recover(() => undefined);
    // The second record says that the first was durable; nothing says so of the second.
    expect(next.disk.calls).toEqual([
      "list",
      "read",
      "size",
      "read",
      "open",
      `${RECORD} B at ${SEGMENT_HEADER_BYTES + RECORD}`,
      "truncate",
      "sync",
      "close",
      "syncFolder",
      "open",
      `${STATEMENT_BYTES} B at ${STATEMENT_STRIDE}`,
      "sync",
    ]);
  });

  test("syncs nothing when the log is never synced", async () => {
    const log = await open({ sync: "never" });
    await put(log, 1);
    const next = await logs.reopen(log, { sync: "never" });
    await next.wal.recover(() => undefined);
    expect(next.disk.calls).toEqual(["list", "read", "size", "read", "open", `${STATEMENT_BYTES} B at ${STATEMENT_STRIDE}`]);
  });
});

test("recovery adds up what it cut and lost, and says what segments hold", async () => {
  const END = SEGMENT_HEADER_BYTES + RECORD;
  const log = await open({ segmentBytes: 40 });
  for (const i of [1, 2, 3]) await put(log, i);
  await log.wal.close();
  appendFileSync(join(log.directory, "0000000001.log"), new Uint8Array(9));
  appendFileSync(join(log.directory, "0000000003.log"), new Uint8Array(11));
  writeFileSync(join(log.directory, "notes.txt"), "not a segment");
  const strict = await openLocalLog(log.directory);
  expect((await errorOf(strict.wal.recover(() => undefined))).message).toContain(`0000000001.log: damaged bytes at offset ${END}`);
  const next = await openLocalLog(log.directory, { recovery: "skip_corrupt" });
  const report = await next.wal.recover(() => undefined);
  expect(report).toEqual({
    segments: 3,
    records: 3,
    bytes: 3,
    tornTailBytes: 11,
    lostBytes: 9,
    lostSegments: 0,
    gaps: [{ segment: 1, bytes: 9, afterSequence: 1, beforeSequence: 2 }],
  });
  expect(next.wal.segments()).toEqual([
    { id: 1, bytes: END + 9 },
    { id: 2, bytes: END },
    { id: 3, bytes: END },
  ]);
});

test("a log directory that cannot be made is named", async () => {
  const log = await open();
  const file = join(log.directory, "file");
  writeFileSync(file, "");
  const opening = openLocalLog(join(file, "wal"));
  expect((await failureOf(opening)).message).toContain(`cannot make the log directory ${file}/wal`);
  expect(existsSync(file)).toBe(true);
});
