import { expect, test } from "bun:test";
import { MemoryCounter, type MemoryHolder, MemoryPool, ServerMemory } from "./server-memory.ts";

/** Holds bytes and gives back down to a floor. */
class Cache implements MemoryHolder {
  held: number;
  floor = 0;
  grown = 0;

  constructor(held: number) {
    this.held = held;
  }

  bytes(): number {
    return this.held;
  }

  giveBack(bytes: number): void {
    this.held = Math.max(this.floor, this.held - bytes);
  }

  mayGrow(): void {
    this.grown++;
  }
}

function make(bytesMax: number) {
  const memory = new ServerMemory(bytesMax);
  const pages = new Cache(300);
  const decoders = new Cache(200);
  const memtables = new MemoryCounter();
  memory.register("decoders", decoders);
  memory.register("page_cache", pages);
  memory.register("memtables", memtables);
  return { memory, pages, decoders, memtables };
}

test("adds up what all hold, by part and together", () => {
  const { memory, memtables } = make(1000);
  memory.register("page_cache", new Cache(7));
  memtables.take(50);
  memtables.give(20);
  expect([memory.used, memory.bytesOf("page_cache"), memory.bytesOf("memtables"), memory.bytesOf("workers")]).toEqual([537, 307, 30, 0]);
  expect(memory.isOver()).toBe(false);
});

test("cached pages give way first, then decoders, only as far as needed", () => {
  const { memory, pages, decoders, memtables } = make(1000);
  memtables.take(600);
  expect([memory.isOver(), pages.held, decoders.held]).toEqual([false, 200, 200]);
  memtables.take(250);
  expect([memory.isOver(), pages.held, decoders.held]).toEqual([false, 0, 150]);
  memtables.take(200);
  expect([memory.isOver(), pages.held, decoders.held]).toEqual([true, 0, 0]);
  memtables.give(50);
  expect(memory.isOver()).toBe(false);
});

test("what cannot give back leaves the server over its limit", () => {
  const { memory, pages, decoders } = make(400);
  pages.floor = 250;
  decoders.floor = 200;
  expect([memory.isOver(), pages.held, decoders.held]).toEqual([true, 250, 200]);
});

test("holders may grow again only while there is room, and make some before it is short", () => {
  const { memory, pages, memtables } = make(1000);
  memory.tick();
  expect(pages.grown).toBe(1);
  memtables.take(450);
  memory.tick();
  expect([pages.grown, pages.held]).toEqual([1, 250]);
  memory.tick();
  expect(pages.grown).toBe(1 + 1);
});

test("a pool is refused beyond its own limit and beyond the server's", () => {
  const { memory, pages, decoders, memtables } = make(1000);
  const queries = new MemoryPool(memory, "queries", 500);
  expect([queries.take(500), queries.take(1)]).toEqual([true, false]);
  expect(memory.bytesOf("queries")).toBe(500);
  queries.give(200);
  memtables.take(600);
  expect(queries.take(100)).toBe(true); // The pages and decoders went for it.
  expect([pages.held, decoders.held]).toEqual([0, 0]);
  expect(queries.take(1)).toBe(false);
  expect(queries.used).toBe(400);
});

test("an account gives back all that it holds, once", () => {
  const { memory } = make(1000);
  const pool = new MemoryPool(memory, "queries", 100);
  const [one, other] = [pool.account(), pool.account()];
  expect([one.take(60), other.take(30), one.take(11)]).toEqual([true, true, false]);
  one.give(10);
  one.close();
  one.close();
  expect(pool.used).toBe(30);
  other.close();
  expect(memory.bytesOf("queries")).toBe(0);
});

test("what nobody used for long goes with each tick", () => {
  const { memory } = make(1000);
  let tidied = 0;
  memory.register("decoders", { bytes: () => 0, tidy: () => tidied++ });
  memory.tick();
  expect(tidied).toBe(1);
});

test("without a limit nobody gives way", () => {
  const { memory, pages } = make(Number.POSITIVE_INFINITY);
  expect([memory.isOver(1e18), pages.held]).toEqual([false, 300]);
});

test("what no part counts takes room too, for half of the limit at most", () => {
  const { memory, pages, memtables } = make(1000);
  const pool = new MemoryPool(memory, "queries", 900);
  expect([memory.room, pool.room]).toEqual([1000, 900]); // Pages and decoders give way.
  memory.noteOverhead(400);
  memtables.take(100);
  expect([memory.room, pool.room]).toEqual([500, 500]);
  expect(pool.account().take(501)).toBe(false);
  expect(pool.account().take(500)).toBe(true);
  expect(pages.held).toBe(0);
  memory.noteOverhead(5000);
  expect(memory.room).toBe(0);
  memtables.give(100);
  pool.give(500);
  expect([memory.room, memory.isOver(500)]).toEqual([500, false]);
});

test("a pool leaves free what it is to, and pages go for it", () => {
  const { memory, pages } = make(1000);
  const pool = new MemoryPool(memory, "queries", 990, 100);
  expect(pool.room).toBe(900);
  expect([pool.take(850), pool.take(60)]).toEqual([true, false]);
  expect(pages.bytes()).toBeLessThanOrEqual(100);
  expect(new MemoryPool(new ServerMemory(Number.POSITIVE_INFINITY), "queries", 500, Number.POSITIVE_INFINITY).room).toBe(500);
});

test("holders give way before the limit is reached", () => {
  const { memory, pages } = make(1000);
  const before = pages.bytes();
  expect(memory.makeRoom()).toBe(false);
  memory.noteOverhead(500);
  const memtables = new MemoryCounter();
  memory.register("memtables", memtables);
  memtables.take(500 - before);
  expect(memory.makeRoom()).toBe(true);
  expect(pages.bytes()).toBeLessThan(before);
});
