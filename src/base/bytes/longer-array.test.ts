import { expect, test } from "bun:test";
import { grown, longer, longerBytes, resized } from "./longer-array.ts";

test("words are kept, and there is twice the room or what was asked for", () => {
  const check = (words: readonly number[], length: number | undefined, want: readonly number[]): void => {
    expect([...longer(Uint32Array.from(words), length)]).toEqual([...want]);
  };
  check([1, 2], undefined, [1, 2, 0, 0]);
  check([1, 2], 3, [1, 2, 0, 0]);
  check([1, 2], 5, [1, 2, 0, 0, 0]);
  check([], undefined, [0]);
});

test("bytes are kept as far as they are used", () => {
  const bytes = Uint8Array.of(1, 2, 3);
  expect([...longerBytes(bytes, 2, 4)]).toEqual([1, 2, 0, 0, 0, 0]);
  expect([...longerBytes(bytes, 3, 8)]).toEqual([1, 2, 3, 0, 0, 0, 0, 0]);
  expect([...longerBytes(bytes, 2, 4, 5)]).toEqual([1, 2, 0, 0, 0]);
  expect([...bytes]).toEqual([1, 2, 3]);
});

test("an array of any numbers grows into one of its own kind, and leaves the old one as it was", () => {
  const halves = Uint16Array.of(1, 2);
  expect(longer(halves)).toEqual(Uint16Array.of(1, 2, 0, 0));
  expect(longer(Float64Array.of(0.5), 3)).toEqual(Float64Array.of(0.5, 0, 0));
  expect(resized(Int32Array.of(-1, 2), 3)).toEqual(Int32Array.of(-1, 2, 0));
  expect(resized(BigInt64Array.of(-1n), 2)).toEqual(BigInt64Array.of(-1n, 0n));
  expect(halves).toEqual(Uint16Array.of(1, 2));
});

test("an array that is long enough stays, and a short one grows to 64 elements or more", () => {
  const codes = Uint32Array.of(1, 2);
  expect(grown(codes, 2)).toBe(codes);
  expect(grown(codes, 3)).toEqual(resized(codes, 64));
  expect(grown(resized(codes, 50), 51).length).toBe(100);
});
