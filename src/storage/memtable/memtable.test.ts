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

  test("stops on what must not happen", () => {
    const memtable = new Memtable(new SlabPool(0));
    expect(() => memtable.abandon()).toThrow("a reserved chunk");
    memtable.reserve(0);
    memtable.publish(chunkIn(memtable, 5));
    memtable.reserve(0);
    expect(() => memtable.publish(chunkIn(memtable, 4))).toThrow("sequences ascend; got 4 after 5");
    memtable.release();
    expect(() => memtable.retain()).toThrow("in use");
    expect(() => memtable.release()).toThrow("in use");
  });
});
