import { describe, expect, test } from "bun:test";
import { fitsPattern, keyGaps, keyPattern, locateValues } from "./key-pattern.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(`  ${text} `);
const pattern = keyPattern("cpu=1", ["host", "région"]);

function fits(key: string): boolean {
  const bytes = encode(key);
  return fitsPattern(bytes, 2, bytes.length - 1, pattern);
}

function valuesOf(key: string, table: string, ...names: readonly string[]): string[] {
  const bytes = encode(key);
  const spans = new Uint32Array(names.length * 2 + 1);
  locateValues(bytes, 2, bytes.length - 1, { table, names, gaps: keyGaps(table, names) }, spans, 1);
  return names.map((_, i) => new TextDecoder().decode(bytes.subarray(spans[2 * i + 1], spans[2 * i + 2])));
}

describe("a key pattern", () => {
  test("fits keys of its shape, whatever their ASCII values", () => {
    expect(["cpu=1,host=a,région=b", `cpu=1,host=${"x".repeat(1000)},région=!"#$'`].map(fits)).toEqual([true, true]);
  });

  test("fits no other", () => {
    const others = [
      "cpu=1",
      "cpu=1,host=a",
      "cpu=1,host=,région=b",
      "cpu=1,host=a,région=",
      "cpu=1,host=a,région=b,",
      "cpu=1,host=a,région=b,more=c",
      "cpu=2,host=a,région=b",
      "cpu=1,hosts=a,région=b",
      "cpu=1,région=b,host=a",
      "cpu=1,host=a=b,région=b",
      "cpu=1,host=a\\\\,région=b",
      "cpu=1,host=ä,région=b",
      "cpu=1,host=a\x7f,région=b",
      `cpu=1,host=${"x".repeat(70_000)},région=b`,
    ];
    expect(others.filter(fits)).toEqual([]);
  });
});

test("values of a key are found", () => {
  expect(valuesOf("cpu=1,host=a,région=bé", "cpu=1", "host", "région")).toEqual(["a", "bé"]);
  expect(valuesOf("cpu", "cpu")).toEqual([]);
});

test("values of a shape that does not say what stands before them are a bug", () => {
  expect(() => locateValues(encode("cpu,a=b"), 2, 9, { table: "cpu", names: ["a"] }, new Uint32Array(2), 0)).toThrow("of cpu says what");
});
