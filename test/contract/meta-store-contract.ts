/**
 * What every meta store must do, whatever it is made of.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "bun:test";
import { entriesOfCopy } from "../../src/storage/meta-store/sqlite-layout.ts";
import { errorOf } from "../support/failure-of.ts";
import { openSqliteMetaStore } from "../../src/storage/meta-store/sqlite-meta-store.ts";
import type { MetaStore, MetaValue } from "../../src/storage/meta-store/meta-store.ts";

/** One empty store. */
export interface MetaStoreFixture {
  readonly store: MetaStore;
  /** Ends the store without a word, as a crash does, and opens it anew. */
  readonly reopen: () => MetaStore | Promise<MetaStore>;
  dispose(): void;
}

/** Runs the contract. `skips` names tests that cannot hold for an implementation, each with the reason. */
export function metaStoreContract(
  name: string,
  make: () => MetaStoreFixture | Promise<MetaStoreFixture>,
  skips: Readonly<Record<string, string>> = {},
): void {
  const fixtures: MetaStoreFixture[] = [];
  const open = async (): Promise<MetaStoreFixture> => {
    const fixture = await make();
    fixtures.push(fixture);
    return fixture;
  };
  const it = (title: string, body: () => Promise<void> | void): void => {
    const reason = skips[title];
    if (reason === undefined) test(title, body);
    else test.skip(`${title} (${reason})`, body);
  };
  describe(`${name} as a meta store`, () => {
    afterEach(() => {
      for (const fixture of fixtures.splice(0)) fixture.dispose();
    });
    valuesComeBack(it, open);
    keysAreOrdered(it, open);
    commitsAreWhole(it, open);
    copiesAreOfTheirMoment(it, open);
  });
}

type It = (title: string, body: () => Promise<void> | void) => void;
type Open = () => Promise<MetaStoreFixture>;

async function put(store: MetaStore, entries: Readonly<Record<string, MetaValue | undefined>>): Promise<void> {
  await store.commit(Object.entries(entries).map(([key, value]) => ({ key, value })));
}

function keysOf(store: MetaStore, prefix: string): string[] {
  return store.list(prefix).map(({ key }) => key);
}

function valuesComeBack(it: It, open: Open): void {
  const values: readonly MetaValue[] = [
    null,
    true,
    0,
    -1.5,
    Number.MAX_SAFE_INTEGER,
    "",
    "é \u{1f600} \0 end",
    [],
    [1, [2, "3", null]],
    {},
    { a: { b: [true] }, "": 1, __proto__: null },
  ];
  it("gives every kind of value back, also after it is opened anew", async () => {
    const { store, reopen } = await open();
    for (const [i, value] of values.entries()) await put(store, { [`k/${i}`]: value });
    values.forEach((value, i) => expect(store.get(`k/${i}`)).toEqual(value));
    const again = await reopen();
    values.forEach((value, i) => expect(again.get(`k/${i}`)).toEqual(value));
  });

  it("knows nothing of a key that was never set, and tells null from it", async () => {
    const { store } = await open();
    await put(store, { a: null });
    expect([store.get("a"), store.get("b"), store.get("")]).toEqual([null, undefined, undefined]);
  });

  it("replaces and deletes", async () => {
    const { store, reopen } = await open();
    await put(store, { a: 1, b: 2 });
    await put(store, { a: 3, b: undefined, c: undefined });
    expect([store.get("a"), store.get("b")]).toEqual([3, undefined]);
    expect(keysOf(await reopen(), "")).toEqual(["a"]);
  });

  it("keeps its own copy of a value", async () => {
    const { store } = await open();
    const value = { list: [1, 2] };
    await put(store, { a: value });
    value.list.push(3);
    expect(store.get("a")).toEqual({ list: [1, 2] });
    const read = store.get("a") as { list: number[] };
    read.list.push(4);
    expect(store.get("a")).toEqual({ list: [1, 2] });
  });
}

function keysAreOrdered(it: It, open: Open): void {
  it("lists what begins with a prefix, and nothing else", async () => {
    const { store } = await open();
    const keys = ["a", "a/", "a/1", "a/10", "a/2", "a0", "b", "A/1", "a/\u{ffff}", "a/\u{10ffff}", "a/\u{10ffff}\u{10ffff}x"];
    for (const key of keys) await put(store, { [key]: key });
    expect(keysOf(store, "a/")).toEqual(["a/", "a/1", "a/10", "a/2", "a/\u{ffff}", "a/\u{10ffff}", "a/\u{10ffff}\u{10ffff}x"]);
    expect(keysOf(store, "a/1")).toEqual(["a/1", "a/10"]);
    expect(keysOf(store, "c")).toEqual([]);
    expect(keysOf(store, "")).toHaveLength(keys.length);
    expect(store.list("b")).toEqual([{ key: "b", value: "b" }]);
  });

  it("orders keys by their UTF-8 bytes, where UTF-16 would differ", async () => {
    const { store } = await open();
    const keys = ["\u{10000}", "\u{ff5e}", "\u{e000}", "z", "é", "\u{d7ff}"];
    for (const key of keys) await put(store, { [key]: 1 });
    const encoder = new TextEncoder();
    const want = [...keys].sort((a, b) => Buffer.compare(encoder.encode(a), encoder.encode(b)));
    expect(keysOf(store, "")).toEqual(want);
  });

  it("takes wildcards of other languages as they are", async () => {
    const { store } = await open();
    await put(store, { "a%b": 1, axb: 2, a_b: 3, "a*b": 4, "a'b": 5 });
    expect(keysOf(store, "a%")).toEqual(["a%b"]);
    expect(keysOf(store, "a_")).toEqual(["a_b"]);
    expect(keysOf(store, "a'")).toEqual(["a'b"]);
  });
}

function commitsAreWhole(it: It, open: Open): void {
  it("applies the changes of a commit in order", async () => {
    const { store } = await open();
    await store.commit([
      { key: "a", value: 1 },
      { key: "a", value: undefined },
      { key: "b", value: 1 },
      { key: "b", value: 2 },
    ]);
    expect([store.get("a"), store.get("b")]).toEqual([undefined, 2]);
  });

  it("applies all changes of a commit or none", async () => {
    const { store, reopen } = await open();
    await put(store, { a: 1 });
    const loop: { self?: MetaValue } = {};
    loop.self = loop as MetaValue;
    expect(await errorOf(put(store, { a: 2, b: 2, c: loop as MetaValue }))).toBeInstanceOf(Error);
    expect([store.get("a"), store.get("b")]).toEqual([1, undefined]);
    expect(keysOf(await reopen(), "")).toEqual(["a"]);
  });

  it("takes a commit of nothing, and one of thousands", async () => {
    const { store, reopen } = await open();
    await store.commit([]);
    await store.commit(Array.from({ length: 5000 }, (_, i) => ({ key: `n/${String(i).padStart(5, "0")}`, value: i })));
    await store.settled();
    const entries = (await reopen()).list("n/");
    expect(entries).toHaveLength(5000);
    expect(entries.every(({ value }, i) => value === i)).toBe(true);
  });
}

function copiesAreOfTheirMoment(it: It, open: Open): void {
  it("a copy has the entries of the moment at which it was asked for, and opens as a store", async () => {
    const folder = await mkdtemp(join(tmpdir(), "varve-meta-copy-"));
    try {
      const { store } = await open();
      await store.commit([
        { key: "a", value: 1 },
        { key: "b", value: { c: [true, null, "x"] } },
      ]);
      const path = join(folder, "copy.db");
      const copied = store.copyTo(path);
      await store.commit([
        { key: "a", value: 2 },
        { key: "b", value: undefined },
      ]);
      store.secure();
      await copied;
      expect(entriesOfCopy(readFileSync(path), "a").map(({ value }) => value)).toEqual(["1"]);
      const copy = openSqliteMetaStore(path);
      expect([copy.get("a"), copy.get("b")]).toEqual([1, { c: [true, null, "x"] }]);
      copy.close();
      expect(store.get("a")).toBe(2);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}
