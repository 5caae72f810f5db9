/**
 * LZ4 as Parquet files have it: one raw block, or, of older writers, Hadoop's frames of blocks with two big-endian lengths before each.
 * Source: the LZ4 block format description.
 */

const MATCH_MIN = 4;

/** The bytes of a page. @param length of the result @throws Error when the input does not give that many */
export function decompressLz4(input: Uint8Array, length: number): Uint8Array {
  return hadoopFrames(input, length) ?? block(input, 0, input.length, new Uint8Array(length), 0, length);
}

/** Undefined when the lengths do not add up: then it is a raw block. */
function hadoopFrames(input: Uint8Array, length: number): Uint8Array | undefined {
  const view = new DataView(input.buffer, input.byteOffset, input.length);
  const output = new Uint8Array(length);
  let out = 0;
  for (let at = 0; at < input.length; ) {
    if (at + 8 > input.length) return undefined;
    const unpacked = view.getUint32(at);
    const packed = view.getUint32(at + 4);
    at += 8;
    if (out + unpacked > length || at + packed > input.length) return undefined;
    try {
      block(input, at, at + packed, output, out, out + unpacked);
    } catch {
      return undefined; // What looked like lengths was not: the caller reads it as one block, and throws if that fails.
    }
    at += packed;
    out += unpacked;
  }
  return out === length ? output : undefined;
}

/** Unpacks `input[from, to)` into `output[start, end)`. @throws Error */
function block(input: Uint8Array, from: number, to: number, output: Uint8Array, start: number, end: number): Uint8Array {
  let at = from;
  let out = start;
  const more = (nibble: number): number => {
    let count = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; ) {
      byte = input[at++] ?? 0;
      count += byte;
    }
    return count;
  };
  while (at < to) {
    const token = input[at++] ?? 0;
    const literals = more(token >> 4);
    if (at + literals > to || out + literals > end) throw new Error("an LZ4 block is damaged: literals beyond its end");
    output.set(input.subarray(at, at + literals), out);
    at += literals;
    out += literals;
    if (at >= to) break;
    const distance = (input[at] ?? 0) | ((input[at + 1] ?? 0) << 8);
    at += 2;
    const length = more(token & 15) + MATCH_MIN;
    if (distance === 0 || out - distance < start || out + length > end) throw new Error("an LZ4 block is damaged: a match out of range");
    for (let i = 0; i < length; i++, out++) output[out] = output[out - distance] as number;
  }
  if (out !== end) throw new Error(`an LZ4 block is damaged: ${out - start} bytes instead of ${end - start}`);
  return output;
}
