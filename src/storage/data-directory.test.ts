import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DbError } from "../base/error.ts";
import { StatusCode } from "../base/status-code.ts";
import { lockDataDirectory } from "./data-directory.ts";

const root = mkdtempSync(join(tmpdir(), "varve-home-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Another process that holds the lock until it is killed. */
async function holderOf(home: string): Promise<{ readonly pid: number; kill(): Promise<void> }> {
  const module = JSON.stringify(join(import.meta.dir, "data-directory.ts"));
  const script = `const { lockDataDirectory } = await import(${module});
    globalThis.held = lockDataDirectory(${JSON.stringify(home)}); process.stdout.write("locked\\n"); setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("locked\n");
  return {
    pid: child.pid,
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function refusalOf(home: string): DbError {
  try {
    lockDataDirectory(home).unlock();
  } catch (error) {
    if (error instanceof DbError) return error;
    throw error;
  }
  throw new Error("the directory should be in use");
}

test("makes a missing directory and says where things lie", () => {
  const home = join(root, "a", "b");
  const directory = lockDataDirectory(home);
  expect(directory).toMatchObject({ home, metaFile: join(home, "meta.db"), dataFolder: join(home, "data") });
  expect(readFileSync(join(home, "LOCK.pid"), "utf8")).toBe(`${process.pid}\n`);
  directory.unlock();
});

test("keeps a second server out and names the first; a killed one is out at once", async () => {
  const home = join(root, "other");
  const holder = await holderOf(home);
  const error = refusalOf(home);
  expect(error.code).toBe(StatusCode.StorageUnavailable);
  expect(error.message).toBe(
    `cannot use data directory ${home}: the server with pid ${holder.pid} uses it; stop that one or set another storage.data_home`,
  );
  await holder.kill();
  expect(existsSync(join(home, "LOCK.pid"))).toBe(true);
  const directory = lockDataDirectory(home);
  expect(readFileSync(join(home, "LOCK.pid"), "utf8")).toBe(`${process.pid}\n`);
  directory.unlock();
});

test("keeps the same process out until it unlocks", () => {
  const home = join(root, "same");
  const first = lockDataDirectory(home);
  expect(refusalOf(home).message).toContain(`the server with pid ${process.pid} uses it`);
  first.unlock();
  lockDataDirectory(home).unlock();
});

test("says that the pid is unknown when its file is gone", () => {
  const home = join(root, "nopid");
  const first = lockDataDirectory(home);
  rmSync(join(home, "LOCK.pid"));
  expect(refusalOf(home).message).toContain("the server with pid unknown (ENOENT");
  first.unlock();
});

test("a directory that cannot be made or locked is named", () => {
  writeFileSync(join(root, "file"), "");
  expect(refusalOf(join(root, "file", "x")).message).toContain(`cannot make data directory ${join(root, "file", "x")}: `);
  const home = join(root, "broken");
  lockDataDirectory(home).unlock();
  writeFileSync(join(home, "LOCK"), "not a database, but longer than the header of one is; ".repeat(20));
  expect(refusalOf(home).message).toContain(`cannot lock data directory ${home}: `);
});
