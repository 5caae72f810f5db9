/** Numbers, bytes, times as people read them. */
import { expect, test } from "bun:test";
import { bytesText, countText, inputTime, millisText, momentOf, spanMillis, timeText } from "./format.ts";

test("bytes and counts", () => {
  expect([0, 1023, 1536, 150 * 2 ** 20, Number.NaN].map(bytesText)).toEqual(["0 B", "1023 B", "1.5 KiB", "150 MiB", "–"]);
  expect([0, 999, 12_345, 1_234_567, 0.4412].map(countText)).toEqual(["0", "999", "12.3k", "1.23M", "0.441"]);
});

test("spans of time, both ways", () => {
  expect([0.0005, 0.0123, 12.34, 1500, 83_000, 7_260_000].map(millisText)).toEqual([
    "500 ns",
    "12.3 µs",
    "12.3 ms",
    "1.5 s",
    "1m 23s",
    "2h 1m",
  ]);
  expect(["15m", "1.5h", "30s", "7d", "x", ""].map(spanMillis)).toEqual([900_000, 5_400_000, 30_000, 604_800_000, undefined, undefined]);
});

test("moments, and what an input takes", () => {
  expect(timeText(1_700_000_000_123, 9, "456789", "UTC")).toBe("2023-11-14 22:13:20.123456789");
  expect(timeText(1_700_000_000_123, 0, "", "UTC")).toBe("2023-11-14 22:13:20");
  expect(momentOf(inputTime(1_700_000_000_000, "UTC"), "UTC")).toBe(1_700_000_000_000);
  expect(momentOf("", "UTC")).toBeUndefined();
});
