/**
 * LZ4 blocks (FORMAT.md): literals and copies of what came up to 64 KiB before. The hash table of the writer has an entry a hash of four
 * bytes, and looks at fewer places the longer it finds nothing, as the reference does.
 */

/** Bytes that are no LZ4, or do not fit. */
export class Lz4Error extends Error {
  override readonly name = "Lz4Error";
}

const MATCH_MIN = 4;
/** A block ends with at least five literals, and no copy begins within its last twelve bytes. */
const LAST_LITERALS = 5;
const MATCH_END = 12;
const DISTANCE_MAX = 65_535;
const HASH_BITS = 14;
/** Up to so many bytes a loop is faster than a call. */
const LOOP_BYTES_MAX = 64;
/** Places are skipped faster after 2^6 of them without a copy. */
const SKIP_SHIFT = 6;

/**
 * Decodes a block to `output` from `start` on.
 *
 * @param window where the bytes begin that copies may reach back to
 * @returns where the output ends
 * @throws Lz4Error for a block that is cut, reaches before the window, or makes more than `output` holds
 */
export function decodeBlock(input: Uint8Array, output: Uint8Array, start: number, window: number): number {
  const end = input.length;
  let at = 0;
  let used = start;
  while (at < end) {
    const token = input[at++]!;
    let count = token >> 4;
    if (count === 15) {
      let more = 255;
      while (more === 255) {
        if (at >= end) throw cut();
        more = input[at++]!;
        count += more;
      }
    }
    if (at + count > end) throw cut();
    if (used + count > output.length) throw tooMuch(output);
    if (count > LOOP_BYTES_MAX) output.set(input.subarray(at, at + count), used);
    else for (let i = 0; i < count; i++) output[used + i] = input[at + i]!;
    at += count;
    used += count;
    if (at === end) return used; // The last sequence has no copy.
    if (at + 2 > end) throw cut();
    const distance = input[at]! | (input[at + 1]! << 8);
    at += 2;
    if (distance === 0 || used - distance < window) throw new Lz4Error(`a copy from ${distance} bytes back, before what there is`);
    let length = (token & 15) + MATCH_MIN;
    if ((token & 15) === 15) {
      let more = 255;
      while (more === 255) {
        if (at >= end) throw cut();
        more = input[at++]!;
        length += more;
      }
    }
    if (used + length > output.length) throw tooMuch(output);
    const from = used - distance;
    if (distance >= length && length > LOOP_BYTES_MAX) output.copyWithin(used, from, from + length);
    else for (let i = 0; i < length; i++) output[used + i] = output[from + i]!;
    used += length;
  }
  throw cut(); // A block ends with literals.
}

function cut(): Lz4Error {
  return new Lz4Error("a block ends in the middle");
}

function tooMuch(output: Uint8Array): Lz4Error {
  return new Lz4Error(`more than the ${output.length} bytes that were announced`);
}

const table = new Int32Array(1 << HASH_BITS);

/**
 * Encodes a block. Returns the bytes written to `output`, or undefined when they do not fit: it is not worth it then.
 *
 * One loop over locals that compares four bytes at a time, where each sequence was a call that compared byte by byte: whole numbers below
 * 101 in 64 bits 640 -> 890 MB/s of CPU, names of hosts in turn 850 -> 2,800, doubles of two digits 120 -> 320 (lz4.bench.ts, Bun 1.4.5).
 */
export function encodeBlock(input: Uint8Array, output: Uint8Array): number | undefined {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const searchEnd = input.length - MATCH_END;
  const matchEnd = input.length - LAST_LITERALS;
  const room = output.length;
  table.fill(-1);
  let used = 0;
  let anchor = 0;
  let at = 0;
  while (at <= searchEnd) {
    const word = view.getInt32(at, true);
    const slot = Math.imul(word, 0x9e37_79b1) >>> (32 - HASH_BITS);
    const candidate = table[slot]!;
    table[slot] = at;
    if (candidate < 0 || at - candidate > DISTANCE_MAX || view.getInt32(candidate, true) !== word) {
      at += 1 + ((at - anchor) >> SKIP_SHIFT);
      continue;
    }
    const end = sameUntil(view, candidate + MATCH_MIN, at + MATCH_MIN, matchEnd);
    const count = at - anchor;
    const more = end - at - MATCH_MIN;
    // A token, what the two lengths take beside it at most, the literals, a distance.
    if (used + 1 + ((count / 255) | 0) + 1 + count + 2 + ((more / 255) | 0) + 1 > room) return undefined;
    output[used++] = ((count < 15 ? count : 15) << 4) | (more < 15 ? more : 15);
    if (count >= 15) used = writeRest(output, used, count - 15);
    if (count <= LOOP_BYTES_MAX) for (let i = 0; i < count; i++) output[used++] = input[anchor + i]!;
    else {
      output.set(input.subarray(anchor, at), used);
      used += count;
    }
    const distance = at - candidate;
    output[used++] = distance & 0xff;
    output[used++] = distance >> 8;
    if (more >= 15) used = writeRest(output, used, more - 15);
    at = end;
    anchor = end;
  }
  return lastLiterals(input, anchor, output, used);
}

/** The first place from `at` on, or `end`, whose byte is another than that as far behind `from`. */
function sameUntil(view: DataView, from: number, at: number, end: number): number {
  let before = from;
  let place = at;
  for (; place + 4 <= end; place += 4, before += 4) {
    const difference = view.getInt32(before, true) ^ view.getInt32(place, true);
    if (difference !== 0) return place + ((31 - Math.clz32(difference & -difference)) >> 3); // The lowest bit that differs says which byte.
  }
  while (place < end && view.getUint8(before) === view.getUint8(place)) {
    place++;
    before++;
  }
  return place;
}

/** Writes what a length has beyond the 15 of its token. Returns where the output ends. */
function writeRest(output: Uint8Array, from: number, rest: number): number {
  let used = from;
  let left = rest;
  for (; left >= 255; left -= 255) output[used++] = 255;
  output[used++] = left;
  return used;
}

/** Writes a sequence without a copy. Returns where the output ends, or undefined when it does not fit. */
function lastLiterals(input: Uint8Array, anchor: number, output: Uint8Array, from: number): number | undefined {
  const count = input.length - anchor;
  if (from + 1 + count + count / 255 + 1 > output.length) return undefined;
  let used = from;
  output[used++] = Math.min(count, 15) << 4;
  if (count >= 15) used = writeRest(output, used, count - 15);
  output.set(input.subarray(anchor), used);
  return used + count;
}
