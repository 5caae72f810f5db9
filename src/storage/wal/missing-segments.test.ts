/** What a start sees of a log from which segments, or parts of them, are gone. */
import { afterEach, describe, expect, test } from "bun:test";
import { copyFileSync, cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../../../test/support/failure-of.ts";
import { type LocalLog, makeLocalLog, openLocalLog } from "../../../test/support/local-log.ts";
import { ENDS_NAME } from "./ends-file.ts";
import type { LocalWalOptions } from "./local-wal.ts";
import { judgeLink, type LinkSight, type LinkVerdict, sightOf } from "./log-replay.ts";
import { RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES, type SegmentEnd } from "./record-header.ts";
import type { WalRecovery, WalRecoveryReport } from "./wal.ts";

const RECORD = RECORD_HEADER_BYTES + 100;
/** Three records fill a segment. */
const SEGMENT = SEGMENT_HEADER_BYTES + 3 * RECORD;
const PAUSE_MS = 5;

const logs: LocalLog[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const log of logs.splice(0)) await log.dispose();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function open(directory?: string, options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
  const all = { segmentBytes: SEGMENT, pauseMs: PAUSE_MS, ...options };
  const log = directory === undefined ? await makeLocalLog(all) : await openLocalLog(directory, all);
  logs.push(log);
  return log;
}

async function put(log: LocalLog, ...sequences: readonly number[]): Promise<void> {
  for (const sequence of sequences) {
    log.wal.beginRecord();
    await log.wal.append(sequence, [new Uint8Array(100).fill(sequence)]);
  }
}

/** A log of four full segments, each of three records, with sequences from 1 to 12. */
async function twelve(options: Partial<LocalWalOptions> = {}): Promise<LocalLog> {
  const log = await open(undefined, options);
  await log.wal.recover(() => undefined);
  await put(log, ...Array.from({ length: 12 }, (_, i) => i + 1));
  return log;
}

function pathOf(directory: string, id: number): string {
  return join(directory, `${String(id).padStart(10, "0")}.log`);
}

function copyOf({ directory }: LocalLog): string {
  const copy = join(mkdtempSync(join(tmpdir(), "varve-gaps-")), "log");
  folders.push(join(copy, ".."));
  cpSync(directory, copy, { recursive: true });
  return copy;
}

interface Found {
  readonly sequences: readonly number[];
  readonly report: WalRecoveryReport;
  readonly unknown: number;
}

async function recovered(directory: string, recovery: WalRecovery): Promise<Found> {
  const log = await open(directory, { recovery });
  const sequences: number[] = [];
  let unknown = 0;
  const report = await log.wal.recover(
    ({ sequence }) => void sequences.push(sequence),
    () => {
      unknown++;
    },
  );
  await log.wal.close();
  return { sequences, report, unknown };
}

/** Strict refuses with a text and changes nothing; skip_corrupt gives what is left and says what is missing. */
async function checkLoss(
  directory: string,
  refusal: string | RegExp,
  want: Partial<WalRecoveryReport> & { sequences: number[] },
): Promise<void> {
  const before = readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toString("hex")]);
  const strict = await open(directory);
  expect((await failureOf(strict.wal.recover(() => undefined))).message).toMatch(refusal);
  await strict.wal.close();
  expect(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toString("hex")])).toEqual(before);
  const { sequences, ...report } = want;
  const found = await recovered(directory, "skip_corrupt");
  expect(found.sequences).toEqual(sequences);
  expect(found.report).toMatchObject(report);
  expect(found.unknown).toBeGreaterThan(0);
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

test("the decision table of named segments in full", () => {
  const table: readonly (readonly [sight: LinkSight, recovery: WalRecovery, want: LinkVerdict])[] = [
    ["unnamed", "strict", "fine"],
    ["unnamed", "skip_corrupt", "fine"],
    ["as-named", "strict", "fine"],
    ["as-named", "skip_corrupt", "fine"],
    ["missing", "strict", "refuse"],
    ["missing", "skip_corrupt", "lost"],
    ["different", "strict", "refuse"],
    ["different", "skip_corrupt", "lost"],
  ];
  for (const [sight, recovery, want] of table) expect(judgeLink(sight, recovery)).toBe(want);
  const previous: SegmentEnd = { id: 4, bytes: 100, check: 7 };
  const found = (...ends: readonly SegmentEnd[]): ReadonlyMap<number, SegmentEnd> => new Map(ends.map((end) => [end.id, end]));
  const sights: readonly (readonly [
    previous: SegmentEnd | undefined,
    oldest: number,
    found: ReadonlyMap<number, SegmentEnd>,
    LinkSight,
  ])[] = [
    [undefined, 1, found(), "unnamed"],
    [previous, 5, found(), "unnamed"],
    [previous, 5, found({ ...previous, bytes: 50 }), "unnamed"],
    [previous, 4, found(), "missing"],
    [previous, 4, found({ ...previous, id: 3 }), "missing"],
    [previous, 4, found({ ...previous, bytes: 99 }), "different"],
    [previous, 4, found({ ...previous, bytes: 101 }), "different"],
    [previous, 4, found({ ...previous, check: 8 }), "different"],
    [previous, 4, found(previous), "as-named"],
  ];
  for (const [named, oldest, there, want] of sights) expect(sightOf(named, oldest, there)).toBe(want);
});

describe("a strict start is refused over", () => {
  test("nothing, when nothing is missing: closed, killed, or killed after a pause", async () => {
    const log = await twelve();
    const killed = copyOf(log);
    while (log.disk.calls.at(-1) !== "sync" || log.disk.calls.at(-2) === `${RECORD} B at ${SEGMENT - RECORD}`) await Bun.sleep(1);
    const paused = copyOf(log);
    await log.wal.close();
    for (const directory of [killed, paused, log.directory]) {
      const found = await recovered(directory, "strict");
      expect(found.sequences).toEqual(range(1, 12));
      expect(found.report).toMatchObject({ tornTailBytes: 0, lostBytes: 0, lostSegments: 0, gaps: [] });
    }
  });

  test("a deleted segment in the middle", async () => {
    const { directory } = await closed();
    rmSync(pathOf(directory, 2));
    await checkLoss(directory, `segment 2, ${SEGMENT} bytes long when segment 3 was begun, is missing`, {
      sequences: [...range(1, 3), ...range(7, 12)],
      segments: 3,
      lostBytes: SEGMENT,
      lostSegments: 1,
      gaps: [{ segment: 2, bytes: SEGMENT, afterSequence: 3, beforeSequence: 7 }],
    });
  });

  test("two of them in a row", async () => {
    const { directory } = await closed();
    for (const id of [2, 3]) rmSync(pathOf(directory, id));
    await checkLoss(directory, "segment 3, ", {
      sequences: [...range(1, 3), ...range(10, 12)],
      lostBytes: SEGMENT,
      lostSegments: 2,
      gaps: [{ segment: 3, bytes: SEGMENT, afterSequence: 3, beforeSequence: 10 }],
    });
  });

  test("the oldest segment that is needed", async () => {
    const { directory } = await closed();
    rmSync(pathOf(directory, 1));
    await checkLoss(directory, `segment 1, ${SEGMENT} bytes long when segment 2 was begun, is missing`, {
      sequences: range(4, 12),
      lostSegments: 1,
      gaps: [{ segment: 1, bytes: SEGMENT, afterSequence: undefined, beforeSequence: 4 }],
    });
  });

  test("a segment in the middle that was cut, at every record border and within records", async () => {
    const log = await closed();
    for (const bytes of [SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES + RECORD, SEGMENT_HEADER_BYTES + 2 * RECORD]) {
      const directory = copyOf(log);
      truncateSync(pathOf(directory, 2), bytes);
      const kept = range(4, 3 + Math.floor((bytes - SEGMENT_HEADER_BYTES) / RECORD));
      await checkLoss(directory, `segment 2, ${SEGMENT} bytes long when segment 3 was begun, ends otherwise: it has ${bytes} bytes`, {
        sequences: [...range(1, 3), ...kept, ...range(7, 12)],
        lostBytes: SEGMENT - bytes,
        lostSegments: 0,
        gaps: [{ segment: 2, bytes: SEGMENT - bytes, afterSequence: kept.at(-1) ?? 3, beforeSequence: 7 }],
      });
    }
    const directory = copyOf(log);
    truncateSync(pathOf(directory, 2), SEGMENT - 1);
    await checkLoss(directory, /0000000002\.log: damaged bytes/, { sequences: [...range(1, 5), ...range(7, 12)], lostBytes: RECORD });
  });

  test("a segment in the middle that was emptied", async () => {
    const { directory } = await closed();
    truncateSync(pathOf(directory, 2), 0);
    await checkLoss(directory, "ends otherwise: it has 0 bytes", { sequences: [...range(1, 3), ...range(7, 12)], lostBytes: SEGMENT });
  });

  test("another log's segment in the place of one", async () => {
    const { directory } = await closed();
    const other = await closed();
    copyFileSync(pathOf(other.directory, 2), pathOf(directory, 2));
    await checkLoss(directory, /segment [12], .* ends with another record/, { sequences: range(1, 12), lostSegments: 0 });
  });

  test("the newest segment, deleted: after a clean end, a kill, or a kill after a pause", async () => {
    const log = await twelve();
    const killed = copyOf(log);
    await log.wal.close();
    for (const directory of [killed, log.directory]) {
      rmSync(pathOf(directory, 4));
      await checkLoss(directory, "segment 4, the newest one, is missing", {
        sequences: range(1, 9),
        lostBytes: directory === killed ? 0 : SEGMENT,
        lostSegments: 1,
        gaps: [{ segment: 4, bytes: directory === killed ? 0 : SEGMENT, afterSequence: 9, beforeSequence: undefined }],
      });
    }
  });

  test("all segments, deleted", async () => {
    const { directory } = await closed();
    for (const id of range(1, 4)) rmSync(pathOf(directory, id));
    await checkLoss(directory, "segment 4, the newest one, is missing", { sequences: [], lostSegments: 4 });
    expect((await recovered(directory, "strict")).sequences).toEqual([]); // That loss was taken.
  });

  test("the newest segment, emptied or cut before the end of its last pause", async () => {
    const log = await closed();
    for (const bytes of [0, 7, SEGMENT_HEADER_BYTES, SEGMENT_HEADER_BYTES + RECORD, SEGMENT - 1]) {
      const directory = copyOf(log);
      truncateSync(pathOf(directory, 4), bytes);
      const kept = Math.max(0, Math.floor((bytes - SEGMENT_HEADER_BYTES) / RECORD));
      await checkLoss(directory, /0000000004\.log: (damaged bytes at|it ends at) offset/, {
        sequences: range(1, 9 + kept),
        tornTailBytes: 0,
      });
    }
  });

  test("an emptied newest segment, also when the process was killed", async () => {
    const log = await twelve();
    const directory = copyOf(log);
    truncateSync(pathOf(directory, 4), 0);
    await checkLoss(directory, /0000000004\.log: it ends at offset 0/, { sequences: range(1, 9) });
  });

  test("the file `ends`, deleted or damaged in all places", async () => {
    const log = await closed();
    const deleted = copyOf(log);
    rmSync(join(deleted, ENDS_NAME));
    const damaged = copyOf(log);
    writeFileSync(join(damaged, ENDS_NAME), new Uint8Array(3 * 4096).fill(0x55));
    for (const directory of [deleted, damaged]) {
      await checkLoss(directory, "the file `ends`, which says what segments there must be, is missing or damaged", {
        sequences: range(1, 12),
        lostBytes: 0,
      });
      expect((await recovered(directory, "strict")).sequences).toEqual(range(1, 12));
    }
  });

  async function closed(): Promise<LocalLog> {
    const log = await twelve();
    await log.wal.close();
    return log;
  }
});

describe("a flipped bit in the last group", () => {
  const offset = SEGMENT - 5;

  function flip(directory: string): void {
    const path = pathOf(directory, 4);
    const bytes = readFileSync(path);
    bytes[offset]! ^= 1;
    writeFileSync(path, bytes);
  }

  test("is damage after a clean end", async () => {
    const log = await twelve();
    await log.wal.close();
    flip(log.directory);
    await checkLoss(log.directory, `0000000004.log: damaged bytes at offset ${SEGMENT - RECORD}`, {
      sequences: range(1, 11),
      lostBytes: RECORD,
      tornTailBytes: 0,
      gaps: [{ segment: 4, bytes: RECORD, afterSequence: 11, beforeSequence: undefined }],
    });
  });

  test("is damage after a pause of writes, said once in each pause", async () => {
    const log = await twelve();
    const before = log.disk.calls.length;
    await Bun.sleep(20 * PAUSE_MS);
    expect(log.disk.calls.slice(before).filter((call) => call.startsWith("40 B"))).toHaveLength(1);
    const directory = copyOf(log);
    flip(directory);
    await checkLoss(directory, `0000000004.log: damaged bytes at offset ${SEGMENT - RECORD}`, { sequences: range(1, 11) });
    await log.wal.close();
  });

  test("is damage after a pause with wal.sync = interval, once it was synced", async () => {
    const log = await twelve({ sync: "interval", syncIntervalMs: 2 });
    await Bun.sleep(20 * PAUSE_MS);
    const directory = copyOf(log);
    flip(directory);
    await checkLoss(directory, "0000000004.log: damaged bytes", { sequences: range(1, 11) });
    await log.wal.close();
  });

  test("is a torn tail while nothing says that it was on disk", async () => {
    const log = await twelve({ pauseMs: 1_000_000 });
    const directory = copyOf(log);
    flip(directory);
    const found = await recovered(directory, "strict");
    expect({ ...found.report, gaps: [] }).toMatchObject({ records: 11, tornTailBytes: RECORD, lostBytes: 0 });
  });

  test("is damage after the next start, which has written it once more", async () => {
    const log = await twelve({ pauseMs: 1_000_000 });
    const directory = copyOf(log);
    const next = await open(directory);
    await next.wal.recover(() => undefined);
    flip(directory);
    const killed = copyOf(next);
    expect((await failureOf((await open(killed)).wal.recover(() => undefined))).message).toContain("damaged bytes at offset");
  });
});

describe("a trimmed log", () => {
  test("misses nothing: in part, as a whole, and when a power loss brings deleted segments back", async () => {
    const log = await twelve();
    const full = copyOf(log);
    await log.wal.trim(3);
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual(range(7, 12));
    // Segment 1 is back, 2 is not.
    const partly = copyOf(log);
    copyFileSync(pathOf(full, 1), pathOf(partly, 1));
    expect((await recovered(partly, "strict")).sequences).toEqual([...range(1, 3), ...range(7, 12)]);
    expect((await recovered(partly, "strict")).sequences).toEqual([...range(1, 3), ...range(7, 12)]);
    await log.wal.rotate();
    await log.wal.trim(5);
    const empty = copyOf(log);
    expect((await recovered(empty, "strict")).sequences).toEqual([]);
    // Ids go on, so that nothing is asked for that an earlier segment of the same id was.
    const next = await open(empty);
    await next.wal.recover(() => undefined);
    await put(next, 13);
    expect(next.wal.segments().map(({ id }) => id)).toEqual([5]);
    await next.wal.close();
    expect((await recovered(empty, "strict")).sequences).toEqual([13]);
    await log.wal.close();
  });

  test("says what may be missing before the first segment goes, and deletes none when it cannot say so", async () => {
    const log = await twelve();
    const before = log.disk.calls.length;
    await log.wal.trim(3);
    expect(log.disk.calls.slice(before)).toEqual([expect.stringMatching(/^40 B at /), "sync", "delete", "delete"]);
    log.disk.fail("sync", "EIO: i/o error");
    expect((await failureOf(log.wal.trim(4))).message).toBe("cannot note that log segments before 4 are not needed: EIO: i/o error");
    expect(log.wal.segments().map(({ id }) => id)).toEqual([3, 4]);
    await log.wal.trim(4);
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual(range(10, 12));
    await log.wal.close();
  });

  test("syncs that also when it is never synced otherwise: a power loss must not bring the old statement back", async () => {
    const log = await twelve({ sync: "never" });
    log.disk.calls.length = 0;
    await log.wal.trim(3);
    expect(log.disk.calls).toEqual([expect.stringMatching(/^40 B at /), "sync", "delete", "delete"]);
    await log.wal.close();
  });
});

describe("a log that has healed", () => {
  test("names how a segment ended after its cut", async () => {
    const log = await open();
    await log.wal.recover(() => undefined);
    await put(log, 1, 2);
    log.disk.fail("sync", "EIO: i/o error");
    await failureOf(put(log, 3));
    await log.heal();
    await put(log, 4);
    await log.wal.close();
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual([1, 2, 4]);
    truncateSync(pathOf(log.directory, 1), SEGMENT_HEADER_BYTES + RECORD);
    await checkLoss(log.directory, /segment 1, .* ends otherwise/, { sequences: [1, 4], lostBytes: RECORD });
  });

  test("does not ask for a segment that could not be begun, whatever the failed statement left on disk", async () => {
    const log = await open();
    await log.wal.recover(() => undefined);
    await put(log, 1, 2, 3);
    log.disk.fail("sync", "EIO: i/o error", 0, 1); // That of the header passes, that of the statement fails: the disk has it all the same.
    await failureOf(put(log, 4));
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual([1, 2, 3]);
    await log.disk.hold("create"); // The repair is done: the segment is gone, and another is about to be made.
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual([1, 2, 3]);
    log.disk.release();
    await log.heal();
    await put(log, 5);
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual([1, 2, 3, 5]);
    await log.wal.close();
  });
});

test("a log that another object has read back names its newest segment rightly", async () => {
  const log = await twelve();
  await log.wal.close();
  const next = await open(log.directory, { isRecovered: true });
  await next.wal.recover(() => undefined);
  await put(next, 13);
  await next.wal.close();
  expect((await recovered(log.directory, "strict")).sequences).toEqual(range(1, 13));
  rmSync(pathOf(log.directory, 4));
  await checkLoss(log.directory, /segment 4, .* is missing/, { sequences: [...range(1, 9), 13], lostSegments: 1 });
});

test("a newest segment that was begun and has no header is not asked for, at any later start", async () => {
  for (const sync of ["always", "interval", "never"] as const) {
    const { directory } = await twelve({ sync });
    writeFileSync(pathOf(directory, 5), "");
    for (let start = 1; start <= 3; start++) {
      const log = await open(directory, { sync });
      const report = await log.wal.recover(() => undefined);
      expect({ sync, start, report }).toMatchObject({ report: { segments: 5, records: 12, gaps: [] } });
    }
    const log = await open(directory, { sync });
    await log.wal.recover(() => undefined);
    await put(log, 13);
    expect((await recovered(copyOf(log), "strict")).sequences).toEqual(range(1, 13));
  }
});
