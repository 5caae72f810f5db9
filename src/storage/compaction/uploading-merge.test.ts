/** Flushes and merges whose files go to a store. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeS3 } from "../../../test/support/fake-s3.ts";
import { errorOf } from "../../../test/support/failure-of.ts";
import { type CachedFileStore, cachedFileStore } from "../file-store/cached/cached-file-store.ts";
import { s3FileStore } from "../file-store/s3/s3-file-store.ts";
import type { DataFile } from "../sst/data-file.ts";
import type { FlushJob } from "../sst/write/flush.ts";
import { uploadingFlushExecutor } from "../sst/write/uploading-flush.ts";
import type { MergeJob } from "./merge.ts";
import { uploadingMergeExecutor } from "./uploading-merge.ts";

const root = mkdtempSync(join(tmpdir(), "varve-uploading-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FILE_BYTES = 1000;
let fake: FakeS3;
let folder: string;
let store: CachedFileStore;
let opened = 0;

beforeEach(() => {
  fake = new FakeS3();
  folder = join(root, `cache-${opened++}`);
  const keys = { accessKeyId: "key", secretAccessKey: "hush", sessionToken: undefined, region: "r" };
  const place = { bucket: "bucket", root: "", endpoint: new URL(fake.endpoint), isVirtualHost: false, keys };
  const remote = s3FileStore(place, join(root, "scratch"), { answerMillis: 2_000, retryMillis: 1 });
  store = cachedFileStore({ remote, folder, bytesMax: 8 * FILE_BYTES, onTrouble: (text) => expect.unreachable(text) });
});
afterEach(() => fake.close());

const bytesOf = (seed: number): Uint8Array => Uint8Array.from({ length: FILE_BYTES }, (_, i) => (i * 7 + seed * 31) & 255);
const nameOf = (i: number): string => `t/${i}.parquet`;

async function put(i: number): Promise<void> {
  const writer = await store.create(nameOf(i));
  writer.write(bytesOf(i));
  await writer.finish();
}

async function get(from: CachedFileStore, i: number): Promise<void> {
  const reader = await from.open(nameOf(i));
  await reader.read(0, reader.byteLength);
  reader.close();
}

/** Numbers of files that have copies, once those that were evicted are gone. */
async function settled(): Promise<number[]> {
  await Bun.sleep(20);
  return (existsSync(join(folder, "t")) ? readdirSync(join(folder, "t")) : [])
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}

describe("executors over a cache", () => {
  const data = (i: number): DataFile => ({ name: nameOf(i), byteLength: FILE_BYTES }) as DataFile;
  const make = async (i: number): Promise<DataFile> => {
    mkdirSync(join(folder, "t"), { recursive: true });
    writeFileSync(join(folder, nameOf(i)), bytesOf(i));
    return data(i);
  };
  const close = async (): Promise<void> => undefined;

  test("upload what a flush made, or delete all of it", async () => {
    const flusher = uploadingFlushExecutor({ flush: async () => [await make(0), await make(1)], close }, store);
    await flusher.flush({} as FlushJob);
    expect([...(await store.list("t"))].sort()).toEqual([nameOf(0), nameOf(1)]);
    const other = uploadingFlushExecutor({ flush: async () => [await make(2), await make(3)], close }, store);
    fake.fault = ({ method, key }) =>
      method === "PUT" && key.includes("3") ? { kind: "refuse", status: 500, code: "InternalError" } : undefined;
    expect((await errorOf(other.flush({} as FlushJob))).message).toContain("500 InternalError");
    expect([await settled(), fake.objects.size]).toEqual([[0, 1], 2]);
  });

  test("fetch what a merge reads, and keep it while it runs", async () => {
    for (let i = 0; i < 12; i++) await put(i);
    let seen: number[] = [];
    const merge = async (): Promise<DataFile> => {
      for (let i = 8; i < 12; i++) await get(store, i);
      seen = await settled();
      return make(12);
    };
    const merger = uploadingMergeExecutor({ merge, close }, store);
    await merger.merge({ inputs: [0, 1, 2, 3].map(data) } as unknown as MergeJob);
    expect(seen).toEqual([0, 1, 2, 3, 8, 9, 10, 11]);
    expect(await store.sizeOf(nameOf(12))).toBe(FILE_BYTES);
    const all = { inputs: Array.from({ length: 9 }, (_, i) => data(i)) } as unknown as MergeJob;
    expect((await errorOf(merger.merge(all))).message).toContain("raise storage.cache_capacity");
  });
});
