import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseHumanDuration, printHumanDuration } from "./human-duration.ts";

const SECOND = 1_000_000_000n;

function check(text: string, want: bigint | string): void {
  const result = parseHumanDuration(text);
  if (typeof want === "bigint") expect(result).toEqual({ ok: true, value: want });
  else expect(result).toEqual({ ok: false, reason: expect.stringContaining(want) });
}

test("reads every unit, long and short, with and without blanks", () => {
  check("0", 0n);
  check("0s", 0n);
  check("20ms", 20_000_000n);
  check("1ns 1us 1µs 1ms", 1_002_001n);
  check("1m30s", 90n * SECOND);
  check(" 1 h  30 min ", 5400n * SECOND);
  check("7d", 604_800n * SECOND);
  check("1week 1day", 691_200n * SECOND);
  check("30s 1m", 90n * SECOND);
  check("1M", 2_630_016n * SECOND);
  check("2months 29days 2h 52m 48s", 90n * 86_400n * SECOND);
  check("1y", 31_557_600n * SECOND);
});

test("refuses what is no duration and says where", () => {
  check("", "empty");
  check("30", "has no unit");
  check("1h 30", "the number 30 has no unit");
  check("s", "want a whole number at character 1");
  check("-1s", "want a whole number at character 1");
  check("1.5h", "the number 1 has no unit");
  check("1h,2m", "want a whole number at character 3");
  check("3 fortnights", 'unknown unit "fortnights"');
  check("1H", 'unknown unit "H"');
  check("1h -", "want a whole number");
  check("999999999999999999999y", "too long");
  check("1s".repeat(200), "longer than");
  check("forever", "want a whole number");
});

test("prints the longest units", () => {
  expect(printHumanDuration(0n)).toBe("0s");
  expect(printHumanDuration(SECOND)).toBe("1s");
  expect(printHumanDuration(90n * SECOND)).toBe("1m 30s");
  expect(printHumanDuration(86_400n * SECOND)).toBe("1day");
  expect(printHumanDuration(7n * 86_400n * SECOND)).toBe("7days");
  expect(printHumanDuration(90n * 86_400n * SECOND)).toBe("2months 29days 2h 52m 48s");
  expect(printHumanDuration(31_557_600n * SECOND)).toBe("1year");
  expect(printHumanDuration(1_001_001n)).toBe("1ms 1us 1ns");
});

test("reads back what it prints", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n * SECOND - 1n }), (nanos) => {
      expect(parseHumanDuration(printHumanDuration(nanos))).toEqual({ ok: true, value: nanos });
    }),
    { seed: 7 },
  );
});
