import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { put } from "../../../test/engine/lines.ts";
import { openLocalEngine } from "../../../test/engine/local-engine.ts";
import { recordingLogger } from "../../../test/support/recording-logger.ts";
import type { Engine } from "../engine.ts";

/** Long enough for a flush on a machine that is busy. */
const LEASE_MILLIS = 3000;

const folders: string[] = [];
const engines: Engine[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** An engine whose backups end soon when nobody renews them. */
async function opened(
  leaseMillis: number,
): Promise<{ readonly home: string; readonly engine: Engine; readonly said: () => readonly unknown[] }> {
  const home = await mkdtemp(join(tmpdir(), "varve-backups-"));
  folders.push(home);
  const copyFolder = join(home, "backup");
  mkdirSync(copyFolder);
  writeFileSync(join(copyFolder, "0123456789abcdef.db"), "of a killed server");
  writeFileSync(join(copyFolder, "notes.txt"), "of somebody else");
  const { logger, entries } = recordingLogger();
  const backup = { dataFolder: join(home, "data"), logFolder: join(home, "wal"), copyFolder, leaseMillis };
  const { engine } = await openLocalEngine(home, { sync: "never", segmentBytes: 512 }, { backup, logger });
  engines.push(engine);
  return { home, engine, said: () => entries.map(({ message }) => message) };
}

function segmentsIn(home: string): number {
  return readdirSync(join(home, "wal")).filter((name) => name.endsWith(".log")).length;
}

test("a backup that nobody renews ends, and what it kept in place goes", async () => {
  const { home, engine, said } = await opened(LEASE_MILLIS);
  for (let i = 0; i < 20; i++) await put(engine, `cpu,host=a v=${i}i ${i}`);
  const { id, metaFile } = await engine.backups.begin();
  await engine.flushTable("public", "cpu");
  await engine.dropTable("public", "cpu", false);
  expect(segmentsIn(home)).toBeGreaterThan(1);
  for (let i = 0; i < 3; i++) {
    await Bun.sleep(LEASE_MILLIS / 2);
    engine.backups.renew(id);
  }
  expect(existsSync(metaFile)).toBe(true);
  while (!said().includes("a backup ended")) await Bun.sleep(10);
  expect(readdirSync(join(home, "backup"))).toEqual(["notes.txt"]); // Nor is what a killed server left.
  expect(segmentsIn(home)).toBe(0);
  expect(said()).toContain("nobody renewed a backup: it ends, and what it kept in place may go");
  expect(() => engine.backups.renew(id)).toThrow(`no backup ${id} is under way`);
}, 60_000);

test("the log goes once it was copied, while data files stay", async () => {
  const { home, engine } = await opened(60_000);
  for (let i = 0; i < 20; i++) await put(engine, `cpu,host=a v=${i}i ${i}`);
  await engine.flushTable("public", "cpu");
  await put(engine, "cpu,host=a v=1i 100");
  const { id, sequence, logs } = await engine.backups.begin();
  expect({ sequence, logs }).toEqual({ sequence: 21, logs: [{ thread: 0, newest: 21 }] });
  await engine.flushTable("public", "cpu");
  await engine.truncateTable("public", "cpu");
  expect(segmentsIn(home)).toBeGreaterThan(0);
  await engine.backups.releaseLog(id);
  expect(segmentsIn(home)).toBe(0);
  const data = (): string[] => readdirSync(join(home, "data"), { recursive: true }).map(String);
  const files = (): number => data().filter((name) => name.endsWith(".parquet")).length;
  expect(files()).toBe(1);
  await engine.backups.end(id);
  expect(files()).toBe(0);
});
