import { expect, test } from "bun:test";
import zlib from "node:zlib";
import { isWholeZstd, zstdContentSize, ZstdFrames, zstdSizeMax } from "./frames.ts";

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

const pieces = [Buffer.alloc(0), Buffer.from("hello"), Buffer.alloc(400_000, "abc"), Buffer.from("a short text of its own")];
const plain = pieces.map((piece) => zlib.zstdCompressSync(piece));
const checked = zlib.zstdCompressSync("hello", { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } });
const skippable = Buffer.from("502a4d1803000000010203", "hex");

test("bytes are whole frames, alone and one after the other", () => {
  for (const frame of [...plain, checked, skippable]) expect(isWholeZstd(frame)).toBe(true);
  expect(isWholeZstd(Buffer.concat([...plain, skippable, checked]))).toBe(true);
});

test("bytes that are cut anywhere, followed by something else, or no frame are not", () => {
  for (const frame of [...plain, checked, skippable]) {
    for (let length = 0; length < Math.min(frame.length, 200); length++) expect(isWholeZstd(frame.subarray(0, length))).toBe(false);
    expect(isWholeZstd(Buffer.concat([frame, Buffer.from([0])]))).toBe(false);
  }
  expect(isWholeZstd(Buffer.from("cpu v=1 and more of the same"))).toBe(false);
  expect(isWholeZstd(Buffer.from("28b52ffd2005070000000000", "hex"))).toBe(false); // a block of the reserved kind
});

test("a frame says how long it unfolds, where it does", () => {
  expect(zstdContentSize(zlib.zstdCompressSync("a text of some thirty characters"))).toBe(32);
  expect(zstdContentSize(zlib.zstdCompressSync(Buffer.alloc(400_000, "abc")))).toBe(400_000);
  expect(zstdContentSize(zlib.zstdCompressSync("a"))).toBe(1);
  for (const length of [0, 4, 5]) expect(zstdContentSize(zlib.zstdCompressSync("a").subarray(0, length))).toBeUndefined();
  expect(zstdContentSize(Buffer.from("cpu v=1 and more of the same"))).toBeUndefined();
});

test("whole frames tell the most that they unfold to", () => {
  for (const [i, frame] of plain.entries()) expect(zstdSizeMax(frame)).toBe(pieces[i]!.length);
  expect(zstdSizeMax(Buffer.concat([...plain, skippable, checked]))).toBe(pieces.reduce((sum, { length }) => sum + length, 5));
  for (const sample of samples) expect(zstdSizeMax(sample)).toBe(zlib.zstdDecompressSync(sample).length);
  expect(zstdSizeMax(skippable)).toBe(0);
});

test("frames without a size tell what their blocks hold", () => {
  const frame = (...blocks: string[]): Buffer => Buffer.from(`28b52ffd0058${blocks.join("")}`, "hex"); // window of 2 MiB
  const block = (kind: number, size: number, isLast: boolean): string => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE((size << 3) | (kind << 1) | Number(isLast));
    return head.toString("hex", 0, 3);
  };
  expect(zstdSizeMax(frame(block(0, 3, false), "010203", block(1, 70_000, true), "ff"))).toBe(70_003);
  expect(zstdSizeMax(frame(block(2, 2, false), "0102", block(2, 1, true), "07"))).toBe(2 * 131_072);
  expect(zstdSizeMax(Buffer.from(`28b52ffd0000${block(2, 2, true)}0102`, "hex"))).toBe(1024); // window of 1 KiB
  expect(zstdSizeMax(frame(block(3, 1, true), "00"))).toBeUndefined();
  expect(zstdSizeMax(frame(block(0, 0, false).repeat(1 << 20), block(0, 0, true)))).toBeUndefined();
});

test("what is cut off, or followed by something else, tells nothing", () => {
  for (const frame of [...plain, checked, skippable]) {
    for (let length = 0; length < Math.min(frame.length, 200); length++) expect(zstdSizeMax(frame.subarray(0, length))).toBeUndefined();
    expect(zstdSizeMax(Buffer.concat([frame, Buffer.from([0])]))).toBeUndefined();
  }
  expect(zstdSizeMax(Buffer.from("cpu v=1 and more of the same"))).toBeUndefined();
});
