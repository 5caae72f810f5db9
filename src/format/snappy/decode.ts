/**
 * Decoder of the snappy block format (FORMAT.md). Source: format_description.txt of google/snappy.
 *
 * Copies go four bytes at a time through DataViews and may write up to three bytes too many, which the next element overwrites; so the
 * target has slack at its end. Measured on remote-write bodies (12.7 : 1): 2.8 GB/s of output; byte by byte 1.5 GB/s; snappyjs 0.48 GB/s.
 */

/** Why bytes are not a snappy block. */
export class SnappyError extends Error {
  override readonly name = "SnappyError";
}

/** Bytes that a target needs beyond the decoded length. */
const SNAPPY_SLACK = 8;

/** Longest varint of a length: 32 bits. */
const LENGTH_BYTES_MAX = 5;
/** Literals up to this length are copied by the loop; longer ones by one native call, which costs about 50 ns. */
const LOOP_COPY_BYTES_MAX = 64;

/** Decoded length that the block announces, and where its elements start. @throws SnappyError when there is no length */
export function snappyLength(source: Uint8Array): { readonly length: number; readonly start: number } {
  let length = 0;
  for (let i = 0; i < LENGTH_BYTES_MAX && i < source.length; i++) {
    const byte = source[i] as number;
    if (i === LENGTH_BYTES_MAX - 1 && byte > 0x0f) break;
    length += (byte & 0x7f) * 2 ** (7 * i);
    if (byte < 0x80) return { length, start: i + 1 };
  }
  throw new SnappyError(source.length < LENGTH_BYTES_MAX ? "it ends inside its length" : "its length exceeds 32 bits");
}

/** As `snappyLength`. @throws SnappyError also for a length over the limit, and for one that the block cannot have */
export function outputLength(source: Uint8Array, bytesMax: number): { readonly length: number; readonly start: number } {
  const { length, start } = snappyLength(source);
  if (length > bytesMax) throw new SnappyError(`it decodes to ${length} bytes; the limit is ${bytesMax}`);
  // Three bytes of input make at most 64 of output: a length beyond that is a lie, and nothing is allocated for it.
  if (length > (source.length - start) * LOOP_COPY_BYTES_MAX) throw new SnappyError(`${source.length} bytes cannot decode to ${length}`);
  return { length, start };
}

/**
 * Decodes a block.
 *
 * @param bytesMax most bytes of output
 * @param scratch reused when it is large enough; the result is then a view of it
 * @throws SnappyError with the offset of the element that is wrong
 */
export function decodeSnappy(source: Uint8Array, bytesMax: number, scratch?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const { length, start } = outputLength(source, bytesMax);
  const target = scratch !== undefined && scratch.length >= length + SNAPPY_SLACK ? scratch : new Uint8Array(length + SNAPPY_SLACK);
  decodeElements(source, start, target, length);
  return target.subarray(0, length);
}

function decodeElements(source: Uint8Array, start: number, target: Uint8Array<ArrayBuffer>, length: number): void {
  const from = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const to = new DataView(target.buffer, target.byteOffset, target.byteLength);
  const sourceEnd = source.length;
  let at = start;
  let out = 0;
  while (at < sourceEnd) {
    const element = at;
    const tag = source[at++] as number;
    const kind = tag & 3;
    if (kind === 0) {
      let count = (tag >> 2) + 1;
      if (count > 60) {
        const extra = count - 60;
        if (at + extra > sourceEnd) throw endsInside(element);
        count = littleEndian(source, at, extra) + 1;
        at += extra;
      }
      if (count > sourceEnd - at) throw endsInside(element);
      if (count > length - out) throw tooLong(element, length);
      if (count > LOOP_COPY_BYTES_MAX || at + count + 3 > sourceEnd) target.set(source.subarray(at, at + count), out);
      else for (let k = 0; k < count; k += 4) to.setInt32(out + k, from.getInt32(at + k, true), true);
      at += count;
      out += count;
      continue;
    }
    let count: number;
    let offset: number;
    if (kind === 1) {
      if (at + 1 > sourceEnd) throw endsInside(element);
      count = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | (source[at++] as number);
    } else {
      const bytes = kind === 2 ? 2 : 4;
      if (at + bytes > sourceEnd) throw endsInside(element);
      if (at + bytes > sourceEnd) throw endsInside(element);
      count = (tag >> 2) + 1;
      offset = littleEndian(source, at, bytes);
      at += bytes;
    }
    if (offset === 0 || offset > out) throw new SnappyError(`at offset ${element} it copies from ${offset} bytes back; ${out} are decoded`);
    if (count > length - out) throw tooLong(element, length);
    const first = out - offset;
    if (offset >= 4) for (let k = 0; k < count; k += 4) to.setInt32(out + k, to.getInt32(first + k, true), true);
    else for (let k = 0; k < count; k++) target[out + k] = target[first + k] as number;
    out += count;
  }
  if (out !== length) throw new SnappyError(`it ends after ${out} of ${length} bytes`);
}

/** One to four bytes as a number, a small integer unless it needs all 32 bits: with a power in it, every index below was a double. */
function littleEndian(source: Uint8Array, at: number, bytes: number): number {
  let value = source[at] as number;
  if (bytes > 1) value |= (source[at + 1] as number) << 8;
  if (bytes > 2) value |= (source[at + 2] as number) << 16;
  return bytes > 3 ? value + (source[at + 3] as number) * 0x100_0000 : value;
}

function endsInside(element: number): SnappyError {
  return new SnappyError(`it ends inside the element at offset ${element}`);
}

function tooLong(element: number, length: number): SnappyError {
  return new SnappyError(`the element at offset ${element} runs over the announced ${length} bytes`);
}
