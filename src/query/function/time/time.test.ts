import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { binBuckets, bucketIndexOf, bucketStartOf, truncBuckets } from "./buckets.ts";
import { formatTimestamp } from "../../../value/format-time.ts";
import { addInterval } from "./interval.ts";
import { parseTimestamp } from "../../../value/parse-time.ts";

const SECOND = 1_000_000_000n;

describe("intervals", () => {
  test("of months keep to the end of the month", () => {
    const jan31 = parseTimestamp("2024-01-31 10:00:00", "UTC") ?? 0n;
    expect(formatTimestamp(addInterval(jan31, "nanosecond", { months: 1, days: 0, nanos: 0n }, 1), "nanosecond")).toBe(
      "2024-02-29T10:00:00",
    );
    expect(formatTimestamp(addInterval(jan31, "nanosecond", { months: 2, days: 1, nanos: 0n }, -1), "nanosecond")).toBe(
      "2023-11-29T10:00:00",
    );
  });
});

describe("buckets", () => {
  test("begin where the calendar says", () => {
    const check = (precision: string, want: string): void => {
      const time = parseTimestamp("2024-08-14 13:47:05.123", "UTC") ?? 0n;
      const buckets = truncBuckets(precision, "nanosecond");
      expect([precision, buckets && formatTimestamp(bucketStartOf(buckets, bucketIndexOf(buckets, time)), "nanosecond")]).toEqual([
        precision,
        want,
      ]);
    };
    check("year", "2024-01-01T00:00:00");
    check("quarter", "2024-07-01T00:00:00");
    check("month", "2024-08-01T00:00:00");
    check("week", "2024-08-12T00:00:00");
    check("day", "2024-08-14T00:00:00");
    check("minute", "2024-08-14T13:47:00");
    check("millisecond", "2024-08-14T13:47:05.123");
    expect(truncBuckets("fortnight", "second")).toBeUndefined();
  });

  test("hold their times, before the origin too", () => {
    const strides = fc.record({
      months: fc.constantFrom(0, 0, 1, 3, 12),
      days: fc.constantFrom(0, 0, 1),
      nanos: fc.bigInt({ min: 0n, max: 7200n * SECOND }),
    });
    fc.assert(
      fc.property(
        strides,
        fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
        fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }),
        (stride, time, origin) => {
          const buckets = binBuckets(stride, "nanosecond", origin);
          if (buckets === undefined) return;
          const index = bucketIndexOf(buckets, time);
          expect(bucketStartOf(buckets, index) <= time && time < bucketStartOf(buckets, index + 1n)).toBe(true);
        },
      ),
      { seed: 2 },
    );
  });

  test("refuse strides that mean nothing", () => {
    expect(binBuckets({ months: 0, days: 0, nanos: 0n }, "second", 0n)).toBeUndefined();
    expect(binBuckets({ months: 1, days: 1, nanos: 0n }, "second", 0n)).toBeUndefined();
    expect(binBuckets({ months: 0, days: 0, nanos: 1n }, "second", 0n)).toBeUndefined();
  });
});
