import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "../../../bench/macro/random.ts";
import { put, read } from "../../../test/engine/lines.ts";
import { openLocalEngine } from "../../../test/engine/local-engine.ts";
import { regionsOf } from "../../../test/engine/regions.ts";
import { diskFolder } from "../../../test/support/disk-folder.ts";
import { FakeS3 } from "../../../test/support/fake-s3.ts";
import { testIo } from "../../../test/support/tool-io.ts";
import type { Engine } from "../../engine/engine.ts";
import { findBackups, inPieces, type ServerManifest } from "./manifest.ts";
import { targetOf } from "./open-target.ts";
import { pickBackup, restoreBackup, verifyBackup, type WantedBackup } from "./restore-backup.ts";
import type { BackupServer } from "./server-client.ts";
import type { TakenBackup } from "./new-backup.ts";
import { takeBackup } from "./take-backup.ts";
import type { BackupTarget } from "./target.ts";

const SMALL = { sync: "never", segmentBytes: 4096 } as const;

const folders: string[] = [];
const engines: Engine[] = [];
const stores: FakeS3[] = [];
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  for (const store of stores.splice(0)) await store.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const made = await mkdtemp(join(diskFolder(), "varve-backup-"));
  folders.push(made);
  return made;
}

async function open(home: string): Promise<Engine> {
  const backup = { dataFolder: join(home, "data"), logFolder: join(home, "wal"), copyFolder: join(home, "backup") };
  const { engine } = await openLocalEngine(home, SMALL, { backup });
  engines.push(engine);
  return engine;
}

/** A store with files of two tables, and rows that only the log has. */
async function someStore(): Promise<{ readonly home: string; readonly engine: Engine }> {
  const home = await newFolder();
  const engine = await open(home);
  for (let i = 0; i < 3; i++) {
    await put(engine, `cpu,host=a v=${i}i ${i}\nmem,host=b v=${i}i ${i}`);
    await engine.flushTable("public", "cpu");
  }
  await engine.flushTable("public", "mem");
  for (let i = 10; i < 60; i++) await put(engine, `cpu,host=a,region=r${i} v=${i}i,text="a text that fills segments: ${i}" ${i}`);
  return { home, engine };
}

function serverOf({ backups }: Engine): BackupServer {
  return {
    begin: () => backups.begin(),
    renew: async (id) => backups.renew(id),
    releaseLog: (id) => backups.releaseLog(id),
    end: (id) => backups.end(id),
  };
}

async function everything(engine: Engine): Promise<unknown> {
  return [await read(engine, "cpu"), await read(engine, "mem")];
}

async function backUp(engine: Engine, target: BackupTarget): Promise<TakenBackup> {
  return await takeBackup(target, serverOf(engine), testIo());
}

async function restored(target: BackupTarget, wanted: WantedBackup = {}): Promise<unknown> {
  const home = join(await newFolder(), "home");
  await restoreBackup(target, await serverBackup(target, wanted), { home, logFolder: join(home, "wal") }, testIo());
  const engine = await open(home);
  return await everything(engine);
}

function s3Target(): { readonly target: BackupTarget; readonly store: FakeS3 } {
  const store = new FakeS3();
  stores.push(store);
  const env = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "hush", AWS_REGION: "r", AWS_ENDPOINT_URL: store.endpoint };
  return { target: targetOf("s3://bucket/some/prefix", env), store };
}

async function serverBackup(target: BackupTarget, wanted: WantedBackup = {}): Promise<ServerManifest> {
  const picked = await pickBackup(target, wanted);
  if (picked.kind === "server") return picked;
  throw new Error("it is of a cluster");
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe.each(["a folder", "S3"])("in %s", (where) => {
  const newTarget = async (): Promise<BackupTarget> => (where === "S3" ? s3Target().target : targetOf(join(await newFolder(), "b"), {}));

  test("a backup has the rows of its moment, in files and in the log", async () => {
    const { engine } = await someStore();
    const target = await newTarget();
    const first = await everything(engine);
    await backUp(engine, target);
    await put(engine, "cpu,host=a v=99i 99");
    await engine.flushTable("public", "cpu");
    const second = await everything(engine);
    const { manifest } = await backUp(engine, target);
    expect(await restored(target)).toEqual(second);
    const [earlier] = await findBackups(target);
    expect(await restored(target, { id: earlier!.id })).toEqual(first);
    expect(await restored(target, { at: manifest.moment - 1 })).toEqual(first);
    expect(await messageOf(restored(target, { at: 0 }))).toContain("there is no backup of 1970-01-01T00:00:00.000Z or before");
  });

  test("a second backup copies new files, the meta store and the log", async () => {
    const { engine } = await someStore();
    const target = await newTarget();
    const { manifest: first } = await backUp(engine, target);
    const { manifest, copiedFiles } = await backUp(engine, target);
    expect(manifest.files.map(({ path }) => path)).toEqual(first.files.map(({ path }) => path));
    const copied = manifest.files.filter(({ object }) => object.startsWith(manifest.id));
    expect(copied).toHaveLength(copiedFiles);
    expect(copied.filter(({ path }) => path.startsWith("data/"))).toEqual([]);
  });
});

test("a backup of a restored store that went another way takes nothing for known that is not", async () => {
  const { engine } = await someStore();
  const target = targetOf(await newFolder(), {});
  await backUp(engine, target);
  const home = join(await newFolder(), "home");
  await restoreBackup(target, await serverBackup(target), { home, logFolder: join(home, "wal") }, testIo());
  const other = await open(home);
  for (const [one, value] of [
    [engine, 1],
    [other, 2],
  ] as const) {
    await put(one, `cpu,host=z v=${value}i 1000`);
    await one.flushTable("public", "cpu"); // Both make a file of the same name.
    const want = await everything(one);
    await backUp(one, target);
    expect(await restored(target)).toEqual(want);
  }
});

test("files and log that a backup needs stay until it ends, whatever is deleted meanwhile", async () => {
  const { home, engine } = await someStore();
  const want = await everything(engine);
  const target = targetOf(await newFolder(), {});
  const server = serverOf(engine);
  const deletes = async (): Promise<void> => {
    await engine.flushTable("public", "cpu");
    await engine.compactTable("public", "cpu");
    await engine.dropTable("public", "mem", false);
  };
  await takeBackup(
    target,
    {
      ...server,
      begin: async () => {
        const begun = await server.begin();
        await deletes();
        return begun;
      },
    },
    testIo(),
  );
  expect(await restored(target)).toEqual(want);
  expect(readdirSync(join(home, "backup"))).toEqual([]);
  expect(readdirSync(join(home, "data/tables"))).toHaveLength(regionsOf(engine).length); // The files of `mem` are gone with it.
  expect(readdirSync(join(home, "wal")).filter((name) => name.endsWith(".log"))).toEqual([]);
});

test("a backup that nobody knows is refused, and four at once are the most", async () => {
  const { engine } = await someStore();
  const { backups } = engine;
  for (const work of [() => backups.end("x"), () => backups.releaseLog("x"), async () => backups.renew("x")]) {
    expect(await messageOf(work())).toContain("no backup x is under way");
  }
  const begun = await Promise.all(Array.from({ length: 4 }, () => backups.begin()));
  expect(await messageOf(backups.begin())).toContain("4 backups are under way");
  for (const { id } of begun) await backups.end(id);
});

/** Object names of a target in a folder. */
function objectsOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );
}

test("a backup with a bit that flipped is refused before anything is written, whichever bit it is", async () => {
  const SEED = 20_261;
  const { engine } = await someStore();
  const folder = await newFolder();
  const target = targetOf(folder, {});
  const { manifest } = await backUp(engine, target);
  const random = seededRandom(SEED);
  const paths = objectsOf(folder);
  for (let i = 0; i < 150; i++) {
    const path = paths[i % paths.length]!;
    const whole = readFileSync(path);
    const bit = random.below(whole.length * 8);
    const bytes = Buffer.from(whole);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(path, bytes);
    const home = join(folder, "..", "never-made");
    const work = async (): Promise<void> => {
      await restoreBackup(target, await serverBackup(target), { home, logFolder: join(home, "wal") }, testIo());
    };
    const message = await messageOf(work());
    expect([path, bit, message]).toEqual([path, bit, expect.stringMatching(/is damaged|cannot be restored/)]);
    expect(existsSync(home)).toBe(false);
    writeFileSync(path, whole);
  }
  await verifyBackup(target, manifest, testIo());
});

test("a backup that lacks an object, or has a shorter one, or no manifest, is refused; the one before it is not", async () => {
  const { engine } = await someStore();
  const folder = await newFolder();
  const target = targetOf(folder, {});
  const first = await everything(engine);
  const { manifest: earlier } = await backUp(engine, target);
  const { manifest } = await backUp(engine, target);
  const own = manifest.files.find(({ object }) => object.startsWith(manifest.id))!;
  const path = join(folder, own.object);
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, -1));
  expect(await messageOf(restored(target))).toContain(`has ${whole.length - 1} bytes of ${whole.length}`);
  rmSync(path);
  expect(await messageOf(restored(target))).toContain("is missing");
  rmSync(join(folder, manifest.id, "manifest.json"));
  expect((await findBackups(target)).map(({ kind }) => kind)).toEqual(["whole", "unfinished"]);
  expect(await messageOf(restored(target, { id: manifest.id }))).toContain("it was not finished");
  expect(await restored(target, { id: earlier.id })).toEqual(first);
});

test("an interrupted backup leaves earlier ones as they are, and nothing of its own", async () => {
  const { engine } = await someStore();
  const folder = await newFolder();
  const target = targetOf(folder, {});
  await backUp(engine, target);
  await put(engine, "cpu,host=a v=99i 99");
  await engine.flushTable("public", "cpu");
  const before = objectsOf(folder);
  for (let piece = 1; ; piece++) {
    const io = testIo();
    let left = piece;
    const counting: BackupTarget = {
      ...target,
      write: (name, pieces) => {
        if (--left === 0) io.interrupt();
        return target.write(name, pieces);
      },
    };
    const message = await messageOf(takeBackup(counting, serverOf(engine), io));
    if (message === "") break; // It ended before it was interrupted.
    expect(message).toContain("interrupted");
    expect(objectsOf(folder)).toEqual(before);
  }
  expect(objectsOf(folder).length).toBeGreaterThan(before.length);
});

test("a data file that is damaged is not backed up", async () => {
  const { home, engine } = await someStore();
  const [path] = objectsOf(join(home, "data"));
  const bytes = readFileSync(path!);
  bytes[50]! ^= 1;
  writeFileSync(path!, bytes);
  const folder = await newFolder();
  expect(await messageOf(backUp(engine, targetOf(folder, {})))).toContain("does not match the checksum of its entry");
  expect(objectsOf(folder)).toEqual([]);
});

test("a log record that was acknowledged and is damaged is not left out in silence", async () => {
  const { home, engine } = await someStore();
  const newest = readdirSync(join(home, "wal"))
    .filter((name) => name.endsWith(".log"))
    .sort()
    .at(-1)!;
  const path = join(home, "wal", newest);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  expect(await messageOf(backUp(engine, targetOf(await newFolder(), {})))).toContain("damaged bytes");
});

test("a directory that is not empty is left alone", async () => {
  const { home, engine } = await someStore();
  const target = targetOf(await newFolder(), {});
  await backUp(engine, target);
  const { size } = statSync(join(home, "meta.db"));
  const place = { home, logFolder: join(home, "wal") };
  expect(await messageOf(restoreBackup(target, await serverBackup(target), place, testIo()))).toContain("it is not empty");
  expect(statSync(join(home, "meta.db")).size).toBe(size);
});

test("an object of several parts comes back from S3 as it was", async () => {
  const { target, store } = s3Target();
  const bytes = new Uint8Array(17 * 1024 * 1024);
  for (let i = 0; i < bytes.length; i += 4096) bytes[i] = i / 4096;
  await target.write("a/large", inPieces(bytes));
  const pieces: Uint8Array[] = [];
  for await (const piece of target.read("a/large")) pieces.push(piece.slice());
  expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  expect(await target.list()).toEqual([{ name: "a/large", byteLength: bytes.length }]);
  store.failPart = 2;
  expect(await messageOf(target.write("a/other", inPieces(bytes)))).toContain("cannot write some/prefix/a/other in s3://bucket");
  expect(await target.list()).toHaveLength(1);
}, 30_000);

test("a target in the store itself is refused", async () => {
  const { home, engine } = await someStore();
  for (const inside of [home, join(home, "backups"), join(home, "wal/x")]) {
    expect(await messageOf(backUp(engine, targetOf(inside, {})))).toContain("which is the store's own");
  }
  expect(existsSync(join(home, "backups"))).toBe(false);
});

test("errors of a store name the object and no credential", async () => {
  const store = new FakeS3();
  stores.push(store);
  const env = { AWS_ACCESS_KEY_ID: "other-id", AWS_SECRET_ACCESS_KEY: "hush-hush", AWS_REGION: "r", AWS_ENDPOINT_URL: store.endpoint };
  const message = await messageOf(findBackups(targetOf("s3://bucket/p", env)));
  expect(message).toContain("AccessDenied");
  expect(message).not.toContain("hush-hush");
  expect(() => targetOf("s3://bucket/p", {})).toThrow("AWS_ACCESS_KEY_ID");
  expect(() => targetOf("gs://bucket/p", env)).toThrow("want a folder or s3://");
});
