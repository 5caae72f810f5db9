import { expect, test } from "bun:test";
import { crc32, fnv1a } from "./hash.ts";

const bytes = new TextEncoder().encode("123456789");

test("CRC-32 gives the check value of its definition", () => {
  expect(crc32(bytes)).toBe(0xcbf43926);
});

test("CRC-32 goes on where it was left", () => {
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(crc32(bytes.subarray(cut), crc32(bytes.subarray(0, cut)))).toBe(0xcbf43926);
  }
});

test("CRC-32 reads shared memory", () => {
  const shared = new Uint8Array(new SharedArrayBuffer(9));
  shared.set(bytes);
  expect(crc32(shared)).toBe(0xcbf43926);
});

test("FNV-1a gives the published values", () => {
  expect(fnv1a(bytes, 0, 0)).toBe(0x811c9dc5);
  expect(fnv1a(new TextEncoder().encode("a"), 0, 1)).toBe(0xe40c292c);
  expect(fnv1a(new TextEncoder().encode("xfoobarx"), 1, 7)).toBe(0xbf9cf968);
});
