import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SPILL_FILES_MAX } from "./limits.ts";
import { SpillFolder, type SpillOptions } from "./spill-folder.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "spill-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function opened(options: Partial<SpillOptions> = {}): Promise<SpillFolder> {
  return SpillFolder.open({ folder: join(home, "tmp"), bytesMax: 1000, freeBytesMin: 0, freeBytesOf: async () => 1e12, ...options });
}

async function rejects(promise: Promise<unknown>, why: RegExp): Promise<void> {
  expect(await promise.then(() => "it was taken", String)).toMatch(why);
}

test("gives back what was appended, from any position", async () => {
  const session = (await opened()).session();
  const file = await session.create();
  expect(await file.append(Uint8Array.of(1, 2, 3))).toBe(0);
  expect(await file.append(Uint8Array.of(4, 5))).toBe(3);
  expect([...(await file.read(2, 3))]).toEqual([3, 4, 5]);
  await rejects(file.read(3, 3), /cannot read a spill file: it ends at byte 5, 6 were written/);
  await session.close();
});

test("no file has a name, and closing gives the room and the descriptors back", async () => {
  const folder = await opened();
  const session = folder.session();
  const files = [await session.create(), await session.create()];
  for (const file of files) await file.append(new Uint8Array(100));
  expect([folder.bytes, folder.files, readdirSync(join(home, "tmp"))]).toEqual([200, 2, []]);
  await files[0]?.close();
  await files[0]?.close();
  expect([folder.bytes, folder.files]).toEqual([100, 1]);
  await session.close();
  expect([folder.bytes, folder.files, folder.totalBytes]).toEqual([0, 0, 200]);
});

test("all queries together stay below the limit", async () => {
  const folder = await opened();
  const [a, b] = [folder.session(), folder.session()];
  await (await a.create()).append(new Uint8Array(900));
  const file = await b.create();
  await file.append(new Uint8Array(100));
  await rejects(file.append(new Uint8Array(1)), /spilled the 1000 bytes that query.spill_limit allows/);
  await a.close();
  await file.append(new Uint8Array(900));
  await b.close();
  expect(folder.bytes).toBe(0);
});

test("a disk that is nearly full is left alone, and taken again when it has room", async () => {
  let free = 1000;
  const folder = await opened({ freeBytesMin: 900, freeBytesOf: async () => free });
  const session = folder.session();
  const file = await session.create();
  await rejects(file.append(new Uint8Array(101)), /has 1000 bytes left, of which 900 stay free/);
  expect(folder.bytes).toBe(0);
  free = 2000;
  await file.append(new Uint8Array(101));
  await session.close();
});

test("a disk that cannot be looked at refuses the bytes, and counts none of them", async () => {
  const freeBytesOf = async (): Promise<number> => Promise.reject(new Error("EIO"));
  const folder = await opened({ freeBytesOf });
  const session = folder.session();
  const file = await session.create();
  await rejects(file.append(new Uint8Array(10)), /cannot look at the disk of .*EIO/);
  await session.close();
  expect([folder.bytes, folder.files]).toEqual([0, 0]);
});

test("a write that the system refuses is an error of that query alone", async () => {
  const folder = await opened();
  const [a, b] = [folder.session(), folder.session()];
  const file = await a.create();
  await file.append(new Uint8Array(10));
  const bad = await b.create();
  const probe = await open(join(home, "probe"), "w");
  const prototype: { write: unknown } = Object.getPrototypeOf(probe);
  const { write } = prototype;
  await probe.close();
  prototype.write = () => Promise.reject(Object.assign(new Error("no space left on device"), { code: "ENOSPC" }));
  try {
    await rejects(bad.append(new Uint8Array(20)), /cannot write a spill file: no space left on device; .* query.spill_dir/);
  } finally {
    prototype.write = write;
  }
  await b.close();
  expect([folder.bytes, folder.files]).toEqual([10, 1]);
  await file.append(new Uint8Array(10));
  await a.close();
  expect([folder.bytes, folder.files, readdirSync(join(home, "tmp"))]).toEqual([0, 0, []]);
});

test("too many files are refused, and none of a session is forgotten", async () => {
  const folder = await opened();
  const session = folder.session();
  for (let i = 0; i < SPILL_FILES_MAX; i++) await session.create();
  await rejects(session.create(), /256 spill files are open already/);
  await session.close();
  expect(folder.files).toBe(0);
});

test("removes what a killed process left, and nothing else", async () => {
  await opened();
  const left = join(home, "tmp", `spill-${crypto.randomUUID()}.tmp`);
  writeFileSync(left, "x");
  writeFileSync(join(home, "tmp", "spill-notes.tmp"), "mine");
  await opened();
  expect(readdirSync(join(home, "tmp"))).toEqual(["spill-notes.tmp"]);
  expect(readFileSync(join(home, "tmp", "spill-notes.tmp"), "utf8")).toBe("mine");
});

test("a folder that cannot be made is an error that names its setting", async () => {
  writeFileSync(join(home, "file"), "");
  await rejects(opened({ folder: join(home, "file", "tmp") }), /query.spill_dir/);
});

test("a file of a query that has ended takes nothing", async () => {
  const folder = await opened();
  const session = folder.session();
  const file = await session.create();
  await session.close();
  await rejects(file.append(Uint8Array.of(1)), /its query has ended/);
  expect(folder.bytes).toBe(0);
});
