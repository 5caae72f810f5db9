/**
 * LZ4 as Parquet files have it: one raw block, or, of older writers, Hadoop's frames of blocks with two big-endian lengths before each.
 */
import { decodeBlock, Lz4Error } from "../../format/lz4/block.ts";

/** The bytes of a page. @param length of the result @throws Lz4Error when the input does not give that many */
export function decompressLz4(input: Uint8Array, length: number): Uint8Array {
  return hadoopFrames(input, length) ?? unpacked(input, new Uint8Array(length), 0, length);
}

/** Undefined when the lengths do not add up: then it is a raw block. */
function hadoopFrames(input: Uint8Array, length: number): Uint8Array | undefined {
  const view = new DataView(input.buffer, input.byteOffset, input.length);
  const output = new Uint8Array(length);
  let out = 0;
  for (let at = 0; at < input.length; ) {
    if (at + 8 > input.length) return undefined;
    const bytes = view.getUint32(at);
    const packed = view.getUint32(at + 4);
    at += 8;
    if (out + bytes > length || at + packed > input.length) return undefined;
    try {
      unpacked(input.subarray(at, at + packed), output, out, out + bytes);
    } catch (error) {
      if (error instanceof Lz4Error) return undefined; // What looked like lengths was not: it is read as one block, and told if that fails.
      throw error;
    }
    at += packed;
    out += bytes;
  }
  return out === length ? output : undefined;
}

/** Unpacks a block into `output[start, end)`. @throws Lz4Error when it gives more or less */
function unpacked(block: Uint8Array, output: Uint8Array, start: number, end: number): Uint8Array {
  if (block.length === 0 && start === end) return output;
  const used = decodeBlock(block, output.subarray(0, end), start, start);
  if (used !== end) throw new Lz4Error(`a block has ${used - start} bytes instead of ${end - start}`);
  return output;
}
