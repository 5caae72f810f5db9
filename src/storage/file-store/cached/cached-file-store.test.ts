import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../../../bench/macro/random.ts";
import { fileStoreContract } from "../../../../test/contract/file-store-contract.ts";
import { FakeS3 } from "../../../../test/support/fake-s3.ts";
import { errorOf } from "../../../../test/support/failure-of.ts";
import type { FileReader, FileStore, NamedFile } from "../file-store.ts";
import type { RemoteFileStore } from "../remote-file-store.ts";
import { s3FileStore } from "../s3/s3-file-store.ts";
import { type CachedFileStore, cachedFileStore } from "./cached-file-store.ts";

function remoteOf(fake: FakeS3, scratch: string): RemoteFileStore {
  const keys = { accessKeyId: "key", secretAccessKey: "hush", sessionToken: undefined, region: "r" };
  const place = { bucket: "bucket", root: "root", endpoint: new URL(fake.endpoint), isVirtualHost: false, keys };
  return s3FileStore(place, scratch, { answerMillis: 2_000, retryMillis: 1 });
}

fileStoreContract(
  "cachedFileStore over s3FileStore",
  async () => {
    const fake = new FakeS3();
    const root = await mkdtemp(join(tmpdir(), "varve-cached-"));
    const open = (folder: string): CachedFileStore => {
      const parts = { remote: remoteOf(fake, join(root, "scratch")), folder: join(root, folder), bytesMax: 64 * 1024 * 1024 };
      return cachedFileStore({ ...parts, onTrouble: (text) => expect.unreachable(text) });
    };
    return {
      store: open("a"),
      reopen: () => open("b"), // After a restart on another machine.
      async dispose() {
        await fake.close();
        await rm(root, { recursive: true, force: true });
      },
    };
  },
  { "replaces a file only when the new one is finished; who reads the old one goes on": "names are used once, as in the store below" },
);

const root = mkdtempSync(join(tmpdir(), "varve-cached-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FILE_BYTES = 1000;
/** Room for eight files; one may have a quarter of it. */
const CACHE_BYTES = 8 * FILE_BYTES;

let fake: FakeS3;
let folder: string;
let store: CachedFileStore;
let troubles: string[];
let opened = 0;

function open(bytesMax = CACHE_BYTES, waitedBytesMax = bytesMax): CachedFileStore {
  return cachedFileStore({
    waitedBytesMax,
    remote: remoteOf(fake, join(root, "scratch")),
    folder,
    bytesMax,
    onTrouble: (text) => troubles.push(text),
  });
}

beforeEach(() => {
  fake = new FakeS3();
  fake.pageKeys = 1000;
  folder = join(root, `cache-${opened++}`);
  troubles = [];
  store = open();
});
afterEach(async () => {
  await fake.close();
  expect(troubles).toEqual([]);
});

const bytesOf = (seed: number, length = FILE_BYTES): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + seed * 31) & 255);
const fileOf = (i: number, byteLength = FILE_BYTES): NamedFile => ({ name: nameOf(i), byteLength });
const nameOf = (i: number): string => `t/${i}.parquet`;
const gets = (): number => store.counts.fetches;

async function put(i: number, length = FILE_BYTES): Promise<void> {
  const writer = await store.create(nameOf(i));
  writer.write(bytesOf(i, length));
  await writer.finish();
}

async function get(from: FileStore, i: number): Promise<Uint8Array> {
  const reader = await from.open(nameOf(i));
  try {
    return await reader.read(0, reader.byteLength);
  } finally {
    reader.close();
  }
}

/** Numbers of files that have copies. */
const copies = (): number[] =>
  (existsSync(join(folder, "t")) ? readdirSync(join(folder, "t")) : []).map((name) => Number.parseInt(name, 10)).sort((a, b) => a - b);

/** Files that were evicted go a moment later. */
async function settled(): Promise<number[]> {
  for (let last = -1; copies().length !== last; await Bun.sleep(5)) last = copies().length;
  return copies();
}

describe("copies", () => {
  test("of new files are here, and those used longest ago go when there are too many", async () => {
    for (let i = 0; i < 8; i++) await put(i);
    expect(await get(store, 0)).toEqual(bytesOf(0));
    expect(gets()).toBe(0);
    await put(8);
    await put(9);
    expect(await settled()).toEqual([0, 3, 4, 5, 6, 7, 8, 9]);
    expect(await get(store, 1)).toEqual(bytesOf(1));
    expect([gets(), store.counts.bytes]).toEqual([1, CACHE_BYTES]);
    expect(await settled()).toEqual([0, 1, 4, 5, 6, 7, 8, 9]);
  });

  test("are fetched once for many who ask at once", async () => {
    await put(0);
    store = open(); // Knows nothing.
    rmSync(folder, { recursive: true });
    const read = await Promise.all(Array.from({ length: 20 }, () => get(store, 0)));
    for (const bytes of read) expect(bytes).toEqual(bytesOf(0));
    expect(gets()).toBe(1);
  });

  test("that went while a file is open come back when it is read", async () => {
    await put(0);
    const reader = await store.open(nameOf(0));
    for (let i = 1; i < 10; i++) await put(i);
    expect(await settled()).not.toContain(0);
    expect(await reader.read(10, 20)).toEqual(bytesOf(0).slice(10, 30));
    expect(gets()).toBe(1);
    reader.close();
  });

  test("in a folder that somebody empties are fetched again, also for readers and those who hold them", async () => {
    for (let i = 0; i < 4; i++) await put(i);
    const readers: FileReader[] = [];
    for (let i = 0; i < 4; i++) readers.push(await store.open(nameOf(i)));
    await readers[0]?.read(0, 1);
    rmSync(folder, { recursive: true });
    for (const [i, reader] of readers.entries()) expect(await reader.read(0, FILE_BYTES)).toEqual(bytesOf(i));
    const held = await store.hold([0, 1, 2, 3].map((i) => fileOf(i)));
    expect(await settled()).toEqual([0, 1, 2, 3]);
    held?.release();
    for (const reader of readers) reader.close();
  });

  test("are made neither of a file that is too large for the cache nor where the folder takes none", async () => {
    await put(0, CACHE_BYTES / 4 + 1);
    store = open();
    await store.list("none");
    rmSync(folder, { recursive: true });
    const reader = await store.open(nameOf(0));
    expect(await reader.read(5, 10)).toEqual(bytesOf(0, 100).slice(5, 15));
    expect([store.counts.fetches, store.counts.passedBy, await settled()]).toEqual([0, 1, []]);
    await put(1);
    store = open();
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "no folder");
    expect(await get(store, 1)).toEqual(bytesOf(1));
    expect(troubles.splice(0).join()).toContain("the cache takes no file, which is read from the store instead");
    rmSync(folder);
  });
});

test("a long file is read by ranges until its copy is there; whoever holds it waits", async () => {
  for (const i of [0, 1]) await put(i, 1900);
  rmSync(folder, { recursive: true });
  store = open(CACHE_BYTES, 1500);
  const reader = await store.open(nameOf(0));
  expect([store.counts.passedBy, copies()]).toEqual([1, []]);
  expect(await reader.read(100, 50)).toEqual(bytesOf(0, 1900).slice(100, 150));
  for (let tried = 0; tried < 200 && gets() === 0; tried++) await Bun.sleep(10);
  expect([gets(), copies()]).toEqual([1, [0]]);
  const before = fake.requests.length;
  expect(await reader.read(200, 50)).toEqual(bytesOf(0, 1900).slice(200, 250));
  expect(fake.requests.length).toBe(before);
  reader.close();
  const [held] = await Promise.all([store.hold([fileOf(1, 1900)]), store.open(nameOf(1)).then((other) => other.close())]);
  expect([gets(), copies()]).toEqual([2, [0, 1]]);
  held?.release();
});

describe("files that are held", () => {
  test("stay where they are, and others pass by when they fill the cache", async () => {
    for (let i = 0; i < 12; i++) await put(i);
    const held = await store.hold(Array.from({ length: 8 }, (_, i) => fileOf(i)));
    expect(await settled()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await get(store, 11)).toEqual(bytesOf(11));
    expect(store.counts.passedBy).toBe(1);
    expect(await store.hold([fileOf(11)])).toBeUndefined();
    expect(await settled()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const fetches = gets();
    expect(await store.hold(Array.from({ length: 9 }, (_, i) => fileOf(i)))).toBeUndefined();
    expect(gets()).toBe(fetches);
    held?.release();
    const again = await store.hold([fileOf(11)]);
    expect(await settled()).toContain(11);
    again?.release();
  });

  test("are let go when one of them cannot be had", async () => {
    await put(0);
    expect((await errorOf(store.hold([fileOf(0), fileOf(99)]) as Promise<unknown>)).message).toContain("cannot fetch file t/99.parquet");
    for (let i = 1; i < 10; i++) await put(i);
    expect(await settled()).not.toContain(0);
  });
});

describe("uploads", () => {
  test("that fail leave neither file nor copy", async () => {
    fake.fault = ({ method }) => (method === "PUT" ? { kind: "refuse", status: 403, code: "AccessDenied" } : undefined);
    expect((await errorOf(put(0))).message).toContain("cannot upload file t/0.parquet");
    fake.fault = undefined;
    expect([await settled(), await store.list("t"), store.counts.bytes]).toEqual([[], [], 0]);
  });

  test("of files that are here and not in the store are made up for, and keep them here until then", async () => {
    mkdirSync(join(folder, "t"), { recursive: true });
    for (let i = 0; i < 12; i++) writeFileSync(join(folder, nameOf(i)), bytesOf(i));
    writeFileSync(join(folder, "t", "notes.txt"), "not a data file");
    expect((await store.list("t")).length).toBe(13);
    expect(store.counts.bytes).toBe(12 * FILE_BYTES);
    await store.delete(nameOf(3));
    expect(await store.uploadLeft()).toBe(11);
    expect(await store.uploadLeft()).toBe(0);
    expect(store.counts.bytes).toBe(CACHE_BYTES);
    expect([...fake.objects.keys()].sort()[0]).toBe("bucket/root/t/0.parquet");
    expect([fake.objects.size, fake.objects.has("bucket/root/t/notes.txt")]).toEqual([11, false]);
    for (const i of [0, 5, 11]) expect(await get(store, i)).toEqual(bytesOf(i));
  });

  test("whose file can neither be made nor deleted for sure leave nothing once the store works", async () => {
    fake.fault = ({ method }) =>
      method === "PUT" ? { kind: "lost" } : method === "GET" ? undefined : { kind: "refuse", status: 403, code: "" };
    for (const i of [0, 1]) expect((await errorOf(put(i))).message).toContain(`cannot upload file t/${i}.parquet`);
    expect([fake.objects.size, troubles.length]).toEqual([2, 2]);
    troubles.splice(0);
    fake.fault = undefined;
    await put(2);
    expect([[...fake.objects.keys()], await settled()]).toEqual([["bucket/root/t/2.parquet"], [2]]);
  });

  test("that are under way end before the folder of their files goes, and no other begins", async () => {
    mkdirSync(join(folder, "t"), { recursive: true });
    for (let i = 0; i < 3; i++) writeFileSync(join(folder, nameOf(i)), bytesOf(i));
    await store.list("t");
    fake.fault = ({ method }) => (method === "PUT" ? { kind: "slow", millis: 30 } : undefined);
    const uploading = store.uploadLeft();
    await Bun.sleep(5);
    await store.deleteFolder("t");
    expect(await uploading).toBe(1);
    expect([fake.objects.size, await settled(), store.counts.bytes]).toEqual([0, [], 0]);
  });
});

describe("a restart", () => {
  test("goes on with what is in the folder, fetches what is damaged, and keeps to a smaller bound", async () => {
    for (let i = 0; i < 8; i++) await put(i);
    for (let i = 0; i < 8; i++) utimesSync(join(folder, nameOf(i)), 1000 + i, 1000 + i);
    truncateSync(join(folder, nameOf(6)), 10);
    await store.delete(nameOf(7));
    writeFileSync(join(folder, "t", "5.parquet.tmp"), "half");
    store = open(4 * FILE_BYTES);
    expect([...(await store.list("t"))].sort()).toEqual([0, 1, 2, 3, 4, 5, 6].map(nameOf));
    expect(await settled()).toEqual([2, 3, 4, 5]);
    expect(await store.sizeOf(nameOf(6))).toBe(FILE_BYTES);
    for (const i of [5, 6]) expect(await get(store, i)).toEqual(bytesOf(i));
    expect(gets()).toBe(1);
  });
});

test("whatever is done in whatever order, files are as they were written and the cache keeps to its bound", async () => {
  for (const seed of [1, 2, 3]) {
    const reopened = (): CachedFileStore => open(CACHE_BYTES, seed * FILE_BYTES); // Files have up to 2,666 bytes.
    store = reopened();
    const random = seededRandom(seed);
    const living = new Set<number>();
    let next = seed * 10_000;
    for (let step = 0; step < 150; step++) {
      const some = [...living][random.below(Math.max(1, living.size))];
      const kind = random.below(12);
      if (kind < 3 || some === undefined) {
        living.add(next);
        await put(next++, 1 + random.below(CACHE_BYTES / 3));
      } else if (kind === 3) {
        await store.delete(nameOf(some));
        living.delete(some);
      } else if (kind === 4) rmSync(folder, { recursive: true, force: true });
      else if (kind === 5) {
        store = reopened();
        expect([...(await store.list("t"))].sort()).toEqual([...living].map(nameOf).sort());
      } else if (kind === 6) {
        const held = await store.hold([some, [...living][0] as number].map((i) => fileOf(i, 1)));
        if (held !== undefined) expect(copies()).toContain(some);
        held?.release();
      } else {
        const several = random.sample(4, living.size).map((place) => [...living][place] as number);
        const read = await Promise.all(several.map((i) => get(store, i)));
        for (const [place, bytes] of read.entries()) expect(bytes).toEqual(bytesOf(several[place] as number, bytes.length));
      }
      expect(store.counts.bytes).toBeLessThanOrEqual(CACHE_BYTES);
    }
    for (const i of living) await store.delete(nameOf(i));
  }
  troubles.length = 0; // A folder that goes while a copy is made in it.
});
