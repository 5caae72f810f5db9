import { expect, test } from "bun:test";
import zlib from "node:zlib";
import { isWholeZstd } from "./zstd-frames.ts";

const pieces = [Buffer.alloc(0), Buffer.from("hello"), Buffer.alloc(400_000, "abc"), Buffer.from("a short text of its own")];
const plain = pieces.map((piece) => zlib.zstdCompressSync(piece));
const checked = zlib.zstdCompressSync("hello", { params: { [zlib.constants.ZSTD_c_checksumFlag]: 1 } });
/** A frame that a reader skips: magic, length 3, three bytes. */
const skippable = Buffer.from("502a4d1803000000010203", "hex");

test("whole frames are whole, alone and one after the other", () => {
  for (const frame of [...plain, checked, skippable]) expect(isWholeZstd(frame)).toBe(true);
  expect(isWholeZstd(Buffer.concat([...plain, skippable, checked]))).toBe(true);
});

test("a frame that is cut anywhere, or followed by something else, is not", () => {
  for (const frame of [...plain, checked, skippable]) {
    for (let length = 0; length < Math.min(frame.length, 200); length++) expect(isWholeZstd(frame.subarray(0, length))).toBe(false);
    expect(isWholeZstd(Buffer.concat([frame, Buffer.from([0])]))).toBe(false);
  }
  expect(isWholeZstd(Buffer.from("cpu v=1 and more of the same"))).toBe(false);
});
