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

/** Encodes a block. Returns the bytes written to `output`, or undefined when they do not fit: it is not worth it then. */
export function encodeBlock(input: Uint8Array, output: Uint8Array): number | undefined {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const searchEnd = input.length - MATCH_END;
  const matchEnd = input.length - LAST_LITERALS;
  table.fill(-1);
  const writer = new SequenceWriter(input, output);
  let anchor = 0;
  let at = 0;
  while (at <= searchEnd) {
    const word = view.getUint32(at, true);
    const slot = Math.imul(word, 0x9e37_79b1) >>> (32 - HASH_BITS);
    const candidate = table[slot]!;
    table[slot] = at;
    if (candidate < 0 || at - candidate > DISTANCE_MAX || view.getUint32(candidate, true) !== word) {
      at += 1 + ((at - anchor) >> SKIP_SHIFT);
      continue;
    }
    let length = MATCH_MIN;
    while (at + length < matchEnd && input[candidate + length]! === input[at + length]!) length++;
    if (!writer.sequence(anchor, at, at - candidate, length)) return undefined;
    at += length;
    anchor = at;
  }
  return writer.literals(anchor) ? writer.used : undefined;
}

/** Writes sequences: a token, literals, and where a copy comes from and how long it is. */
class SequenceWriter {
  used = 0;
  private readonly input: Uint8Array;
  private readonly output: Uint8Array;

  constructor(input: Uint8Array, output: Uint8Array) {
    this.input = input;
    this.output = output;
  }

  /** Literals `[from, to)` and a copy; false when they do not fit. */
  sequence(from: number, to: number, distance: number, length: number): boolean {
    if (!this.token(from, to, Math.min(length - MATCH_MIN, 15), 2 + length / 255 + 1)) return false;
    this.output[this.used++] = distance & 0xff;
    this.output[this.used++] = distance >> 8;
    if (length - MATCH_MIN >= 15) this.rest(length - MATCH_MIN - 15);
    return true;
  }

  /** The last literals; false when they do not fit. */
  literals(from: number): boolean {
    return this.token(from, this.input.length, 0, 0);
  }

  private token(from: number, to: number, low: number, extra: number): boolean {
    const count = to - from;
    if (this.used + 1 + count + count / 255 + 1 + extra > this.output.length) return false;
    this.output[this.used++] = (Math.min(count, 15) << 4) | low;
    if (count >= 15) this.rest(count - 15);
    const { input, output, used } = this;
    if (count > LOOP_BYTES_MAX) output.set(input.subarray(from, to), used);
    else for (let i = 0; i < count; i++) output[used + i] = input[from + i]!;
    this.used = used + count;
    return true;
  }

  private rest(count: number): void {
    let left = count;
    for (; left >= 255; left -= 255) this.output[this.used++] = 255;
    this.output[this.used++] = left;
  }
}
