/**
 * Fault 8: no space left, on the log, in a flush, in a merge. More that fail in a row: `src/storage/wal/log-healing.test.ts`; a disk that
 * is really full: `test/process/full-disk.test.ts`. What was acknowledged stays readable, what cannot be stored is refused, and
 * once there is space everything goes on without a restart. A meta store without space: `src/engine/write/durability.test.ts`, "a commit".
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHome, strayFiles } from "../crash/points/home.ts";
import { put, read, refusal } from "../engine/lines.ts";
import { ONE_REGION, regionsOf } from "../engine/regions.ts";
import { type FileDiskCall, faultyFileDisk } from "../support/faulty-file-disk.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-space-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const NO_SPACE = "ENOSPC: no space left on device";
const ROWS = ["'a'|1|1", "'b'|2|2"];
/** Noise that no codec makes small, so that a record with it fills its segment. */
const LONG = Buffer.from(Array.from({ length: 300 }, (_, i) => (i * i * 2654435761) >>> 13)).toString("base64");
const SHORT = { projection: ["host", "v", "greptime_timestamp"] };

describe("no space for the log", () => {
  /** Calls that a new record makes, in its segment or in a new one. */
  const calls = ["create", "write"] as const;

  test.each(calls)("at %s: the write is refused, reads go on, and the next write is taken", async (call) => {
    const path = join(folder, `log-${call}`);
    const { engine, disk } = await openHome(path);
    await put(engine, `cpu,host=a v=1i,filler="${LONG}" 1`);
    for (let n = 0; n < 3; n++) {
      disk.fail(call, NO_SPACE, 3);
      const error = await refusal(put(engine, "cpu,host=lost v=9i 9"));
      expect(error).toMatchObject({ code: "StorageUnavailable", message: `cannot write to the log: ${NO_SPACE}` });
      expect(await read(engine, "cpu", SHORT)).toEqual(["'a'|1|1"]);
      expect(engine.failure()).toBeUndefined();
      await put(engine, `cpu,host=a v=1i,filler="${LONG}" 1`);
    }
    await put(engine, "cpu,host=b v=2i 2");
    expect(await read(engine, "cpu", SHORT)).toEqual(ROWS);
    const again = await openHome(path); // As after a kill: the first one never closed.
    expect(await read(again.engine, "cpu", SHORT)).toEqual(ROWS);
    await again.engine.close();
  });
});

describe("no space for a data file", () => {
  const calls: readonly FileDiskCall[] = ["makeFolder", "create", "write", "sync", "rename", "syncFolder"];

  test.each(calls)(
    "at %s of a flush: rows stay readable and in the log, nothing is left behind, and the next flush works",
    async (call) => {
      const path = join(folder, `flush-${call}`);
      let isFull = false;
      const home = await openHome(path, {
        fileDisk: faultyFileDisk((name) => (isFull && name === call ? new Error(NO_SPACE) : undefined)),
      });
      await put(home.engine, "cpu,host=a v=1i 1\ncpu,host=b v=2i 2");
      isFull = true;
      for (let n = 0; n < 3; n++) {
        expect((await refusal(home.engine.flushTable("public", "cpu"))).message).toContain(NO_SPACE);
        expect(await read(home.engine, "cpu")).toEqual(ROWS);
      }
      isFull = false;
      expect(strayFiles(path).filter((name) => name.includes("."))).toEqual([]);
      await home.engine.flushTable("public", "cpu");
      expect(home.engine.table("public", "cpu")?.statistics()).toMatchObject({
        fileCount: regionsOf(home.engine).length,
        memoryBytes: 0,
      });
      expect(await read(home.engine, "cpu")).toEqual(ROWS);
      expect(strayFiles(path)).toEqual([]);
      await home.engine.close();
    },
  );

  test("in a merge: the old files stay, nothing is left behind, and the next merge works", async () => {
    const path = join(folder, "merge");
    let isFull = false;
    const { engine } = await openHome(path, {
      fileDisk: faultyFileDisk((name) => (isFull && name === "write" ? new Error(NO_SPACE) : undefined)),
    });
    for (const line of ["cpu,host=a v=1i 1", "cpu,host=b v=2i 2"]) {
      await put(engine, line, ONE_REGION);
      await engine.flushTable("public", "cpu");
    }
    isFull = true;
    expect((await refusal(engine.compactTable("public", "cpu"))).message).toContain(NO_SPACE);
    expect(strayFiles(path)).toEqual([]);
    expect(await read(engine, "cpu")).toEqual(ROWS);
    isFull = false;
    await engine.compactTable("public", "cpu");
    expect(engine.table("public", "cpu")?.statistics().fileCount).toBe(1);
    expect(await read(engine, "cpu")).toEqual(ROWS);
    await engine.close();
  });
});
