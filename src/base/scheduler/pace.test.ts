import { expect, test } from "bun:test";
import { fixedClock } from "../clock.ts";
import { Pace } from "./pace.ts";
import { Scheduler } from "./scheduler.ts";

const NANOS_PER_MILLI = 1_000_000n;

test("work with two paces has whole turns beside other work: time in which that ran counts for neither", async () => {
  const clock = fixedClock(0n);
  const scheduler = new Scheduler(clock);
  const work = (millis: number): void => clock.set(clock.nowNanos() + BigInt(millis) * NANOS_PER_MILLI);
  let isOver = false;
  let othersTurns = 0;
  const others = async (): Promise<void> => {
    for (const pace = new Pace(scheduler); !isOver; othersTurns++) {
      work(10);
      await pace.turn();
    }
  };
  const twoPaced = async (): Promise<void> => {
    const paces = [new Pace(scheduler), new Pace(scheduler)];
    for (let step = 0; step < 60; step++) {
      work(1);
      for (const pace of paces) {
        if (pace.isDue()) await pace.turn();
      }
    }
    isOver = true;
  };
  await Promise.all([others(), twoPaced()]);
  expect(othersTurns).toBeGreaterThanOrEqual(6);
  expect(othersTurns).toBeLessThanOrEqual(8); // 60 steps of 1 ms are six turns; where others' time counted they were 60.
});
