import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../../bench/macro/random.ts";
import { silentLogger } from "../../base/log.ts";
import { encodeEnds, logPrefix } from "./log-prefix.ts";
import { openLocalWal } from "./local-wal.ts";
import type { Wal } from "./wal.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "varve-prefix-"));
  folders.push(folder);
  return folder;
}

function open(directory: string): Promise<Wal> {
  const options = { sync: "never", syncIntervalMs: 100, segmentBytes: 600, recovery: "strict", logger: silentLogger } as const;
  return openLocalWal({ directory, ...options });
}

/** A log with records of these sequences, whose payloads say them; it is open. */
async function logOf(sequences: readonly number[]): Promise<{ readonly folder: string; readonly wal: Wal }> {
  const folder = await newFolder();
  const wal = await open(folder);
  await wal.recover(() => undefined);
  for (const sequence of sequences) {
    wal.beginRecord();
    await wal.append(sequence, [new TextEncoder().encode(`record ${sequence} ${"x".repeat(sequence % 50)}`)]);
  }
  return { folder, wal };
}

/** The sequences that a log made of the prefix has, read back as a start does. */
async function copied(folder: string, sequence: number, newest: number | undefined): Promise<readonly number[]> {
  const segments = await logPrefix(folder, sequence, newest);
  const copy = await newFolder();
  for (const { path, end } of segments) writeFileSync(join(copy, path.slice(folder.length + 1)), readFileSync(path).subarray(0, end.bytes));
  writeFileSync(join(copy, "ends"), encodeEnds(segments));
  const wal = await open(copy);
  const found: number[] = [];
  const report = await wal.recover((record) => void found.push(record.sequence));
  expect([report.tornTailBytes, report.lostBytes, report.lostSegments]).toEqual([0, 0, 0]);
  await wal.close();
  return found;
}

/** The newest segment's file. */
function newestOf(folder: string): string {
  return join(
    folder,
    readdirSync(folder)
      .filter((name) => name.endsWith(".log"))
      .sort()
      .at(-1)!,
  );
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
}

test("has the records up to a sequence, whatever it is, and goes on as a log", async () => {
  const random = seededRandom(11);
  for (let round = 0; round < 5; round++) {
    let last = 0;
    const sequences = Array.from({ length: 40 }, () => (last += 1 + random.below(4)));
    const { folder, wal } = await logOf(sequences);
    for (let sequence = 0; sequence <= last + 1; sequence += 1 + random.below(7)) {
      expect(await copied(folder, sequence, last)).toEqual(sequences.filter((one) => one <= sequence));
    }
    await wal.close();
  }
});

describe("the end of a log that is being written", () => {
  const SEQUENCES = [1, 2, 3, 5, 8, 13, 21, 34];

  test("may be half a record, behind the one that is known to be durable", async () => {
    const { folder, wal } = await logOf(SEQUENCES);
    await wal.close();
    appendFileSync(newestOf(folder), "VLR1 and half a header");
    expect(await copied(folder, 100, 34)).toEqual(SEQUENCES);
    expect(await copied(folder, 33, 34)).toEqual(SEQUENCES.slice(0, -1));
    expect(await messageOf(logPrefix(folder, 100, undefined))).toContain("damaged bytes");
  });

  test("is not taken for one where the record that is durable is not there", async () => {
    const { folder, wal } = await logOf(SEQUENCES);
    await wal.close();
    expect(await messageOf(logPrefix(folder, 100, 55))).toContain("its last record is 34, and 55 was acknowledged");
    const path = newestOf(folder);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    expect(await messageOf(logPrefix(folder, 100, 34))).toContain("damaged bytes");
  });

  test("of no records is an empty log", async () => {
    const { folder, wal } = await logOf([]);
    expect(await copied(folder, 100, undefined)).toEqual([]);
    await wal.close();
  });
});
