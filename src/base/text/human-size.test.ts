import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseHumanSize, printHumanSize, printReadableSize } from "./human-size.ts";

function check(text: string, want: number | string): void {
  const result = parseHumanSize(text);
  if (typeof want === "number") expect<unknown>(result).toEqual({ ok: true, value: want });
  else expect<unknown>(result).toEqual({ ok: false, reason: expect.stringContaining(want) });
}

test("reads binary units in every spelling", () => {
  check("0", 0);
  check("4096", 4096);
  check("10B", 10);
  check("1k", 1024);
  check("1KB", 1024);
  check(" 64 MiB ", 67_108_864);
  check("1.5GiB", 1_610_612_736);
  check("0.5KiB", 512);
  check("2tb", 2 ** 41);
  check("1PiB", 2 ** 50);
});

test("refuses what is no size", () => {
  check("", "want a number");
  check("MiB", "want a number");
  check("-1KiB", "want a number");
  check("1e3", "want a number");
  check("1 2", "want a number");
  check("1MiBs", 'unknown unit "MiBs"');
  check("1Mi", 'unknown unit "Mi"');
  check("1EiB", 'unknown unit "EiB"');
  check("9000PiB", "too large");
});

test("prints the largest unit that divides", () => {
  expect(printHumanSize(0)).toBe("0KiB");
  expect(printHumanSize(1)).toBe("1");
  expect(printHumanSize(1025)).toBe("1025");
  expect(printHumanSize(1024)).toBe("1KiB");
  expect(printHumanSize(64 * 1024 * 1024)).toBe("64MiB");
  expect(printHumanSize(1536 * 1024)).toBe("1536KiB");
  expect(printHumanSize(5 * 2 ** 30)).toBe("5GiB");
  expect(printHumanSize(2 ** 50)).toBe("1PiB");
});

test("reads back what it prints", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (bytes) => expect<unknown>(parseHumanSize(printHumanSize(bytes))).toEqual({ ok: true, value: bytes })),
    { seed: 7 },
  );
});

test("prints the largest unit that is filled, with a digit behind the point", () => {
  const check = (bytes: number, want: string): void => expect(printReadableSize(bytes)).toBe(want);
  check(0, "0B");
  check(1023, "1023B");
  check(1024, "1.0KiB");
  check(1536, "1.5KiB");
  check(1024 ** 5 * 2048, "2048.0PiB");
});
