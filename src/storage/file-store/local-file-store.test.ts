import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { errorOf } from "../../../test/support/failure-of.ts";
import { fileStoreContract } from "../../../test/contract/file-store-contract.ts";
import { DbError } from "../../base/error.ts";
import { localFileStore } from "./local-file-store.ts";
import { makeFolder } from "./make-folder.ts";

fileStoreContract("localFileStore", async () => {
  const root = await mkdtemp(join(tmpdir(), "varve-files-"));
  return {
    store: localFileStore(join(root, "data")),
    reopen: () => localFileStore(join(root, "data")),
    dispose: () => rm(root, { recursive: true, force: true }),
  };
});

const root = mkdtempSync(join(tmpdir(), "varve-files-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a local file store", () => {
  test("lists names below a root given with dots, slashes, or relative", async () => {
    for (const [index, spelling] of [`${root}/x/../r0//`, `${root}/r1/`, `./${relative(process.cwd(), root)}/r2`].entries()) {
      const store = localFileStore(spelling);
      const writer = await store.create("t/f");
      await writer.finish();
      expect(await store.list("t")).toEqual(["t/f"]);
      expect(existsSync(join(root, `r${index}`, "t", "f"))).toBe(true);
    }
  });

  test("deletes unfinished files when it lists a folder", async () => {
    const store = localFileStore(join(root, "unfinished"));
    await (await store.create("t/1/kept")).finish();
    writeFileSync(join(root, "unfinished", "t", "1", "lost.tmp"), "x");
    expect(await store.list("t")).toEqual(["t/1/kept"]);
    expect(readdirSync(join(root, "unfinished", "t", "1"))).toEqual(["kept"]);
  });

  test("says what stands in the way of a file", async () => {
    writeFileSync(join(root, "file"), "");
    const store = localFileStore(join(root, "file"));
    const creating = store.create("t/f");
    expect(await errorOf(creating)).toBeInstanceOf(DbError);
    expect((await errorOf(creating)).message).toContain("cannot create file t/f: ");
    expect((await errorOf(store.open("t/f"))).message).toContain("cannot open file t/f: ");
  });

  test("leaves nothing when a file cannot get its name", async () => {
    const store = localFileStore(join(root, "blocked"));
    const writer = await store.create("t/f");
    writer.write(Uint8Array.of(1, 2, 3));
    mkdirSync(join(root, "blocked", "t", "f", "in the way"), { recursive: true });
    expect((await errorOf(writer.finish())).message).toContain("cannot name file t/f: ");
    expect(readdirSync(join(root, "blocked", "t"))).toEqual(["f"]);
    expect((await errorOf(writer.finish())).message).toContain("is being written");
  });

  test("touches no other file's number: a closed reader or writer is closed", async () => {
    const store = localFileStore(join(root, "numbers"));
    const writer = await store.create("a");
    writer.write(Uint8Array.of(1));
    await writer.finish();
    await writer.abort();
    expect(() => writer.write(Uint8Array.of(2))).toThrow("is being written");
    const first = await store.open("a");
    first.close();
    const second = await store.open("a"); // Has the number of the first.
    first.close();
    expect(() => first.read(0, 1)).toThrow("is open");
    expect([...(await second.read(0, 1))]).toEqual([1]);
    second.close();
    expect([...readFileSync(join(root, "numbers", "a"))]).toEqual([1]);
  });
});

describe("makeFolder", () => {
  test("makes parents, is content with what exists, and ends at the root of a relative path", async () => {
    const cwd = process.cwd();
    process.chdir(root);
    try {
      await makeFolder("one");
      await makeFolder("two/three/four");
      await makeFolder("two/three/four");
    } finally {
      process.chdir(cwd);
    }
    expect(existsSync(join(root, "one"))).toBe(true);
    expect(existsSync(join(root, "two", "three", "four"))).toBe(true);
  });

  test("passes on why it cannot", async () => {
    writeFileSync(join(root, "a file"), "");
    const made = await makeFolder(join(root, "a file", "x")).then(
      () => "made",
      (error: unknown) => String(error),
    );
    expect(made).toContain("ENOTDIR");
  });
});
