import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, silentLogger } from "../base/log.ts";
import { keepPrivate } from "./private-folder.ts";

let root: string;
const said: string[] = [];
const logger: Logger = { ...silentLogger, info: (_, text) => said.push(text), warn: (_, text) => said.push(text) };
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "varve-private-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test.each([
  [0o755, 0o700, ["a folder was open to other users; it is closed to them now"]],
  [0o710, 0o700, ["a folder was open to other users; it is closed to them now"]],
  [0o700, 0o700, []],
  [0o1777, 0o1777, ["a folder is open to other users and not ours to close"]],
])("a folder of rights %o has %o", async (before, after, want) => {
  const folder = join(root, before.toString(8));
  await mkdir(folder);
  await chmod(folder, before);
  said.length = 0;
  await keepPrivate(folder, logger);
  expect((await stat(folder)).mode & 0o7777).toBe(after);
  expect(said).toEqual([...want]);
});

test("a folder that is not there is no reason to stop", async () => {
  said.length = 0;
  await keepPrivate(join(root, "none"), logger);
  expect(said).toEqual(["cannot close a folder to other users"]);
});
