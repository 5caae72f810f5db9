import { expect, test } from "bun:test";
import { type Clock, systemClock } from "./clock.ts";
import { HeapWatch } from "./heap-watch.ts";
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
  readonly pages: MemoryCounter = new MemoryCounter();
  readonly watch: HeapWatch;

  resident = 70;

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    const memory = new ServerMemory(limit * MIB);
    memory.register("page_cache", this.pages);
    const clock: Clock = { ...systemClock, monotonicMillis: () => this.millis };
    this.watch = new HeapWatch(memory, clock, {
      residentBytes: () => this.resident * MIB + this.pages.bytes(),
      heapBytes: () => (this.live + this.garbage + this.stale) * MIB + this.pages.bytes(),
      freedBytes: () => this.freed * MIB,
      collect: () => {
        this.runtimeCollects();
        this.millis += 5;
        this.collections++;
      },
    });
    this.watch.look();
    this.millis = 0;
    this.collections = 0;
  }

  runtimeCollects(): void {
    this.garbage = 0;
    this.stale = 0;
  }

  free(mebibytes: number): void {
    this.stale += mebibytes;
    this.freed += mebibytes;
  }
}

/** Looks with this much garbage and compares how often it was collected so far. */
function check(heap: Heap, garbage: number, want: number): void {
  heap.garbage = garbage;
  heap.millis += 1000;
  heap.watch.look();
  expect(heap.collections).toBe(want);
}

test("garbage is collected when there is much of it, each time", () => {
  const heap = new Heap();
  check(heap, 100, 0);
  check(heap, 200, 1);
  check(heap, 180, 1);
  check(heap, 200, 2);
});

test("pages and buffers that were freed are no garbage", () => {
  const heap = new Heap();
  heap.pages.take(900 * MIB);
  heap.free(900);
  check(heap, 100, 0);
  expect(heap.watch.uncountedBytes).toBe(70 * MIB);
  heap.runtimeCollects();
  check(heap, 0, 0);
  heap.free(900);
  check(heap, 180, 0);
  check(heap, 200, 1);
});

test("live objects are collected in vain once, and again when they were fewer in between", () => {
  const heap = new Heap();
  heap.live = 500;
  check(heap, 0, 1);
  check(heap, 0, 1);
  check(heap, 180, 1);
  check(heap, 200, 2);
  heap.live = 250;
  check(heap, 0, 2);
  heap.live = 500;
  check(heap, 0, 3);
});

test("collections take a tenth of the time at most", () => {
  const heap = new Heap();
  check(heap, 200, 1);
  for (let i = 0; i < 8; i++) {
    heap.garbage = 1000;
    heap.millis += 5;
    heap.watch.look();
  }
  expect(heap.collections).toBe(1);
  heap.millis += 5;
  heap.watch.look();
  expect(heap.collections).toBe(2);
});

test("a small limit allows a twelfth of it", () => {
  const heap = new Heap(480);
  check(heap, 35, 0);
  check(heap, 45, 1);
});

test("near the limit collections take a quarter of the time, and half beyond", () => {
  for (const [resident, rests] of [
    [450, 3],
    [500, 1],
  ] as const) {
    const heap = new Heap(480);
    heap.resident = resident;
    check(heap, 100, 1);
    for (let i = 1; i <= rests; i++) {
      expect([resident, i, heap.collections]).toEqual([resident, i, 1]);
      heap.garbage = 100;
      heap.millis += 5;
      heap.watch.look();
    }
    expect([resident, heap.collections]).toEqual([resident, 2]);
  }
});

test("near the limit what is resident and no heap tells of is collected as well, and counts from what stays", () => {
  const heap = new Heap(480);
  heap.resident = 300;
  check(heap, 0, 0);
  heap.resident = 390;
  check(heap, 0, 1);
  heap.resident = 420;
  check(heap, 0, 1);
  heap.resident = 435;
  check(heap, 0, 2);
  heap.resident = 200;
  check(heap, 0, 2);
  heap.resident = 390;
  check(heap, 0, 3);
});

test("a process that is near its limit again soon after a collection is collected sooner", () => {
  const heap = new Heap(480);
  heap.resident = 200;
  check(heap, 100, 1);
  heap.resident = 450;
  heap.garbage = 100;
  heap.millis += 15;
  heap.watch.look();
  expect(heap.collections).toBe(2);
});

test("it is looked at when the memory says so, from the start to the end", () => {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  let looks = 0;
  const heapBytes = (): number => looks++;
  const rest = { residentBytes: () => 0, freedBytes: () => 0, collect: () => undefined };
  const watch = new HeapWatch(memory, systemClock, { heapBytes, ...rest });
  memory.onGarbage();
  watch.start();
  memory.onGarbage();
  watch.close();
  memory.onGarbage();
  expect(looks).toBe(1);
});

test("this process is measured", () => {
  const watch = new HeapWatch(new ServerMemory(Number.POSITIVE_INFINITY), systemClock);
  expect(watch.uncountedBytes).toBeGreaterThan(10 * MIB);
  watch.look();
});
