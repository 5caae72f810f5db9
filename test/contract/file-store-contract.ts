/**
 * What every file store must do, whatever it is made of.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { type Corruption, corruptionOf, DbError } from "../../src/base/error.ts";
import { StatusCode } from "../../src/base/status-code.ts";
import type { FileStore } from "../../src/storage/file-store/file-store.ts";

/** One empty store. */
export interface FileStoreFixture {
  readonly store: FileStore;
  /** The same files through a store opened anew, as after a restart. */
  readonly reopen: () => FileStore;
  dispose(): Promise<void>;
}

/** Runs the contract. `skips` names tests that cannot hold for an implementation, each with the reason. */
export function fileStoreContract(name: string, make: () => Promise<FileStoreFixture>, skips: Readonly<Record<string, string>> = {}): void {
  const fixtures: FileStoreFixture[] = [];
  const open = async (): Promise<FileStoreFixture> => {
    const fixture = await make();
    fixtures.push(fixture);
    return fixture;
  };
  const it = (title: string, body: () => Promise<void>): void => {
    const reason = skips[title];
    if (reason === undefined) test(title, body);
    else test.skip(`${title} (${reason})`, body);
  };
  describe(`${name} as a file store`, () => {
    afterEach(async () => {
      for (const fixture of fixtures.splice(0)) await fixture.dispose();
    });
    filesComeBack(it, open);
    sizesAreTold(it, open);
    filesGo(it, open);
    refusals(it, open);
  });
}

type It = (title: string, body: () => Promise<void>) => void;
type Open = () => Promise<FileStoreFixture>;

const bytesOf = (length: number, seed = 0): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 7 + seed + (i >> 8)) & 255);

async function put(store: FileStore, name: string, ...parts: readonly Uint8Array[]): Promise<number> {
  const writer = await store.create(name);
  for (const part of parts) writer.write(part);
  return writer.finish();
}

async function get(store: FileStore, name: string): Promise<Uint8Array> {
  const reader = await store.open(name);
  try {
    return await reader.read(0, reader.byteLength);
  } finally {
    reader.close();
  }
}

const gone = (file: string): Corruption => ({ file, offset: undefined, kind: "missing" });

async function refusal(work: () => unknown, text: string, corruption: Corruption): Promise<void> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(DbError);
    const failure = error as DbError;
    expect([failure.code, failure.message]).toEqual([StatusCode.StorageUnavailable, expect.stringContaining(text)]);
    expect(corruptionOf(failure)).toEqual(corruption);
    return;
  }
  throw new Error(`it should have failed with: ${text}`);
}

function filesComeBack(it: It, open: Open): void {
  it("gives back what was written, in one part or many, small and large", async () => {
    const { store, reopen } = await open();
    const cases: readonly (readonly Uint8Array[])[] = [
      [],
      [new Uint8Array(0)],
      [bytesOf(1)],
      [bytesOf(10), new Uint8Array(0), bytesOf(20, 3)],
      [bytesOf(1024 * 1024), bytesOf(1)],
      [bytesOf(5), bytesOf(3 * 1024 * 1024 + 1, 9), bytesOf(5)],
      Array.from({ length: 300 }, (_, i) => bytesOf(5000, i)),
    ];
    for (const [index, parts] of cases.entries()) {
      const want = new Uint8Array(Buffer.concat(parts));
      expect(await put(store, `a/${index}`, ...parts)).toBe(want.length);
      expect(Buffer.compare(await get(reopen(), `a/${index}`), want)).toBe(0);
    }
  });

  it("copies what it is given: the caller's memory is free after each call", async () => {
    const { store } = await open();
    const writer = await store.create("f");
    const scratch = new Uint8Array(4);
    for (const value of [1, 2, 3]) writer.write(scratch.fill(value));
    await writer.finish();
    expect([...(await get(store, "f"))]).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  });

  it("takes memory that threads share", async () => {
    const { store } = await open();
    const shared = new Uint8Array(new SharedArrayBuffer(100)).fill(9);
    await put(store, "f", shared.subarray(10, 30));
    expect([...(await get(store, "f"))]).toEqual(new Array(20).fill(9));
  });

  it("reads any range, the empty one too", async () => {
    const { store } = await open();
    const bytes = bytesOf(5000);
    await put(store, "f", bytes);
    const reader = await store.open("f");
    expect(reader.byteLength).toBe(5000);
    for (const [offset, length] of [
      [0, 0],
      [5000, 0],
      [0, 1],
      [4999, 1],
      [1234, 777],
    ] as const) {
      expect(await reader.read(offset, length)).toEqual(bytes.slice(offset, offset + length));
    }
    reader.close();
  });

  it("has several readers and writers at once", async () => {
    const { store } = await open();
    const writers = await Promise.all(["a", "b", "c"].map((name) => store.create(`t/${name}`)));
    for (let round = 0; round < 10; round++) for (const [index, writer] of writers.entries()) writer.write(bytesOf(10, index + round));
    await Promise.all(writers.map((writer) => writer.finish()));
    const readers = await Promise.all(["a", "b", "c"].map((name) => store.open(`t/${name}`)));
    for (const [index, reader] of readers.entries()) expect(await reader.read(30, 10)).toEqual(bytesOf(10, index + 3));
    for (const reader of readers) reader.close();
  });

  it("shows a file whole or not at all", async () => {
    const { store } = await open();
    const writer = await store.create("t/f");
    writer.write(bytesOf(2 * 1024 * 1024));
    await refusal(() => store.open("t/f"), "cannot open file t/f", gone("t/f"));
    await writer.finish();
    expect(await store.list("t")).toEqual(["t/f"]);
  });

  it("replaces a file only when the new one is finished; who reads the old one goes on", async () => {
    const { store } = await open();
    await put(store, "f", bytesOf(10, 1));
    const reader = await store.open("f");
    const writer = await store.create("f");
    writer.write(bytesOf(20, 2));
    expect(await get(store, "f")).toEqual(bytesOf(10, 1));
    await writer.finish();
    expect(await get(store, "f")).toEqual(bytesOf(20, 2));
    expect(await reader.read(0, 10)).toEqual(bytesOf(10, 1));
    reader.close();
  });
}

function sizesAreTold(it: It, open: Open): void {
  it("says how long files are, and which do not exist", async () => {
    const { store, reopen } = await open();
    await put(store, "a/b/one", bytesOf(12_345));
    await put(store, "a/none", new Uint8Array(0));
    for (const files of [store, reopen()]) {
      expect(await files.sizeOf("a/b/one")).toBe(12_345);
      expect(await files.sizeOf("a/none")).toBe(0);
      expect(await files.sizeOf("a/two")).toBeUndefined();
      expect(await files.sizeOf("c/one")).toBeUndefined();
    }
    const unfinished = await store.create("a/three");
    unfinished.write(bytesOf(10));
    expect(await store.sizeOf("a/three")).toBeUndefined();
    await unfinished.abort();
  });
}

function filesGo(it: It, open: Open): void {
  it("lists a folder at any depth, and nothing beside it", async () => {
    const { store, reopen } = await open();
    for (const name of ["t/1/a", "t/1/b", "t/2/deep/c", "t2/d", "e"]) await put(store, name, bytesOf(3));
    expect([...(await reopen().list("t"))].sort()).toEqual(["t/1/a", "t/1/b", "t/2/deep/c"]);
    expect(await store.list("t2")).toEqual(["t2/d"]);
    expect(await store.list("missing")).toEqual([]);
  });

  it("forgets a file that was given up", async () => {
    const { store } = await open();
    const writer = await store.create("t/f");
    writer.write(bytesOf(100));
    await writer.abort();
    await writer.abort();
    expect(await store.list("t")).toEqual([]);
    expect(await put(store, "t/f", bytesOf(5))).toBe(5);
  });

  it("forgets a file that was not finished when the process died", async () => {
    const { store, reopen } = await open();
    const writer = await store.create("t/unfinished");
    writer.write(bytesOf(2 * 1024 * 1024));
    await put(store, "t/finished", bytesOf(5));
    expect(await reopen().list("t")).toEqual(["t/finished"]);
  });

  it("deletes a file, and one that does not exist", async () => {
    const { store } = await open();
    await put(store, "t/f", bytesOf(5));
    await store.delete("t/f");
    await store.delete("t/f");
    expect(await store.list("t")).toEqual([]);
    await refusal(() => store.open("t/f"), "t/f", gone("t/f"));
  });

  it("lets a reader go on after its file was deleted", async () => {
    const { store } = await open();
    await put(store, "f", bytesOf(50));
    const reader = await store.open("f");
    await store.delete("f");
    expect(await reader.read(0, 50)).toEqual(bytesOf(50));
    reader.close();
  });

  it("deletes a folder with what is in it, and one that does not exist", async () => {
    const { store } = await open();
    for (const name of ["t/1/a", "t/1/b", "t/10/c"]) await put(store, name, bytesOf(3));
    await store.deleteFolder("t/1");
    await store.deleteFolder("t/1");
    expect(await store.list("t")).toEqual(["t/10/c"]);
  });
}

function refusals(it: It, open: Open): void {
  it("names a file that does not exist", async () => {
    const { store } = await open();
    await refusal(() => store.open("t/missing"), "cannot open file t/missing", gone("t/missing"));
  });

  it("refuses to read beyond the end, with the place", async () => {
    const { store } = await open();
    await put(store, "f", bytesOf(10));
    const reader = await store.open("f");
    const end = { file: "f", offset: 10, kind: "length" } as const;
    await refusal(() => reader.read(5, 6), "cannot read 6 bytes at 5 of file f: it ends at byte 10", end);
    await refusal(() => reader.read(10, 1), "it ends at byte 10", end);
    reader.close();
  });
}
