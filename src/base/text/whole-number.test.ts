import { expect, test } from "bun:test";
import { wholeNumberOf } from "./whole-number.ts";

test.each([
  ["0", 0],
  ["5", 5],
  ["0005", 5],
  ["9007199254740991", Number.MAX_SAFE_INTEGER],
])("takes %p", (text, want) => expect(wholeNumberOf(text)).toBe(want));

test.each(
  ["", "+5", "-5", "5.0", "5e0", "0x5", " 5", "5 ", "5, 5", "٥", "NaN", "Infinity", "1_000"].concat([
    "9007199254740992",
    "9007199254740993",
    "18446744073709551621",
    "9".repeat(400),
    "0".repeat(1_000_000),
  ]),
)("refuses %p", (text) => expect(wholeNumberOf(text)).toBeUndefined());

test("refuses what is above a limit", () => {
  expect([wholeNumberOf("10", 10), wholeNumberOf("11", 10)]).toEqual([10, undefined]);
});
