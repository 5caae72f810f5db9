import { expect, test } from "bun:test";
import { type Clock, systemClock } from "../clock.ts";
import { HeapWatch } from "./heap-watch.ts";
import { Scheduler } from "../scheduler/scheduler.ts";
import { MemoryCounter, ServerMemory } from "./server-memory.ts";

const MIB = 1024 * 1024;

/** A heap in MiB. `stale` is what was freed and still counts; a collection ends that and all garbage, and takes 5 ms. */
class Heap {
  live = 50;
  garbage = 0;
  stale = 0;
  freed = 0;
  millis = 0;
  collections = 0;
  /** Collections that the thread stood for. */
  stands = 0;
  /** What a collection beside the thread waits for. */
  beside: Promise<void> = Promise.resolve();
  readonly pages: MemoryCounter = new MemoryCounter();
  readonly queries: MemoryCounter = new MemoryCounter();
  readonly watch: HeapWatch;

  resident = 70;
  /** What queries let go and no collection has freed, and whether one does. */
  leftByQueries = 0;
  areStepsOver = true;

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    const memory = new ServerMemory(limit * MIB);
    memory.register("page_cache", this.pages);
    memory.register("queries", this.queries);
    const clock: Clock = { ...systemClock, monotonicMillis: () => this.millis };
    this.watch = new HeapWatch(memory, new Scheduler(clock), {
      residentBytes: () => (this.resident + this.leftByQueries) * MIB + this.pages.bytes() + this.queries.bytes(),
      heapBytes: () => (this.live + this.garbage + this.stale) * MIB + this.pages.bytes(),
      freedBytes: () => this.freed * MIB,
      collect: () => {
        this.runtimeCollects();
        this.millis += 5;
        this.stands++;
      },
      collectBeside: async () => {
        this.millis += 5;
        this.collections++;
        await this.beside;
        this.runtimeCollects();
      },
    });
  }

  /** A heap that was collected once. */
  static async of(limit?: number): Promise<Heap> {
    const heap = new Heap(limit);
    await heap.look();
    heap.millis = 0;
    heap.collections = 0;
    return heap;
  }

  /** What queries hold from now on; where it is less, the rest is left. */
  hold(mebibytes: number): void {
    const before = this.queries.bytes() / MIB;
    this.leftByQueries += Math.max(0, before - mebibytes);
    this.queries.take((mebibytes - before) * MIB);
  }

  /** Looks, and lets a collection end that waits for nothing. */
  async look(): Promise<void> {
    this.watch.look();
    await Bun.sleep(0);
  }

  runtimeCollects(): void {
    if (this.areStepsOver) this.leftByQueries = 0;
    this.garbage = 0;
    this.stale = 0;
  }

  free(mebibytes: number): void {
    this.stale += mebibytes;
    this.freed += mebibytes;
  }
}

/** Looks with this much garbage and compares how often it was collected so far. */
async function check(heap: Heap, garbage: number, want: number): Promise<void> {
  heap.garbage = garbage;
  heap.millis += 1000;
  await heap.look();
  expect(heap.collections).toBe(want);
}

test("garbage is collected when there is much of it, each time", async () => {
  const heap = await Heap.of();
  await check(heap, 100, 0);
  await check(heap, 200, 1);
  await check(heap, 180, 1);
  await check(heap, 200, 2);
});

test("pages and buffers that were freed are no garbage", async () => {
  const heap = await Heap.of();
  heap.pages.take(900 * MIB);
  heap.free(900);
  await check(heap, 100, 0);
  expect(heap.watch.uncountedBytes).toBe(70 * MIB);
  heap.runtimeCollects();
  await check(heap, 0, 0);
  heap.free(900);
  await check(heap, 180, 0);
  await check(heap, 200, 1);
});

test("live objects are collected in vain once, and again when they were fewer in between", async () => {
  const heap = await Heap.of();
  heap.live = 500;
  await check(heap, 0, 1);
  await check(heap, 0, 1);
  await check(heap, 180, 1);
  await check(heap, 200, 2);
  heap.live = 250;
  await check(heap, 0, 2);
  heap.live = 500;
  await check(heap, 0, 3);
});

test("collections take a tenth of the time, a quarter near the limit, half close to it; one beside counts for a third", async () => {
  for (const [resident, rests] of [
    [300, 3],
    [400, 3],
    [450, 1],
    [500, 1],
  ] as const) {
    const heap = await Heap.of(480);
    heap.resident = resident;
    const all = (): number => heap.collections + heap.stands;
    heap.garbage = 100;
    heap.millis += 1000;
    await heap.look();
    for (let i = 1; i <= rests; i++) {
      expect([resident, i, all()]).toEqual([resident, i, 1]);
      heap.garbage = 100;
      heap.millis += 5;
      await heap.look();
    }
    expect([resident, all()]).toEqual([resident, 2]);
  }
});

test("a small limit allows a twelfth of it", async () => {
  const heap = await Heap.of(480);
  await check(heap, 35, 0);
  await check(heap, 45, 1);
});

test("near the limit what is resident and no heap tells of is collected as well, and counts from what stays", async () => {
  const heap = await Heap.of(480);
  for (const [resident, collections] of [
    [300, 0],
    [390, 1],
    [420, 1],
    [435, 2],
    [200, 2],
    [390, 3],
  ] as const) {
    heap.resident = resident;
    heap.millis += 1000;
    await heap.look();
    expect([resident, heap.stands]).toEqual([resident, collections]);
  }
});

test("far from the limit what no part counts is collected once it has grown by twice as much, and counts from what stays", async () => {
  const heap = await Heap.of(480);
  for (const [resident, collections] of [
    [70, 0],
    [140, 0],
    [160, 1],
    [230, 1],
    [245, 2],
    [100, 2],
    [185, 3],
  ] as const) {
    heap.resident = resident;
    heap.millis += 1000;
    await heap.look();
    expect([resident, heap.collections, heap.stands]).toEqual([resident, collections, 0]);
  }
});

test("what queries let go is collected", async () => {
  const heap = await Heap.of(480);
  for (const [bytes, collections] of [
    [60, 0],
    [100, 0],
    [30, 0],
    [10, 1],
    [70, 1],
    [0, 1],
    [100, 1],
    [0, 2],
  ] as const) {
    heap.hold(bytes);
    heap.millis += 1000;
    await heap.look();
    expect([bytes, heap.collections, heap.stands]).toEqual([bytes, collections, 0]);
  }
});

test("what queries let go and a collection did not free is collected twice more", async () => {
  const heap = await Heap.of(480);
  for (const [bytes, areStepsOver, left, collections] of [
    [100, true, 0, 0],
    [0, false, 100, 1],
    [0, false, 100, 2],
    [0, false, 100, 3],
    [0, false, 100, 3], // No more is tried.
    [100, true, 100, 3],
    [0, true, 0, 4],
    [0, true, 0, 4],
    [100, true, 0, 4],
    [0, false, 100, 5],
    [0, true, 0, 6],
    [0, true, 0, 6],
  ] as const) {
    heap.hold(bytes);
    heap.areStepsOver = areStepsOver;
    heap.millis += 1000;
    await heap.look();
    expect([bytes, areStepsOver, heap.leftByQueries, heap.collections]).toEqual([bytes, areStepsOver, left, collections]);
  }
});

test("a process that is near its limit again soon after a collection is collected sooner", async () => {
  const heap = await Heap.of(480);
  heap.resident = 200;
  await check(heap, 100, 1);
  heap.resident = 450;
  heap.garbage = 100;
  heap.millis += 15;
  heap.watch.look();
  expect(heap.stands).toBe(1);
});

test("it is looked at when the memory says so, from the start to the end", () => {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  let looks = 0;
  const heapBytes = (): number => looks++;
  const rest = { residentBytes: () => 0, freedBytes: () => 0, collect: () => undefined, collectBeside: () => Promise.resolve() };
  const watch = new HeapWatch(memory, new Scheduler(), { heapBytes, ...rest });
  memory.onGarbage();
  watch.start();
  memory.onGarbage();
  watch.close();
  memory.onGarbage();
  expect(looks).toBe(1);
});

test("the thread stands for a collection near the limit alone, beside one that is under way too", async () => {
  const heap = await Heap.of(480);
  await check(heap, 50, 1);
  expect(heap.stands).toBe(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  heap.beside = promise;
  await check(heap, 50, 2);
  await check(heap, 100, 2);
  expect(heap.stands).toBe(0);
  heap.resident = 400;
  await check(heap, 100, 2);
  expect(heap.stands).toBe(1);
  resolve();
  await Bun.sleep(0);
  heap.millis += 60_000; // It rests for as long as the other took, several times.
  await check(heap, 100, 2);
  expect(heap.stands).toBe(2);
});

test("this process is measured", () => {
  const watch = new HeapWatch(new ServerMemory(Number.POSITIVE_INFINITY), new Scheduler());
  expect(watch.uncountedBytes).toBeGreaterThan(10 * MIB);
  watch.look();
});
