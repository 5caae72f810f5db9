import { expect, test } from "bun:test";
import { ZstdFrames } from "./zstd-frames.ts";

function wholeAt(bytes: Uint8Array, step: number): boolean {
  const frames = new ZstdFrames();
  for (let at = 0; at < bytes.length; at += step) frames.push(bytes.subarray(at, at + step));
  return frames.isWhole;
}

const samples: readonly Uint8Array[] = [
  new Uint8Array(0),
  new Uint8Array(1000),
  Uint8Array.from({ length: 300_000 }, (_, i) => (i * 2_654_435_761) >>> 24),
  new TextEncoder().encode("host,usage\n".repeat(50_000)),
].map((sample) => Bun.zstdCompressSync(sample));

test("whole frames end whole, in whatever pieces they come", () => {
  for (const sample of samples) for (const step of [1, 7, 65_536]) expect(wholeAt(sample, step)).toBe(true);
  expect(wholeAt(Buffer.concat([...samples]), 1000)).toBe(true);
  const skipped = Buffer.from("502a4d1803000000aabbcc", "hex");
  expect(wholeAt(Buffer.concat([skipped, ...samples]), 3)).toBe(true);
});

test("frames that are cut off do not", () => {
  for (const sample of samples) {
    for (const cut of [1, 4, sample.length >> 1, sample.length - 1]) expect(wholeAt(sample.subarray(0, cut), 64)).toBe(false);
  }
});
