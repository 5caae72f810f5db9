/**
 * Fault 9: input/output errors. A failed sync ends its segment: what it holds beyond the last sync is cut off, never synced again, never
 * acknowledged; nothing that was acknowledged before is lost. A start that cannot read, cut or sync its log is refused.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/base/log.ts";
import { openLocalWal } from "../../src/storage/wal/local-wal.ts";
import { copyHome, openHome, tearLog } from "../crash/points/home.ts";
import { put, read, refusal } from "../engine/lines.ts";
import { FaultyLogDisk, type LogDiskCall } from "../support/faulty-log-disk.ts";

let folder = "";
let homes = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-io-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const IO_ERROR = "EIO: i/o error";

describe("a failed sync", () => {
  test("ends its segment: nothing of it is synced again or acknowledged; writes are refused meanwhile, then go on", async () => {
    const path = join(folder, `home-${homes++}`);
    const { engine, disk } = await openHome(path);
    await put(engine, "cpu,host=a v=1i 1");
    disk.fail("sync", IO_ERROR);
    expect(await refusal(put(engine, "cpu,host=lost v=9i 9"))).toMatchObject({ code: "StorageUnavailable" });
    expect(engine.failure()).toContain(IO_ERROR);
    for (let n = 0; n < 3; n++) {
      const { code, message } = await refusal(put(engine, "cpu,host=late v=9i 9"));
      expect({ code, message }).toEqual({ code: "StorageUnavailable", message: expect.stringContaining("cannot sync the log") });
    }
    expect(await read(engine, "cpu")).toEqual(["'a'|1|1"]);
    while (engine.failure() !== undefined) await Bun.sleep(5);
    await put(engine, "cpu,host=b v=2i 2");
    disk.losePower();
    const again = await openHome(path);
    expect(await read(again.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2"]);
    await again.engine.close();
  });

  test("is survived by what was acknowledged before, when the machine dies before it heals", async () => {
    const path = join(folder, `home-${homes++}`);
    const { engine, disk } = await openHome(path);
    await put(engine, "cpu,host=a v=1i 1");
    disk.fail("sync", IO_ERROR);
    await refusal(put(engine, "cpu,host=lost v=9i 9"));
    disk.losePower();
    const again = await openHome(path);
    expect(await read(again.engine, "cpu")).toEqual(["'a'|1|1"]);
    await put(again.engine, "cpu,host=b v=2i 2");
    await again.engine.close();
  });
});

describe("a failed sync with wal.sync = interval", () => {
  test("heals although the segment in doubt has rows of no table, so that no flush lets it go", async () => {
    const path = join(folder, `home-${homes++}`);
    const { engine, disk } = await openHome(path, { sync: "interval" });
    for (let n = 0; n < 2; n++) {
      disk.fail("create", IO_ERROR);
      await refusal(put(engine, "cpu,host=lost v=9i 9"));
    }
    expect(engine.failure()).toContain(IO_ERROR);
    await engine.flushTable("public", "cpu"); // Gives back the memory of the lost rows: from here on no table has anything to flush.
    // The log tries again in a new segment: its header is synced, but neither what it writes for a try nor cutting that off.
    const sync = disk.sync.bind(disk);
    let syncs = 0;
    disk.sync = async (fd) => {
      syncs++;
      if (syncs === 2 || syncs === 3) throw new Error(IO_ERROR);
      await sync(fd);
    };
    while (engine.failure() !== undefined) await Bun.sleep(20);
    await put(engine, "cpu,host=a v=1i 1");
    expect(await read(engine, "cpu")).toEqual(["'a'|1|1"]);
    await engine.close();
  }, 20_000);
});

describe("a log that heals", () => {
  /** More calls than a try to heal makes. */
  const CALLS = 14;

  test("beside upkeep and another thread's log uses files of its own alone, and costs no acknowledged row: at each call", async () => {
    for (let call = 1; call <= CALLS; call++) {
      const path = join(folder, `home-${homes++}`);
      const { engine, disk, thread } = await openHome(path, { hasThread: true });
      await put(engine, "cpu,host=a v=1i 1");
      await engine.flushTable("public", "cpu");
      disk.fail("sync", IO_ERROR);
      await refusal(put(engine, "cpu,host=lost v=9i 9"));
      await Promise.race([disk.holdNth(call), Bun.sleep(300)]);
      // The flush lets go of the refused row, upkeep trims a log that takes no writes.
      const kept = [engine.flushTable("public", "cpu").then(() => engine.keepUp()), engine.keepUp()];
      for (let i = 1; i <= 3; i++) await put(thread!, `other,host=t v=${i}i ${i}`);
      disk.release();
      await Promise.all(kept);
      while (engine.failure() !== undefined) await Bun.sleep(5);
      await put(engine, "cpu,host=b v=2i 2");
      copyHome(path, `${path}-killed`);
      const again = await openHome(`${path}-killed`, { hasThread: true });
      expect({ call, other: await read(again.engine, "other") }).toEqual({ call, other: ["'t'|1|1", "'t'|2|2", "'t'|3|3"] });
      expect({ call, cpu: await read(again.engine, "cpu") }).toEqual({ call, cpu: ["'a'|1|1", "'b'|2|2"] });
      await again.engine.close();
      await engine.close();
    }
  }, 60_000);
});

describe("a start whose disk fails", () => {
  /** What the start says when the log's disk fails at one call, and what the next one finds. */
  async function check(call: LogDiskCall, text: string | RegExp, after = 0): Promise<void> {
    const path = join(folder, `home-${homes++}`);
    const { engine } = await openHome(path);
    await put(engine, "cpu,host=a v=1i 1");
    await engine.flushTable("public", "cpu");
    await put(engine, "cpu,host=b v=2i 2");
    tearLog(path); // So that the start has something to cut.
    const disk = new FaultyLogDisk();
    disk.fail(call, IO_ERROR, 0, after);
    const wal = await openLocalWal({
      directory: join(path, "wal"),
      sync: "always",
      syncIntervalMs: 1000,
      segmentBytes: 1000,
      recovery: "strict",
      logger: silentLogger,
      disk,
    });
    const { code, message } = await refusal(wal.recover(() => undefined));
    expect({ code, message }).toEqual({ code: "StorageUnavailable", message: expect.stringMatching(text) });
    expect(message).toContain(IO_ERROR);
    const again = await openHome(path);
    expect(await read(again.engine, "cpu")).toEqual(["'a'|1|1", "'b'|2|2"]);
    await again.engine.close();
  }

  test("when it lists the log", () => check("list", "cannot list the log directory"));
  test("when it reads the log's ends", () => check("read", /cannot read the log's ends .*\/ends: EIO/));
  test("when it asks how long a segment is", () => check("size", /cannot read log segment .*\.log: EIO/));
  test("when it reads a segment", () => check("read", /cannot read log segment .*\.log: EIO/, 1));
  test("when it opens a segment to cut it", () => check("open", /cannot cut log segment .*\.log: EIO/));
  test("when it cuts a torn end", () => check("truncate", /cannot cut log segment .*\.log: EIO/));
  test("when it syncs what it cut", () => check("sync", /cannot cut log segment .*\.log: EIO/));
  test("when it says what it found", () => check("sync", /cannot write the log's ends .*\/ends: EIO/, 2));
  test("when it syncs the log's folder", () => check("syncFolder", /cannot sync log segment .*\.log: EIO/));
});
