import { expect, test } from "bun:test";
import { blake3 } from "./blake3.ts";

function check(text: string, times: number, want: string): void {
  expect([text, times, blake3(new TextEncoder().encode(text.repeat(times))).toHex()]).toEqual([text, times, want]);
}

test("digests nothing, a block, whole chunks and trees that are not full", () => {
  check("", 1, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
  check("abc", 1, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  check("0123456789abcdef", 64, "cd95a00556873e07e6f051677509a338e17af3678b4ab696927dae3da3002aa0");
  check("0123456789abcdef", 65, "02288a8770f888e40e423e5b32d9bd26dc004ec1a79b840c5b87ef7622d90fae");
  check("0123456789abcdef", 128, "afa04188f349534840956535e570107079eeb82d1483a6c1bb85df0291b4a0f2");
  check("0123456789abcdef", 321, "a84698d8e384471df6be442107392118969ec57198d71da911df79d5ba9fd487");
  check("0123456789abcdef", 5000, "9d4f3494a05a74f08c481715fa1cc2db662dd32e406e4af003ef7cc47d124cbd");
});

test("does not change what it digests", () => {
  const bytes = new Uint8Array(2048).fill(7);
  const digest = blake3(bytes);
  expect(bytes.every((byte) => byte === 7)).toBe(true);
  expect(blake3(bytes.slice())).toEqual(digest);
  bytes[2047] = 8;
  expect(blake3(bytes)).not.toEqual(digest);
});
