import { expect, test } from "bun:test";
import { testIo } from "../../../test/support/tool-io.ts";
import { systemClock } from "../../base/clock.ts";
import { ByteProgress, byteText, progressLine } from "./byte-progress.ts";

test("says how much is done, how fast and how long it will take", () => {
  const line = progressLine("checking", 3 * 2 ** 30, 4 * 2 ** 30, 30_000);
  expect(line).toBe(`checking ${"█".repeat(18)}${"░".repeat(6)} 3.0 GiB of 4.0 GiB, 102 MiB/s, 10 s left`);
  expect(progressLine("copying", 0, 0, 0)).toBe(`copying ${"█".repeat(24)} 0 B of 0 B, 0 B/s`);
  expect(progressLine("copying", 1, 100_000, 1000)).toEndWith("1 B/s, 27 h 46 min left");
  expect([byteText(1023), byteText(1024), byteText(2 ** 50)]).toEqual(["1023 B", "1.0 KiB", "1024 TiB"]);
});

test("draws on a terminal, at most five times a second, and never on a pipe", () => {
  let now = 0;
  const clock = { ...systemClock, monotonicMillis: () => now };
  for (const [isTerminal, lines] of [
    [false, 0],
    [true, 6],
  ] as const) {
    now = 0;
    const io = testIo({}, isTerminal);
    const progress = new ByteProgress(io, "checking", 1000, clock);
    for (let i = 0; i <= 1000; i++, now++) progress.add(1);
    expect(io.printed.err.split("\rchecking").length - 1).toBe(lines);
    progress.clear();
    expect(io.printed.err.endsWith("\r")).toBe(isTerminal);
  }
});
