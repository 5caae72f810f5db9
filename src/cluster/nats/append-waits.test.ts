import { expect, test } from "bun:test";
import { AppendWaits } from "./append-waits.ts";

const CALL_MILLIS = 10_000;

function waiting(): { readonly waits: AppendWaits; readonly pass: (millis: number) => void; readonly now: () => number } {
  let now = 1000;
  const waits = new AppendWaits({ monotonicMillis: () => now }, CALL_MILLIS);
  return { waits, pass: (millis) => void (now += millis), now: () => now };
}

test("while a stream is silent, waits begin short and grow up to a call's time", () => {
  const { waits, pass, now } = waiting();
  const found: number[] = [];
  for (let i = 0; i < 7; i++) {
    const [sentAt, wait] = [now(), waits.next()];
    found.push(wait);
    pass(wait);
    waits.unanswered(sentAt);
    pass(200);
  }
  expect(found).toEqual([3000, 3000, 3200, 4900, 7450, CALL_MILLIS, CALL_MILLIS]);
});

test("an answer ends the silence", () => {
  const { waits, pass, now } = waiting();
  const sentAt = now();
  waits.unanswered(sentAt);
  pass(9000);
  expect(waits.next()).toBe(4500);
  waits.answered(now());
  expect(waits.next()).toBe(3000);
});

test("where answers take long, waits are four times as long, until they have been fast for a while", () => {
  const { waits, pass, now } = waiting();
  const sentAt = now();
  pass(2000);
  waits.answered(sentAt);
  expect(waits.next()).toBe(8000);
  let answers = 0;
  for (; waits.next() > 3000; answers++) waits.answered(now());
  expect(answers).toBeGreaterThan(5);
  expect(answers).toBeLessThan(20);
});

test("no wait is longer than a call may take", () => {
  const { waits, pass, now } = waiting();
  const sentAt = now();
  pass(9000);
  waits.answered(sentAt);
  expect(waits.next()).toBe(CALL_MILLIS);
});
