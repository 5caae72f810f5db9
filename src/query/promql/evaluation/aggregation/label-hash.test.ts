import { expect, test } from "bun:test";
import { LabelHasher } from "./label-hash.ts";

/** The bytes that Prometheus hashes, one by one. */
function bytesOf(labels: readonly (readonly [string, string])[]): number[] {
  return labels.flat().flatMap((text) => {
    const bytes = [...Buffer.from(text)];
    const { length } = bytes;
    return [...(length < 255 ? [length] : [255, length & 255, (length >> 8) & 255, length >> 16]), ...bytes];
  });
}

function check(labels: readonly (readonly [string, string])[], hasher: LabelHasher): void {
  const hash = Bun.hash.xxHash64(Uint8Array.from(bytesOf(labels)), 0n);
  expect(hasher.placeOf(labels)).toBe(Number(hash) / 2 ** 64);
}

test("hashes names and values behind their sizes, as Prometheus does", () => {
  const hasher = new LabelHasher();
  check([], hasher);
  check([["__name__", "up"]], hasher);
  check([["a", "x".repeat(254)]], hasher);
  check([["a", "x".repeat(255)]], hasher);
  check(
    [
      ["host", "Zürich 東京"],
      ["path", "/é".repeat(40_000)],
      ["z", "1"],
    ],
    hasher,
  );
});

test("a place is a known number: xxHash64 of no byte is 0xef46db3751d8e999", () => {
  expect(new LabelHasher().placeOf([])).toBe(Number(0xef46db3751d8e999n) / 2 ** 64);
});
