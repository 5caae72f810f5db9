import { describe, expect, test } from "bun:test";
import { FIELDS } from "../../../test/support/storage/arbitrary-rows.ts";
import { chunkOf } from "../../../test/support/storage/rows.ts";
import { SlabPool } from "./arena.ts";
import type { Chunk } from "./chunk.ts";
import { Memtable } from "./memtable.ts";

const SLAB = 4 * 1024 * 1024;

function chunkIn(memtable: Memtable, sequence: number, rowCount = 1): Chunk {
  const rows = Array.from({ length: rowCount }, (_, i) => ({ series: 0, time: BigInt(i), values: [] }));
  return chunkOf(sequence, { rows, columnIds: [] }, FIELDS, memtable.arena);
}

describe("a memtable", () => {
  test("shows chunks from the moment they are durable", () => {
    const memtable = new Memtable(new SlabPool(0));
    expect([memtable.isUnused, memtable.maxSequence, memtable.bytes]).toEqual([true, 0, 0]);
    memtable.reserve(5);
    memtable.reserve(9);
    expect([memtable.isUnused, memtable.firstWriteMillis, memtable.chunks.length]).toEqual([false, 5, 0]);
    memtable.publish(chunkIn(memtable, 3, 2));
    memtable.abandon();
    expect([memtable.chunks.length, memtable.rowCount, memtable.maxSequence]).toEqual([1, 2, 3]);
    expect(memtable.bytes).toBeGreaterThan(0);
  });

  test("is settled once nothing is between built and durable", async () => {
    const memtable = new Memtable(new SlabPool(0));
    await memtable.whenSettled();
    memtable.reserve(0);
    memtable.reserve(0);
    let settled = 0;
    const waiting = [memtable.whenSettled(), memtable.whenSettled()].map((wait) => wait.then(() => settled++));
    memtable.publish(chunkIn(memtable, 1));
    await Promise.resolve();
    expect(settled).toBe(0);
    memtable.abandon();
    await Promise.all(waiting);
    expect(settled).toBe(2);
  });

  test("is unused again when its only chunk failed", () => {
    const memtable = new Memtable(new SlabPool(0));
    memtable.reserve(1);
    memtable.abandon();
    expect(memtable.isUnused).toBe(true);
    memtable.reserve(7);
    expect(memtable.firstWriteMillis).toBe(7);
  });

  test("gives its memory back with the last user", () => {
    const pool = new SlabPool(SLAB);
    const memtable = new Memtable(pool);
    const { buffer } = memtable.arena.allocate(SLAB);
    memtable.retain();
    memtable.release();
    expect(pool.take(SLAB)).not.toBe(buffer);
    memtable.release();
    expect(pool.take(SLAB)).toBe(buffer);
  });

  test("orders chunks by sequence, whenever they come; those of one record stay in its order", () => {
    const memtable = new Memtable(new SlabPool(0));
    const lease = { retain: () => undefined, release: () => undefined };
    const made = [3, 1, 5, 4, 4, 2].map((sequence) => chunkIn(memtable, sequence));
    memtable.lease(lease, 0, 0);
    for (const chunk of made) memtable.adopt(chunk);
    expect(memtable.chunks).toEqual([made[1]!, made[5]!, made[0]!, made[3]!, made[4]!, made[2]!]);
    expect(memtable.chunks[3]).toBe(made[3]!);
    const restored = new Memtable(new SlabPool(0));
    for (const chunk of made) {
      restored.reserve(0);
      restored.restore(chunk);
    }
    restored.sort();
    expect(restored.chunks).toEqual(memtable.chunks);
    expect([restored.maxSequence, restored.rowCount]).toEqual([5, 6]);
  });

  test("keeps memory of other threads in use, counts it, and gives it back with its own", () => {
    const users: string[] = [];
    const lease = { retain: () => void users.push("retain"), release: () => void users.push("release") };
    const memtable = new Memtable(new SlabPool(0));
    memtable.lease(lease, 100, 7);
    memtable.lease(lease, 0, 8);
    memtable.lease(lease, 50, 9);
    expect([memtable.bytes, memtable.firstWriteMillis, memtable.isUnused]).toEqual([150, 7, false]);
    memtable.retain();
    memtable.release();
    expect(users).toEqual(["retain"]);
    memtable.release();
    expect(users).toEqual(["retain", "release"]);
  });

  test("stops on what must not happen", () => {
    const memtable = new Memtable(new SlabPool(0));
    expect(() => memtable.abandon()).toThrow("a reserved chunk");
    memtable.reserve(0);
    memtable.publish(chunkIn(memtable, 5));
    memtable.reserve(0);
    expect(() => memtable.close()).toThrow("no chunk under way; got 1");
    memtable.sealedSequence = 7;
    expect(() => memtable.publish(chunkIn(memtable, 8))).toThrow("a chunk before its memtable is closed; got 8");
    memtable.close();
    memtable.reserve(0);
    expect(() => memtable.publish(chunkIn(memtable, 4))).toThrow("a chunk before its memtable is closed; got 4");
    memtable.release();
    expect(() => memtable.retain()).toThrow("in use");
    expect(() => memtable.release()).toThrow("in use");
  });
});
