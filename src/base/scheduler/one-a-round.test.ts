import { expect, test } from "bun:test";
import type { Soon } from "../clock.ts";
import { Scheduler } from "./scheduler.ts";

const LARGE = 1 << 20;

/** Rounds of an event loop that happen when the test says so. */
class Rounds {
  private callbacks: (() => void)[] = [];
  readonly soon: Soon = (callback) => this.callbacks.push(callback);

  async pass(): Promise<void> {
    const { callbacks } = this;
    this.callbacks = [];
    for (const callback of callbacks) callback();
    await Promise.resolve();
    await Promise.resolve();
  }

  get isIdle(): boolean {
    return this.callbacks.length === 0;
  }
}

test("one large body is decoded a round, in the order in which they came; small ones at once", async () => {
  const rounds = new Rounds();
  const scheduler = new Scheduler(undefined, rounds.soon);
  const order: string[] = [];
  const decode = async (name: string, bytes: number): Promise<void> => {
    await scheduler.decode(bytes);
    order.push(name);
  };
  const all = ["a", "b", "c"].map((name) => decode(name, LARGE));
  all.push(decode("small", 1000));
  await Promise.resolve();
  await Promise.resolve();
  expect(order).toEqual(["a", "small"]);
  await rounds.pass();
  expect(order).toEqual(["a", "small", "b"]);
  await rounds.pass();
  expect(order).toEqual(["a", "small", "b", "c"]);
  await rounds.pass();
  expect(rounds.isIdle).toBe(true);
  expect(scheduler.decode(LARGE)).toBeUndefined();
  await Promise.all(all);
});

test("long work goes on in the next round, one piece each, whatever bodies and queries do", async () => {
  const rounds = new Rounds();
  const scheduler = new Scheduler(undefined, rounds.soon);
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    for (let i = 0; i < 2; i++) {
      await scheduler.nextRound();
      order.push(name);
    }
  };
  const all = [work("a"), work("b")];
  expect(scheduler.decode(LARGE)).toBeUndefined();
  expect(scheduler.queries.take()).toBeUndefined();
  expect(order).toEqual([]);
  for (let i = 0; i < 4; i++) await rounds.pass();
  expect(order).toEqual(["a", "b", "a", "b"]);
  await Promise.all(all);
  await rounds.pass();
  expect(rounds.isIdle).toBe(true);
});
