import { expect, test } from "bun:test";
import { decodeTurns } from "./decode-turns.ts";

const LARGE = 1 << 20;

/** One round of the event loop. */
function round(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("one large body is decoded a round, in the order in which they came; small ones at once", async () => {
  const order: string[] = [];
  const decode = async (name: string, bytes: number): Promise<void> => {
    await decodeTurns.take(bytes);
    order.push(name);
  };
  const all = ["a", "b", "c"].map((name) => decode(name, LARGE));
  all.push(decode("small", 1000));
  await Promise.resolve();
  await Promise.resolve();
  expect(order).toEqual(["a", "small"]);
  const timer = new Promise<void>((resolve) => setTimeout(() => resolve(), 0));
  await Promise.all([...all, timer]);
  expect(order.filter((name) => name.length === 1)).toEqual(["a", "b", "c"]);
  await round();
  await round();
  expect(decodeTurns.take(LARGE)).toBeUndefined();
  await round();
  await round();
});
