import { expect, test } from "bun:test";
import { type Clock, systemClock } from "./clock.ts";
import { HeapWatch } from "./heap-watch.ts";
import { MemoryCounter, ServerMemory } from "./server-memory.ts";

const MIB = 1024 * 1024;

/** A process of `resident` MiB, `counted` of them counted by parts. A collection frees all garbage and takes 5 ms. */
function watched(): {
  readonly watch: HeapWatch;
  readonly counted: MemoryCounter;
  readonly state: { live: number; garbage: number; millis: number; collections: number };
} {
  const state = { live: 90, garbage: 0, millis: 0, collections: 0 };
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  const counted = new MemoryCounter();
  memory.register("page_cache", counted);
  const clock: Clock = { ...systemClock, monotonicMillis: () => state.millis };
  const watch = new HeapWatch(memory, clock, {
    residentBytes: () => (state.live + state.garbage) * MIB + counted.bytes(),
    collect: () => {
      state.garbage = 0;
      state.millis += 5;
      state.collections++;
    },
  });
  return { watch, counted, state };
}

/** Looks with this much garbage and compares how often it was collected so far. */
function check({ watch, state }: ReturnType<typeof watched>, garbage: number, want: number): void {
  state.garbage = garbage;
  state.millis += 1000;
  watch.look();
  expect(state.collections).toBe(want);
}

test("garbage is collected when there is much of it, each time", () => {
  const process = watched();
  check(process, 0, 0);
  check(process, 180, 0);
  check(process, 200, 1);
  check(process, 180, 1);
  check(process, 200, 2);
});

test("what parts count is no garbage", () => {
  const process = watched();
  process.counted.take(900 * MIB);
  check(process, 180, 0);
  expect(process.watch.uncountedBytes).toBe(270 * MIB);
});

test("live objects are collected in vain once, and again when they were fewer in between", () => {
  const process = watched();
  process.state.live = 500;
  check(process, 0, 1);
  check(process, 0, 1);
  check(process, 180, 1);
  check(process, 200, 2);
  process.state.live = 300;
  check(process, 0, 2);
  process.state.live = 500;
  check(process, 0, 3);
});

test("collections take a tenth of the time at most", () => {
  const process = watched();
  check(process, 200, 1);
  for (let i = 0; i < 8; i++) {
    process.state.garbage = 1000;
    process.state.millis += 5;
    process.watch.look();
  }
  expect(process.state.collections).toBe(1);
  process.state.millis += 5;
  process.watch.look();
  expect(process.state.collections).toBe(2);
});

test("it is looked at when the memory says so, from the start to the end", () => {
  const memory = new ServerMemory(Number.POSITIVE_INFINITY);
  let looks = 0;
  const watch = new HeapWatch(memory, systemClock, { residentBytes: () => looks++, collect: () => undefined });
  memory.onGarbage();
  watch.start();
  memory.onGarbage();
  watch.close();
  memory.onGarbage();
  expect(looks).toBe(1);
});

test("this process is measured", () => {
  expect(new HeapWatch(new ServerMemory(Number.POSITIVE_INFINITY), systemClock).uncountedBytes).toBeGreaterThan(10 * MIB);
});
