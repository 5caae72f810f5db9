import { expect, test } from "bun:test";
import { fixedClock } from "../../base/clock.ts";
import { LINE_DECODER_IDLE_MS, LINE_DECODERS_BYTES_MAX, LINE_DECODERS_MAX } from "./limits.ts";
import { KeptDecoders } from "./kept-decoders.ts";

function make() {
  const clock = fixedClock(0n);
  let made = 0;
  const decoders = new KeptDecoders(() => {
    made++;
    return { memoryBytes: 100, decode: () => expect.unreachable() };
  }, clock);
  return { clock, decoders, made: () => made };
}

test("a database keeps its decoder", () => {
  const { decoders, made } = make();
  expect(decoders.of("a")).toBe(decoders.of("a"));
  expect(decoders.of("b")).not.toBe(decoders.of("a"));
  expect([made(), decoders.bytes()]).toEqual([2, 200]);
});

test("the one used longest ago goes when there are too many", () => {
  const { decoders, made } = make();
  for (let i = 0; i < LINE_DECODERS_MAX; i++) decoders.of(`d${i}`);
  const first = decoders.of("d0");
  decoders.of("one more");
  expect(decoders.bytes()).toBe(LINE_DECODERS_MAX * 100);
  expect(decoders.of("d0")).toBe(first);
  const before = made();
  decoders.of("d1");
  expect(made()).toBe(before + 1);
});

test("the one that is used stays when memory is short, the others go as far as needed", () => {
  const { decoders } = make();
  for (const name of ["a", "b", "c"]) decoders.of(name);
  const last = decoders.of("a");
  decoders.giveBack(50);
  expect(decoders.bytes()).toBe(200);
  decoders.giveBack(1e9);
  expect([decoders.bytes(), decoders.of("a")]).toEqual([100, last]);
});

test("those that learnt too much together make way for the one that is used", () => {
  const decoders = new KeptDecoders(() => ({ memoryBytes: LINE_DECODERS_BYTES_MAX, decode: () => expect.unreachable() }), fixedClock(0n));
  decoders.of("a");
  decoders.of("b");
  const kept = decoders.of("b");
  expect([decoders.bytes(), decoders.of("b")]).toEqual([LINE_DECODERS_BYTES_MAX, kept]);
});

test("one that nobody used for long goes, also the last", () => {
  const { decoders, clock } = make();
  decoders.of("a");
  clock.set(BigInt(LINE_DECODER_IDLE_MS) * 1_000_000n);
  decoders.of("b");
  decoders.tidy();
  expect(decoders.bytes()).toBe(200);
  clock.set(BigInt(LINE_DECODER_IDLE_MS + 1) * 1_000_000n);
  decoders.tidy();
  expect(decoders.bytes()).toBe(100);
  clock.set(BigInt(3 * LINE_DECODER_IDLE_MS) * 1_000_000n);
  decoders.tidy();
  expect(decoders.bytes()).toBe(0);
});
