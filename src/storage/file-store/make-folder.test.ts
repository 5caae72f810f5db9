import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "../../../bench/macro/random.ts";
import { PowerDisk } from "../../../test/support/power-disk.ts";
import { type FileDisk, systemFileDisk } from "./file-disk.ts";
import { localFileStore } from "./local-file-store.ts";
import { makeFolder } from "./make-folder.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-folder-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A power loss that takes everything that no sync has covered. */
const TAKES_ALL: Random = { next: () => 0, below: () => 0, sample: () => [] };

function newDisk(name: string): PowerDisk {
  mkdirSync(join(folder, name));
  return new PowerDisk(join(folder, name));
}

async function putFile(disk: PowerDisk, name: string): Promise<void> {
  const writer = await localFileStore(join(disk.root, "data"), 4, disk.attach().files).create(name);
  writer.write(Uint8Array.of(1, 2, 3));
  await writer.finish();
}

function leftAfterLoss(disk: PowerDisk, name: string): boolean {
  const left = disk.losePower(`${disk.root}-left`, TAKES_ALL);
  const path = join(left.root, "data", name);
  return existsSync(path) && readFileSync(path).length === 3;
}

describe("a file in new folders", () => {
  test("outlives a power loss, folders and all", async () => {
    const disk = newDisk("new");
    await putFile(disk, "tables/1/a");
    expect(leftAfterLoss(disk, "tables/1/a")).toBe(true);
  });

  test("outlives a power loss when an earlier process made its folders and was killed before it synced them, at every call", async () => {
    for (let calls = 0; calls < 6; calls++) {
      const disk = newDisk(`killed-${calls}`);
      const killed = disk.attach();
      killed.dieAfter(calls);
      try {
        const made = makeFolder(join(disk.root, "data/tables/1"), { top: join(disk.root, "data"), disk: killed.files });
        await Promise.race([made, killed.died]);
      } catch (error) {
        expect(String(error)).toContain("the process is dead");
      }
      await putFile(disk, "tables/1/a");
      expect({ calls, isLeft: leftAfterLoss(disk, "tables/1/a") }).toEqual({ calls, isLeft: true });
    }
  });
});

describe("syncing", () => {
  /** Folders that are synced for `path`, and whether it fails. */
  async function check(path: string, refuse: { readonly at: string; readonly code: string } | undefined, want: string): Promise<void> {
    const synced: string[] = [];
    const disk: FileDisk = {
      ...systemFileDisk,
      async syncFolder(at) {
        if (refuse?.at === at) throw Object.assign(new Error("refused"), { code: refuse.code });
        synced.push(at.slice(folder.length));
      },
    };
    const top = join(folder, "sync");
    try {
      await makeFolder(join(top, path), { top, disk });
      expect(synced.join(" ")).toBe(want);
    } catch (error) {
      expect(String(error)).toContain(want);
    }
  }

  test("goes from the folder above the top one downwards, and again for folders that were there", async () => {
    await check("a/b", undefined, " /sync /sync/a");
    await check("a/b", undefined, " /sync /sync/a");
  });

  test("passes over a folder above that this process may not read and in which it made nothing", async () => {
    await check("a/b", { at: folder, code: "EACCES" }, "/sync /sync/a");
    await check("a/b", { at: folder, code: "EIO" }, "refused");
    await check("c", { at: join(folder, "sync"), code: "EACCES" }, "refused");
  });

  test("is done once for folders that are known", async () => {
    const known = new Set<string>();
    let count = 0;
    const disk: FileDisk = { ...systemFileDisk, syncFolder: async () => void count++ };
    for (let n = 0; n < 3; n++) await makeFolder(join(folder, "sync/a/b"), { top: join(folder, "sync"), known, disk });
    expect(count).toBe(3);
  });
});
