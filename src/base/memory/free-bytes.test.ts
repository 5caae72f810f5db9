import { expect, test } from "bun:test";
import { freeBytes, freedBytes } from "./free-bytes.ts";

/** Frees an array and compares how many elements are left. */
function check(array: Uint8Array, want: number): void {
  freeBytes(array);
  expect(array.length).toBe(want);
}

test("an array that has a buffer of its own is empty from then on", () => {
  const array = new Uint8Array(1 << 20);
  const before = freedBytes();
  check(array, 0);
  check(array, 0); // Twice does no harm.
  expect(freedBytes() - before).toBe(1 << 20);
});

test("memory of others, shared or small memory stays", () => {
  const buffer = new ArrayBuffer(1 << 20);
  check(new Uint8Array(buffer, 0, 1 << 19), 1 << 19);
  expect(buffer.byteLength).toBe(1 << 20);
  check(new Uint8Array(new SharedArrayBuffer(1 << 20)), 1 << 20);
  check(new Uint8Array(100), 100);
});
