import { expect, test } from "bun:test";
import { longerBytes, longerWords } from "./longer-array.ts";

test("words are kept, and there is twice the room or what was asked for", () => {
  const check = (words: readonly number[], length: number | undefined, want: readonly number[]): void => {
    expect([...longerWords(Uint32Array.from(words), length)]).toEqual([...want]);
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
  expect([...bytes]).toEqual([1, 2, 3]);
});
