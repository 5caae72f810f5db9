import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../../../test/support/failure-of.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import { crc32 } from "../../base/bytes/hash.ts";
import { ENDS_NAME } from "./ends-file.ts";
import { ThreadLogNames } from "./thread-log-names.ts";
import { findThreadLogs, listThreadLogs, removeThreadLog, threadLogFolder } from "./thread-logs.ts";

const folder = mkdtempSync(join(tmpdir(), "varve-thread-names-"));
let folders = 0;
afterAll(() => rmSync(folder, { recursive: true }));

/** A log directory with logs of these threads, which are named. */
async function logsOf(...threads: readonly number[]): Promise<{ readonly directory: string; readonly names: ThreadLogNames }> {
  const directory = join(folder, String(folders++));
  mkdirSync(directory);
  for (const thread of threads) {
    mkdirSync(threadLogFolder(directory, thread));
    writeFileSync(join(threadLogFolder(directory, thread), ENDS_NAME), "");
  }
  const names = new ThreadLogNames(directory);
  await names.set(() => listThreadLogs(directory));
  return { directory, names };
}

describe("the list of threads' logs", () => {
  test("comes back as it was written; without one nobody has said anything", async () => {
    const { directory, names } = await logsOf(2, 1, 10);
    expect(names.read()).toEqual([1, 2, 10]);
    expect(new ThreadLogNames(join(directory, "elsewhere")).read()).toBeUndefined();
    expect(existsSync(join(directory, "threads.tmp"))).toBe(false);
  });

  test("forgets a thread before its log goes, so that a death in between leaves nothing to be missed", async () => {
    const { directory, names } = await logsOf(1, 2);
    let named: readonly number[] | undefined;
    await names.remove(1, async () => {
      named = names.read();
      await removeThreadLog(directory, 1);
    });
    expect({ named, there: listThreadLogs(directory) }).toEqual({ named: [2], there: [2] });
  });

  test("is refused with any bit flipped, and in a newer format by name", async () => {
    const { directory, names } = await logsOf(1, 2);
    const path = join(directory, "threads");
    const bytes = readFileSync(path);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const copy = Buffer.from(bytes);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      writeFileSync(path, copy);
      expect(() => names.read()).toThrow("it is damaged");
    }
    bytes.writeUInt32LE(2, 4);
    bytes.writeUInt32LE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
    writeFileSync(path, bytes);
    expect(() => names.read()).toThrow("it has format version 2, which this server does not know");
  });
});

describe("a start", () => {
  test("finds the logs of threads, named or not", async () => {
    const { directory, names } = await logsOf(1, 2);
    mkdirSync(threadLogFolder(directory, 3)); // As a version left it that named none.
    expect(findThreadLogs(directory, names, "strict", recordingLogger().logger)).toEqual([1, 2, 3]);
  });

  test("misses the log of a thread whose folder was deleted, or emptied", async () => {
    for (const what of ["", ENDS_NAME]) {
      const { directory, names } = await logsOf(1, 2);
      rmSync(join(threadLogFolder(directory, 2), what), { recursive: true });
      const strict = Promise.resolve().then(() => findThreadLogs(directory, names, "strict", recordingLogger().logger));
      expect((await failureOf(strict)).message).toBe(
        `cannot replay the log ${directory}: the log of thread-2 is missing; restore it, or start with wal.recovery = "skip_corrupt" to ` +
          "lose what it held",
      );
      const { logger, entries } = recordingLogger();
      expect(findThreadLogs(directory, names, "skip_corrupt", logger)).toEqual(what === "" ? [1] : [1, 2]);
      const message = "logs of ingest threads are missing: rows that were in them alone are lost";
      expect(entries).toEqual([{ level: "warn", message, fields: { directory, threads: [2] } }]);
    }
  });
});
