import { expect, test } from "bun:test";
import { seededRandom } from "../../../bench/macro/random.ts";
import { metaStoreContract } from "../../../test/contract/meta-store-contract.ts";
import { type EntryFate, MemoryConditionalLog } from "../../../test/support/memory-conditional-log.ts";
import { failureOf } from "../../../test/support/failure-of.ts";
import { Fenced, type MetaStore } from "./meta-store.ts";
import { copyOwnedMetaStore, encodeOwnedCopy, openOwnedMetaStore } from "./owned-meta-store.ts";

metaStoreContract("openOwnedMetaStore", async () => {
  const log = new MemoryConditionalLog();
  return { store: await openOwnedMetaStore(log, "a"), reopen: () => openOwnedMetaStore(log, "b"), dispose: () => undefined };
});

async function put(store: MetaStore, key: string, value: number): Promise<void> {
  await store.commit([{ key, value }]);
}

function valuesOf(store: MetaStore): Record<string, unknown> {
  return Object.fromEntries(store.list("").map(({ key, value }) => [key, value]));
}

test("a commit is seen when it is answered, not before", async () => {
  const log = new MemoryConditionalLog();
  const store = await openOwnedMetaStore(log, "a");
  const held = Promise.withResolvers<void>();
  log.held = held.promise;
  const made = put(store, "k", 1);
  await Bun.sleep(2);
  expect(store.get("k")).toBeUndefined();
  held.resolve();
  await made;
  expect(store.get("k")).toBe(1);
});

test("who is not the owner any more is refused, by the name of the new one, for good, and changes nothing", async () => {
  const log = new MemoryConditionalLog();
  const old = await openOwnedMetaStore(log, "node-1");
  await put(old, "k", 1);
  const owner = await openOwnedMetaStore(log, "node-2");
  expect([old.epoch, owner.epoch, owner.get("k")]).toEqual([1, 2, 1]);
  for (let i = 0; i < 2; i++) {
    const refused = await failureOf(put(old, "k", 2));
    expect(refused).toBeInstanceOf(Fenced);
    expect(refused.message).toBe("the meta store is not that of node-1 (epoch 1) any more: node-2 has it since epoch 2");
  }
  await put(owner, "l", 3);
  expect([valuesOf(old), valuesOf(await openOwnedMetaStore(log, "node-3"))]).toEqual([{ k: 1 }, { k: 1, l: 3 }]);
});

test("the same machine that starts again fences what it was", async () => {
  const log = new MemoryConditionalLog();
  const before = await openOwnedMetaStore(log, "node-1");
  await openOwnedMetaStore(log, "node-1");
  expect(await failureOf(put(before, "k", 1))).toBeInstanceOf(Fenced);
});

test.each<[EntryFate, Record<string, unknown>]>([
  ["answer lost", { k: 1, l: 2 }],
  ["lost", { l: 2 }],
  ["delayed", { l: 2 }],
])("a commit of which no answer came (%s): the next one tells", async (fate, wanted) => {
  const log = new MemoryConditionalLog();
  const store = await openOwnedMetaStore(log, "a");
  log.fates = [fate];
  const unknown = await failureOf(put(store, "k", 1));
  expect([unknown instanceof Fenced, unknown.message]).toEqual([false, "no answer from the log"]);
  await put(store, "l", 2);
  log.deliver(); // Too late.
  expect(valuesOf(store)).toEqual(wanted);
  await put(store, "m", 3);
  expect(valuesOf(await openOwnedMetaStore(log, "b"))).toEqual({ ...wanted, m: 3 });
});

test("one that comes before the next commit, although it was given up, is in force", async () => {
  const log = new MemoryConditionalLog();
  const store = await openOwnedMetaStore(log, "a");
  log.fates = ["delayed", "lost"];
  await failureOf(put(store, "k", 1));
  await failureOf(put(store, "k", 2));
  log.deliver();
  await put(store, "l", 3);
  expect(valuesOf(store)).toEqual({ k: 1, l: 3 });
});

test("one that another owner found in the log is in force there, and its owner is refused", async () => {
  const log = new MemoryConditionalLog();
  const store = await openOwnedMetaStore(log, "a");
  log.fates = ["answer lost"];
  await failureOf(put(store, "k", 1));
  const other = await openOwnedMetaStore(log, "b");
  expect(await failureOf(put(store, "l", 2))).toBeInstanceOf(Fenced);
  expect(valuesOf(other)).toEqual({ k: 1 });
});

test("entries are let go once two later ones hold all of the store", async () => {
  const log = new MemoryConditionalLog();
  const store = await openOwnedMetaStore(log, "a");
  for (let i = 0; i < 350; i++) await put(store, `k${i % 7}`, i);
  expect(log.entries.length).toBeLessThan(210);
  expect(valuesOf(await openOwnedMetaStore(log, "b"))).toEqual(valuesOf(store));
  log.entries = log.entries.slice(-2, -1);
  expect((await failureOf(openOwnedMetaStore(log, "c"))).message).toMatch(
    /cannot read entry \d+ of the meta store's log: no entry of the log holds all/,
  );
  log.entries = [{ number: 7, text: "{" }];
  expect((await failureOf(openOwnedMetaStore(log, "c"))).message).toStartWith("cannot read entry 7");
});

test.each([1, 2, 3, 4, 5, 6])("seed %i: owners come and go, answers are lost: what was answered is there, in order", async (seed) => {
  const random = seededRandom(seed);
  const fates: readonly EntryFate[] = ["taken", "taken", "later", "answer lost", "lost", "delayed"];
  const log = new MemoryConditionalLog();
  const owners = [await openOwnedMetaStore(log, "0")];
  /** The last value of each key that was answered, and those that may have come after it. */
  const known = new Map<string, { value: number | undefined; maybe: Set<number> }>();
  for (let step = 0; step < 400; step++) {
    if (random.below(40) === 0) owners.push(await openOwnedMetaStore(log, String(owners.length)));
    if (random.below(5) === 0) log.deliver();
    const owner = owners[owners.length - 1 - random.below(Math.min(2, owners.length))]!;
    const key = `k${random.below(5)}`;
    const entry = known.get(key) ?? { value: undefined, maybe: new Set<number>() };
    known.set(key, entry);
    log.fates = [fates[random.below(fates.length)]!];
    const error = await put(owner, key, step).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    log.fates = [];
    if (error === undefined) Object.assign(entry, { value: step, maybe: new Set() });
    else if (!(error instanceof Fenced)) entry.maybe.add(step);
    if (error instanceof Fenced) expect(owner).not.toBe(owners.at(-1)!);
  }
  const last = await openOwnedMetaStore(log, "last");
  for (const [key, { value, maybe }] of known) expect([value, ...maybe]).toContain(last.get(key) as number | undefined);
});

test("a copy is the store as of its last commit, and the store of a new log; whose it is stays", async () => {
  const log = new MemoryConditionalLog();
  expect(await copyOwnedMetaStore(log)).toBeUndefined();
  const store = await openOwnedMetaStore(log, "a");
  for (let i = 0; i < 250; i++) await put(store, `k${i % 7}`, i); // Some entries that hold all, and some behind the last of them.
  await store.commit([{ key: "k0", value: undefined }]);
  const copy = await copyOwnedMetaStore(log);
  expect(copy?.epoch).toBe(1);
  expect(valuesOf(store)).toEqual(Object.fromEntries(copy?.entries ?? []));
  await put(store, "k1", 1000); // Nobody is refused.
  const other = new MemoryConditionalLog();
  if (copy === undefined) throw new Error("there is one");
  await other.append(encodeOwnedCopy(copy, "restore"), 0);
  const next = await openOwnedMetaStore(other, "b");
  expect(next.epoch).toBe(2);
  expect(valuesOf(next)).toEqual(Object.fromEntries(copy.entries));
});

test("a log that went back gets all of the store again by its owner; one that another has taken over since does not", async () => {
  const log = new MemoryConditionalLog();
  const restored: string[] = [];
  const store = await openOwnedMetaStore(log, "a", (why) => restored.push(why));
  await put(store, "k", 1);
  const early = log.entries.at(-1)?.number ?? 0;
  for (let i = 0; i < 5; i++) await put(store, `l${i}`, i);
  log.goBack(early);
  await put(store, "m", 7);
  expect(restored).toEqual([`the last entry is ${early}, and ${early + 15} was there`]);
  const next = await openOwnedMetaStore(log, "b");
  expect(valuesOf(next)).toEqual({ k: 1, l0: 0, l1: 1, l2: 2, l3: 3, l4: 4, m: 7 });
  await put(next, "n", 8);
  await put(next, "n", 9);
  log.goBack(early);
  const third = await openOwnedMetaStore(log, "c");
  expect(await failureOf(put(next, "n", 10))).toBeInstanceOf(Fenced);
  expect(valuesOf(third)).toEqual({ k: 1 });
});
