import { describe, expect, test } from "bun:test";
import { checksumPosition, parseNumbers } from "./footer-keys.ts";

describe("footer values", () => {
  test("numbers", () => expect(parseNumbers("1:22:333", 3)).toEqual([1, 22, 333]));
  test("too few, too many, not numbers", () => {
    for (const text of ["1:2", "1:2:3:4", "", "a:b:c", "1:2:", "1:-2:3", "1:2:99999999999999999"])
      expect(parseNumbers(text, 3)).toBeUndefined();
  });
  test("a footer without a checksum has no place for it", () => expect(checksumPosition(new Uint8Array(100))).toBe(-1));
});
