/**
 * Fault 12: a clock that jumps, and times at the edges of what there is. Intervals (flushes, stalls, retries) follow the monotonic clock,
 * so that a jump of the wall clock starts, delays and refuses nothing. The wall clock decides what `now()` is and which rows have expired:
 * nothing else. A clock that is set too far ahead ends the lives of rows with a TTL, as its rows would otherwise outlive it.
 */
import { describe, expect, test } from "bun:test";
import { type Clock, fixedClock } from "../../src/base/clock.ts";
import { put, read } from "../engine/lines.ts";
import { Machine } from "../engine/machine.ts";

const DAY = 86_400_000_000_000n;
const NOW = 20_000n * DAY;

/** A clock whose wall and monotonic time move apart. */
interface TwoClocks extends Clock {
  wall: bigint;
  monotonic: number;
}

function twoClocks(): TwoClocks {
  return {
    wall: NOW,
    monotonic: 1000,
    nowMillis() {
      return Number(this.wall / 1_000_000n);
    },
    nowNanos() {
      return this.wall;
    },
    monotonicMillis() {
      return this.monotonic;
    },
  };
}

/** A turn of the scheduler's timer, which looks once a second. */
const LOOK_MS = 1050;

describe("a wall clock that jumps", () => {
  test("by years, forwards and backwards, starts no flush, and one is due when the monotonic clock says so", async () => {
    const clock = twoClocks();
    const machine = await Machine.start({ clock, limits: { idleMillis: 60_000 } });
    await put(machine.engine, "cpu,host=a v=1i 1");
    clock.wall = NOW + 4000n * DAY;
    await Bun.sleep(LOOK_MS);
    clock.wall = NOW - 4000n * DAY;
    expect(machine.flushCount).toBe(0);
    clock.monotonic += 61_000;
    while (machine.flushCount === 0) await Bun.sleep(5);
    expect(await read(machine.engine, "cpu")).toEqual(["'a'|1|1"]);
  });

  test("makes no writer wait and refuses none", async () => {
    const clock = twoClocks();
    const machine = await Machine.start({ clock });
    for (const jump of [1n, -1n, 3650n, -3650n, -20_000n]) {
      clock.wall = NOW + jump * DAY;
      await machine.engine.admit();
      await put(machine.engine, `cpu,host=a v=1i ${Number(jump) + 100_000}`);
    }
    expect(await read(machine.engine, "cpu")).toHaveLength(5);
    await machine.crash();
    expect(await read(machine.engine, "cpu")).toHaveLength(5);
  });

  test("backwards keeps rows with a TTL; they go when it has come back", async () => {
    const clock = fixedClock(NOW);
    const machine = await Machine.start({ clock });
    await put(machine.engine, `cpu,host=a v=1i ${NOW - 3n * DAY}`, { tableOptions: { ttl: "7d" } });
    await machine.engine.flushTable("public", "cpu");
    clock.set(NOW - 1000n * DAY);
    await machine.engine.compactTable("public", "cpu");
    expect(await read(machine.engine, "cpu")).toHaveLength(1);
    clock.set(NOW + 3n * DAY);
    await machine.engine.compactTable("public", "cpu");
    expect(await read(machine.engine, "cpu")).toHaveLength(1);
    clock.set(NOW + 5n * DAY);
    await machine.engine.compactTable("public", "cpu");
    expect(await read(machine.engine, "cpu")).toEqual([]);
    expect(machine.files.size).toBe(0);
  });
});

describe("times at the edges", () => {
  const EDGES = [-(2n ** 63n), -(2n ** 63n) + 1n, -1n, 0n, 1n, 2n ** 53n, 2n ** 63n - 2n, 2n ** 63n - 1n];

  test("come back as they were, from memory, log, files and merged files", async () => {
    const machine = await Machine.start();
    const want = EDGES.map((time, i) => `'a'|${i}|${time}`);
    const check = async (): Promise<void> => expect(await read(machine.engine, "cpu")).toEqual(want);
    for (const [i, time] of EDGES.entries()) await put(machine.engine, `cpu,host=a v=${i}i ${time}`);
    await check();
    await machine.crash();
    await check();
    await machine.engine.flushTable("public", "cpu");
    await check();
    for (const [i, time] of EDGES.entries()) await put(machine.engine, `cpu,host=a v=${i}i ${time}`);
    await machine.engine.flushTable("public", "cpu");
    await machine.engine.compactTable("public", "cpu");
    await check();
    await machine.crash();
    await check();
  });

  test("beyond 64 bits are refused", async () => {
    const machine = await Machine.start();
    for (const time of [2n ** 63n, -(2n ** 63n) - 1n]) {
      expect(() => put(machine.engine, `cpu,host=a v=1i ${time}`)).toThrow("Unable to parse timestamp value");
    }
  });
});
