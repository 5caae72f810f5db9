import { expect, test } from "bun:test";
import { RestingHeap } from "./resting-heap.ts";

/** A heap in MiB, of which 64 may rest. */
class Heap {
  live = 5;
  garbage = 0;
  kept = 0;
  collections = 0;
  readonly resting: RestingHeap = new RestingHeap(64, {
    bytes: () => this.live + this.garbage + this.kept,
    collect: () => {
      this.garbage = 0;
      this.collections++;
    },
  });
}

/** Rests with so much more garbage, so often, and compares how often it was collected so far. */
function check(heap: Heap, garbage: number, times: number, want: number): void {
  for (let i = 0; i < times; i++) {
    heap.garbage += garbage;
    heap.resting.rest(heap.kept);
  }
  expect(heap.collections).toBe(want);
}

test("a resting thread keeps no more garbage than it may", () => {
  const heap = new Heap();
  check(heap, 20, 2, 0);
  check(heap, 20, 1, 1);
  check(heap, 59, 1, 1);
  check(heap, 1, 1, 2);
});

test("what is kept on purpose is no garbage", () => {
  const heap = new Heap();
  heap.kept = 500;
  check(heap, 50, 1, 0);
  check(heap, 10, 1, 1);
});

test("what a collection leaves is not collected after each piece of work", () => {
  const heap = new Heap();
  heap.live = 66;
  check(heap, 1, 1, 1);
  check(heap, 1, 31, 1);
  check(heap, 1, 1, 2);
  heap.live = 5; // Fewer live objects, seen before there is more: growth counts from there.
  check(heap, 0, 1, 2);
  check(heap, 59, 1, 2);
  check(heap, 1, 1, 3);
});
