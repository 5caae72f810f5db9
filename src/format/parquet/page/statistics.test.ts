import { describe, expect, test } from "bun:test";
import { compareBytes, lowerBound, upperBound } from "./statistics.ts";

const encoder = new TextEncoder();

describe("bounds of bytes", () => {
  const bound = (text: string): [string, string] => {
    const value = encoder.encode(text);
    return [new TextDecoder().decode(lowerBound(value)), new TextDecoder().decode(upperBound(value))];
  };
  test("short values bound themselves", () => expect(bound("abc")).toEqual(["abc", "abc"]));
  test("long values are cut at a character", () => {
    expect(bound(`${"a".repeat(63)}é and more`)).toEqual(["a".repeat(63), `${"a".repeat(62)}b`]);
  });
  test("stay on their side", () => {
    for (const text of ["é".repeat(40), "\u{10ffff}".repeat(20), `${"\x7f".repeat(70)}`]) {
      const value = encoder.encode(text);
      const [low, high] = [lowerBound(value), upperBound(value)];
      expect(compareBytes(low, 0, low.length, value, 0, value.length)).toBe(-1);
      expect(compareBytes(high, 0, high.length, value, 0, value.length)).toBe(1);
    }
  });
});
