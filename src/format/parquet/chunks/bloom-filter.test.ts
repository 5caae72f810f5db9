import { describe, expect, test } from "bun:test";
import { textTableOf } from "../../../column/text-table.ts";
import { bloomFilterOf, bloomFilterOfTexts, bloomMayContain } from "./bloom-filter.ts";

const encoder = new TextEncoder();

describe("bloom filters", () => {
  const values = Array.from({ length: 1000 }, (_, i) => encoder.encode(`value-${i}`));
  const filter = bloomFilterOf(values.length, (i) => values[i]!);
  test("contain what was added", () => expect(values.every((value) => bloomMayContain(filter, value))).toBe(true));
  test("exclude most of what was not", () => {
    let passed = 0;
    for (let i = 0; i < 1000; i++) if (bloomMayContain(filter, encoder.encode(`other-${i}`))) passed++;
    expect(passed).toBeLessThan(30);
  });
  test("of a table are those of its texts, long ones too", () => {
    const texts = ["", "a", "bc", "ä", "x".repeat(256), "y".repeat(257), ...Array.from({ length: 500 }, (_, i) => `t${i}`)];
    const encoded = texts.map((text) => encoder.encode(text));
    expect(bloomFilterOfTexts(textTableOf([undefined, ...texts]))).toEqual(bloomFilterOf(texts.length, (i) => encoded[i]!));
    expect(bloomFilterOfTexts(textTableOf([undefined]))).toEqual(bloomFilterOf(0, () => new Uint8Array(0)));
  });
  test("of nothing exclude everything", () =>
    expect(
      bloomMayContain(
        bloomFilterOf(0, () => new Uint8Array(0)),
        values[0]!,
      ),
    ).toBe(false));
});
