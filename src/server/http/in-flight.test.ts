import { expect, test } from "bun:test";
import { InFlightBytes } from "./in-flight.ts";

test("admits up to the limit, and more once bytes are given back", async () => {
  const bytes = new InFlightBytes(100, 10_000);
  expect(await bytes.acquire(60)).toBe(true);
  expect(await bytes.acquire(40)).toBe(true);
  const late = bytes.acquire(50);
  bytes.release(40);
  bytes.release(60);
  expect(await late).toBe(true);
});

test("refuses at once what can never fit, and in time what does not", async () => {
  const bytes = new InFlightBytes(100, 10);
  expect(await bytes.acquire(101)).toBe(false);
  expect(await bytes.acquire(100)).toBe(true);
  expect(await bytes.acquire(1)).toBe(false);
  bytes.release(100);
  expect(await bytes.acquire(100)).toBe(true);
});

test("small requests do not pass a large one that waits; when it gives up they follow", async () => {
  const bytes = new InFlightBytes(100, 30);
  await bytes.acquire(50);
  const order: string[] = [];
  const large = bytes.acquire(80).then((admitted) => order.push(`large ${admitted}`));
  const small = bytes.acquire(10).then((admitted) => order.push(`small ${admitted}`));
  await Promise.all([large, small]);
  expect(order).toEqual(["large false", "small true"]);
});

test("without a limit nothing waits", async () => {
  const bytes = new InFlightBytes(0, 10);
  expect(await bytes.acquire(Number.MAX_SAFE_INTEGER)).toBe(true);
  bytes.release(Number.MAX_SAFE_INTEGER);
});
