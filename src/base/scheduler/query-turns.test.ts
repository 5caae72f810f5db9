import { RoundCount } from "../../../test/support/round-count.ts";
import { expect, test } from "bun:test";
import { QueryTurns } from "./query-turns.ts";

/** What queries take, instead of time. */
let now = 0;
const clock = { monotonicMillis: (): number => now };

/** Begins queries of so many milliseconds at once; the rounds of the event loop in which they began, counted from the first. */
async function begun(durations: readonly number[]): Promise<readonly number[]> {
  const turns = new QueryTurns(clock, setImmediate);
  const count = new RoundCount();
  const rounds: number[] = [];
  await Promise.all(
    durations.map(async (milliseconds, i) => {
      await turns.take();
      rounds[i] = count.round;
      now += milliseconds;
      turns.done();
    }),
  );
  count.stop();
  return rounds;
}

test("a round that has had its time leaves the rest to the next", async () => {
  const rounds = await begun([20, 20, 20, 20]);
  expect(new Set(rounds).size).toBe(4);
  expect([...rounds]).toEqual([...rounds].sort((a, b) => a - b));
});

test("the first begins at once", () => {
  const turns = new QueryTurns(clock, setImmediate);
  expect([turns.asked, turns.take(), turns.asked]).toEqual([0, undefined, 1]);
});

test("short ones share a round", async () => {
  const rounds = await begun(new Array<number>(40).fill(0));
  expect(new Set(rounds).size).toBeLessThan(40);
});

test("one that waits for something else stops none", async () => {
  const turns = new QueryTurns(clock, setImmediate);
  const never = turns.take();
  expect(never).toBeUndefined();
  now += 20;
  await turns.take();
  await turns.take();
});

test("rounds are longer once queries have waited for long", async () => {
  const rounds = await begun(new Array<number>(24).fill(6));
  const inRound = [...new Set(rounds)].map((round) => rounds.filter((each) => each === round).length);
  expect(inRound.slice(0, 2)).toEqual([2, 2]);
  expect(inRound.at(-2)).toBe(3);
});
