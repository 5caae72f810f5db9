import { tableId } from "../../base/units.ts";
import { expect, test } from "bun:test";
import { CatalogFeed } from "./catalog-feed.ts";
import type { CatalogChange } from "./messages.ts";
import { SharedState } from "./shared-state.ts";

test("two threads over one memory see one state", () => {
  const here = new SharedState(2);
  const there = new SharedState(2, here.memory);
  expect([here.sequences.take(), there.sequences.take(), here.sequences.newest]).toEqual([1, 2, 2]);
  here.version = 7;
  here.durableVersion = 6;
  here.setKnownBytes(1000);
  there.addUntoldBytes(50);
  here.addUntoldBytes(-20);
  there.setLogBytes(2, 2 ** 40);
  expect([there.version, there.durableVersion, here.memoryBytes, here.logBytes(1), here.logBytes(2)]).toEqual([7, 6, 1030, 0, 2 ** 40]);
  expect(() => new SharedState(3, here.memory)).toThrow("for 3 threads; got");
});

test("a thread wakes the owner once, until the owner has looked", () => {
  const state = new SharedState(2);
  expect([state.raise(1), state.raise(1), state.raise(2)]).toEqual([true, false, true]);
  state.lower(1);
  expect([state.raise(1), state.raise(2)]).toEqual([true, false]);
});

test("a reply ends the wait, and so does the end of the process", () => {
  const state = new SharedState(1);
  state.expectReply(1);
  state.replied(1);
  expect(state.awaitReply(1)).toBe(true);
  state.expectReply(1);
  state.close();
  expect(state.awaitReply(1)).toBe(false);
});

function dropped(table: number): CatalogChange {
  return { kind: "dropped", tableId: tableId(table) };
}

test("a feed gives what came after a version, or everything to whoever is far behind", () => {
  const state = new SharedState(1);
  const everything: CatalogChange[] = [{ kind: "databases", databases: [{ name: "public", options: {} }] }];
  const feed = new CatalogFeed(
    state,
    () => everything,
    () => Promise.resolve(),
  );
  expect(feed.since(0)).toEqual({ version: 0, isWhole: false, changes: [] });
  for (let i = 1; i <= 3; i++) feed.push(dropped(i));
  expect(state.version).toBe(3);
  expect(feed.since(1)).toEqual({ version: 3, isWhole: false, changes: [dropped(2), dropped(3)] });
  for (let i = 4; i <= 1025; i++) feed.push(dropped(i));
  expect(feed.since(0)).toEqual({ version: 1025, isWhole: true, changes: everything });
  expect(feed.since(511)).toEqual({ version: 1025, isWhole: true, changes: everything });
  expect(feed.since(512).changes.length).toBe(513);
  expect(feed.since(1024)).toEqual({ version: 1025, isWhole: false, changes: [dropped(1025)] });
  expect(feed.whole()).toEqual({ version: 1025, isWhole: true, changes: everything });
});

test("a version is durable when the store says so, and never when it cannot", async () => {
  const state = new SharedState(1);
  const gates: PromiseWithResolvers<void>[] = [];
  const feed = new CatalogFeed(
    state,
    () => [],
    () => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      return gate.promise;
    },
  );
  for (let i = 1; i <= 3; i++) feed.push(dropped(i));
  gates[1]?.resolve();
  await Bun.sleep(0);
  expect(state.durableVersion).toBe(2);
  gates[0]?.resolve();
  gates[2]?.reject(new Error("disk is full"));
  await Bun.sleep(0);
  expect(state.durableVersion).toBe(2);
});

test("a process of one thread keeps no changes", () => {
  const state = new SharedState(0);
  const feed = new CatalogFeed(
    state,
    () => [],
    () => Promise.resolve(),
  );
  feed.push(dropped(1));
  expect(state.version).toBe(0);
});
