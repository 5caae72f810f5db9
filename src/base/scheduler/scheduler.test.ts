import { RoundCount } from "../../../test/support/round-count.ts";
import { expect, test } from "bun:test";
import { Scheduler } from "./scheduler.ts";

const scheduler = new Scheduler();

test("one piece of work a round, in the order in which they yielded", async () => {
  const count = new RoundCount();
  const seen: { readonly work: number; readonly round: number }[] = [];
  const work = async (id: number): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await scheduler.nextRound();
      seen.push({ work: id, round: count.round });
    }
  };
  await Promise.all([work(0), work(1), work(2)]);
  count.stop();
  expect(seen.map((each) => each.work)).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2]);
  expect(new Set(seen.map((each) => each.round)).size).toBeGreaterThan(6); // `count` may stand before or behind them in a round.
});

test("work that comes late is not forgotten", async () => {
  await scheduler.nextRound();
  await scheduler.nextRound();
  await Promise.all([scheduler.nextRound(), scheduler.nextRound()]);
});

test("work is held up until what goes before is over, and others are not", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: string[] = [];
  const before = scheduler.nextRound().then(() => seen.push("yielded before"));
  scheduler.hold(promise);
  const held = scheduler.nextRound().then(() => seen.push("held"));
  await before;
  await Bun.sleep(5);
  seen.push("others");
  resolve();
  await held;
  await scheduler.nextRound();
  expect(seen).toEqual(["yielded before", "others", "held"]);
});
