import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemFileDisk } from "./file-disk.ts";
import { FolderSyncs } from "./folder-syncs.ts";

const root = mkdtempSync(join(tmpdir(), "varve-syncs-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test("whoever asks before a sync has begun shares it; who asks later gets the next", async () => {
  const syncs = new FolderSyncs(systemFileDisk);
  const first = syncs.sync(root);
  expect(syncs.sync(root)).toBe(first);
  await Promise.resolve(); // It begins.
  await Promise.resolve();
  const second = syncs.sync(root);
  expect(second).not.toBe(first);
  expect(syncs.sync(root)).toBe(second);
  await Promise.all([first, second]);
  const third = syncs.sync(root);
  expect(third).not.toBe(second);
  await third;
});

test("folders are synced apart", async () => {
  const syncs = new FolderSyncs(systemFileDisk);
  expect(syncs.sync(root)).not.toBe(syncs.sync(tmpdir()));
  await Promise.all([syncs.sync(root), syncs.sync(tmpdir())]);
});

test("a failure is told to all who share it, and not to the next", async () => {
  const syncs = new FolderSyncs(systemFileDisk);
  const missing = join(root, "missing");
  const results = await Promise.allSettled([syncs.sync(missing), syncs.sync(missing)]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  rmSync(missing, { force: true });
  await Bun.write(join(missing, "file"), "x");
  await syncs.sync(missing);
});
