import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { readlink, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failureOf } from "../../../test/support/failure-of.ts";
import { DescriptorPool } from "./descriptor-pool.ts";
import { localFileStore } from "./local-file-store.ts";

const root = mkdtempSync(join(tmpdir(), "varve-descriptors-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Names of files under the folder that this process has open. */
async function openFiles(): Promise<string[]> {
  const links = await Promise.all((await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")));
  return links.filter((link) => link.startsWith(root)).map((link) => link.slice(root.length + 1));
}

test("many files are read with few of them open", async () => {
  const store = localFileStore(root, 3);
  const names = Array.from({ length: 10 }, (_, i) => `f${i}`);
  for (const name of names) {
    const file = await store.create(name);
    file.write(new TextEncoder().encode(name));
    await file.finish();
  }
  const readers = await Promise.all(names.map((name) => store.open(name)));
  for (let round = 0; round < 2; round++) {
    for (const [i, reader] of readers.entries()) expect(new TextDecoder().decode(await reader.read(0, 2))).toBe(names[i]!);
    expect((await openFiles()).sort()).toEqual(["f7", "f8", "f9"]);
  }
  await readers[0]!.read(0, 1);
  await readers[8]!.read(0, 1);
  expect((await openFiles()).sort()).toEqual(["f0", "f8", "f9"]);
  await store.delete("f1");
  expect((await failureOf((async () => readers[1]!.read(0, 1))())).message).toContain("cannot read 1 bytes at 0 of file f1");
  for (const reader of readers) reader.close();
  expect(await openFiles()).toEqual([]);
});

test("a file that does not exist takes no place", () => {
  const pool = new DescriptorPool(1);
  expect(() => pool.use({}, join(root, "none"))).toThrow("ENOENT");
  expect(pool.size).toBe(0);
  expect(() => new DescriptorPool(0)).toThrow("at least one open file");
});
