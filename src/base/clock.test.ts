import { describe, expect, test } from "bun:test";
import { finerClock, systemClock } from "./clock.ts";

/** Times of a finer clock, in nanoseconds after `start` ms, at these true times in ms; `steps` moves the wall clock from a time on. */
function timesAt(times: readonly number[], start: number, steps: readonly (readonly [from: number, by: number])[] = []): number[] {
  let now = 0;
  const wall = (): number => Math.floor(start + now + steps.reduce((sum, [from, by]) => (now >= from ? sum + by : sum), 0));
  const clock = finerClock(wall, () => now + 17.25);
  return times.map((time) => {
    now = time;
    return Number(clock() - BigInt(Math.floor(start)) * 1_000_000n);
  });
}

const every = (millis: number, count: number): number[] => Array.from({ length: count }, (_, i) => i * millis);
const isRising = (times: readonly number[]): boolean => times.every((time, i) => i === 0 || time >= times[i - 1]!);

describe("a finer clock", () => {
  test("never goes back while the wall clock ticks, wherever its ticks fall, and stays within two milliseconds", () => {
    for (const fraction of [0, 0.1, 0.5, 0.999]) {
      const times = timesAt(every(0.037, 5000), 1000 + fraction);
      expect(isRising(times)).toBe(true);
      for (const [i, time] of times.entries()) expect(Math.abs(time / 1e6 - (i * 0.037 + fraction))).toBeLessThan(2);
      expect(new Set(times).size).toBe(5000);
    }
  });

  test("follows a step of the wall clock at once, forwards and backwards", () => {
    for (const by of [60_000, -60_000]) {
      const times = timesAt(every(0.5, 100), 1_000_000, [[20, by]]);
      expect(isRising(times.slice(0, 40)) && isRising(times.slice(40))).toBe(true);
      expect(Math.abs(times[40]! / 1e6 - (20 + by))).toBeLessThan(2);
      expect(Math.abs(times[99]! / 1e6 - (49.5 + by))).toBeLessThan(2);
    }
  });
});

test("a thread that stands still between two readings does not see time go back", () => {
  let now = 1000;
  let pause = 0;
  const clock = finerClock(
    () => {
      const wall = Math.floor(now);
      now += pause;
      return wall;
    },
    () => now,
  );
  let last = clock();
  for (let i = 0; i < 2000; i++) {
    now += 0.3;
    pause = i % 7 === 0 ? (i % 50) / 2 : 0;
    const time = clock();
    expect(time >= last).toBe(true);
    last = time;
  }
});

test("the machine's clock never goes back", () => {
  let last = systemClock.nowNanos();
  const first = last;
  while (last - first < 20_000_000n) {
    const now = systemClock.nowNanos();
    expect(now >= last).toBe(true);
    last = now;
  }
  expect(Math.abs(Number(last / 1_000_000n) - systemClock.nowMillis())).toBeLessThan(1000);
});
