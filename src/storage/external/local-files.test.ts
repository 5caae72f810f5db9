import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { externalFiles } from "./external-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "varve-external-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("what a killed process left of a file goes when the file is written again, unless it may still be written", async () => {
  const hidden = (name: string): string => `.${name}.${crypto.randomUUID()}.tmp`;
  const [old, fresh, other] = [hidden("x.csv"), hidden("x.csv"), hidden("y.csv")];
  for (const name of [old, fresh, other, ".x.csv.mine.tmp"]) await writeFile(join(folder, name), "1");
  const hoursAgo = new Date(1_600_000_000_000);
  for (const name of [old, other, ".x.csv.mine.tmp"]) await utimes(join(folder, name), hoursAgo, hoursAgo);
  const file = await externalFiles({ copyRoot: folder, copyEndpoints: [] }).create("x.csv", {});
  await file.write(new TextEncoder().encode("a"));
  await file.finish();
  expect((await readdir(folder)).sort()).toEqual([fresh, other, ".x.csv.mine.tmp", "x.csv"].sort());
});
