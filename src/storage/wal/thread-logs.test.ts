import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../../../test/support/failure-of.ts";
import { silentLogger } from "../../base/log.ts";
import { openLocalWal } from "./local-wal.ts";
import { listThreadLogs, removeThreadLog, threadLogFolder } from "./thread-logs.ts";
import type { Wal } from "./wal.ts";

const folder = mkdtempSync(join(tmpdir(), "varve-thread-logs-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("the logs of threads are found by their names, in order", () => {
  const directory = join(folder, "names");
  expect(listThreadLogs(directory)).toEqual([]);
  for (const name of ["thread-10", "thread-2", "thread-0", "thread-01", "thread-x", "threads", "thread-99999"]) {
    mkdirSync(join(directory, name), { recursive: true });
  }
  writeFileSync(join(directory, "0000000001.log"), "");
  expect(listThreadLogs(directory)).toEqual([2, 10]);
  expect(() => listThreadLogs(join(directory, "0000000001.log"))).toThrow("cannot list the log directory");
});

test("an empty one is removed, another is not", async () => {
  const directory = join(folder, "remove");
  mkdirSync(threadLogFolder(directory, 3), { recursive: true });
  writeFileSync(join(threadLogFolder(directory, 3), "mine"), "");
  expect((await failureOf(removeThreadLog(directory, 3))).message).toStartWith("cannot delete the log folder");
  rmSync(join(threadLogFolder(directory, 3), "mine"));
  await removeThreadLog(directory, 3);
  expect(readdirSync(directory)).toEqual([]);
});

async function openLog(directory: string, isRecovered: boolean): Promise<Wal> {
  const rest = { sync: "always", syncIntervalMs: 1000, segmentBytes: 1 << 20, recovery: "strict", logger: silentLogger } as const;
  return openLocalWal({ directory, ...rest, isRecovered });
}

test("a log that another object has recovered is taken over without reading it, and its segments are trimmed with the rest", async () => {
  const directory = join(folder, "taken");
  const first = await openLog(directory, false);
  await first.recover(() => undefined);
  first.beginRecord();
  await first.append(5, [new TextEncoder().encode("payload")]);
  await first.close();
  const second = await openLog(directory, true);
  const seen: number[] = [];
  const report = await second.recover(({ sequence }) => void seen.push(sequence));
  expect([seen, report.records]).toEqual([[], 0]);
  expect(second.segments()).toEqual(first.segments());
  expect(second.beginRecord()).toBe(2);
  await second.append(6, [new TextEncoder().encode("later")]);
  await second.trim(2);
  expect(second.segments().map(({ id }) => id)).toEqual([2]);
  await second.close();
});
