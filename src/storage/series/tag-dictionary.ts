/**
 * The values of one tag column: dense codes for distinct texts, held as UTF-8.
 *
 *   bytes    | text 1 | text 2 | …          starts   where each begins          slots   by hash of the text: code - 1
 *
 * Beside its text a value costs 4 B of `starts` and 11 to 21 B of `slots`: a million distinct values of 11 B are 31 MiB, where strings in a
 * Map and an array took 130 MiB. Strings are made when somebody asks for one, and kept.
 *
 * Bytes come from decoders, the log and files without becoming strings; a hash seeded for each process keeps crafted values from meeting in
 * one slot.
 */
import { assert } from "../../base/assert.ts";
import { HashSlots, slotOf } from "../../base/bytes/hash-slots.ts";
import { type TextTable, utf8Text } from "../../column/text-table.ts";
import { grownBytes, grownWords, newBytes, newWords, powerOfTwoFrom } from "./shared-array.ts";

const [SEED = 0, FACTOR_BITS = 0] = crypto.getRandomValues(new Uint32Array(2));
/** Odd, so that it loses nothing, and large; secret, so that nobody knows which texts it brings together. */
const FACTOR: number = (FACTOR_BITS | 0x4000_0001) >>> 0;
const encoder = new TextEncoder();

/** Bytes of the text being encoded. */
let scratch = new Uint8Array(256);

/** Hashes of the texts being encoded. */
let hashes = new Int32Array(256);

/** What a string takes beside its characters, and its place in the list. */
const STRING_BYTES = 24;
const POINTER_BYTES = 8;

/** Texts of at most 4 GiB all together: codes and positions are 32 bits. */
const TEXT_BYTES_MAX = 2 ** 32 - 1;

/** See the file header. Codes are given in ascending order and never change. */
export class TagDictionary implements TextTable {
  size = 1;
  bytes: Uint8Array<ArrayBufferLike> = newBytes(32);
  starts: Uint32Array<ArrayBufferLike> = newWords(8);
  private readonly slots: HashSlots = new HashSlots(8);
  /** Strings made so far, by code. */
  private readonly strings: (string | undefined)[] = [undefined];
  private stringBytes = 0;
  /** All codes below it have their string. */
  private complete = 1;

  /** Makes room for `size` values, NULL among them, of `textBytes` together: growing step by step copies and hashes all of them again. */
  reserve(size: number, textBytes: number): void {
    if (textBytes > this.bytes.length) this.bytes = grownBytes(this.bytes, textBytes);
    if (size + 1 > this.starts.length) this.starts = grownWords(this.starts, powerOfTwoFrom(size + 1));
    this.slots.reserve(size);
  }

  /** The code of `source[start, end)`, which is UTF-8; added if new. */
  encodeBytes(source: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(source, start, end);
    const code = this.codeOf(hash, source, start, end);
    return code > 0 ? code : this.add(source, start, end, hash);
  }

  /** `encodeBytes` of `source[spans[from + i * step], spans[from + i * step + 1])` for each i below `count`, into `codes`. */
  encodeSpans(source: Uint8Array, spans: Uint32Array, from: number, step: number, count: number, codes: Uint32Array): void {
    if (hashes.length < count) hashes = new Int32Array(count);
    for (let i = 0, at = from; i < count; i++, at += step) hashes[i] = hashBytes(source, spans[at] as number, spans[at + 1] as number);
    this.slots.fetch(hashes, count);
    for (let i = 0, at = from; i < count; i++, at += step) {
      const hash = hashes[i] as number;
      const start = spans[at] as number;
      const end = spans[at + 1] as number;
      const code = this.codeOf(hash, source, start, end);
      codes[i] = code > 0 ? code : this.add(source, start, end, hash);
    }
  }

  /** The code of `source[start, end)`, or -1. */
  findBytes(source: Uint8Array, start: number, end: number): number {
    const code = this.codeOf(hashBytes(source, start, end), source, start, end);
    return code > 0 ? code : -1;
  }

  /** The code of a text, added if new; 0 for NULL. Lone surrogates become U+FFFD. */
  encode(text: string | undefined): number {
    if (text === undefined) return 0;
    const length = toScratch(text); // Before `scratch` is read: it may be another then.
    return this.encodeBytes(scratch, 0, length);
  }

  /** The code of a text, or -1; 0 for NULL. */
  find(text: string | undefined): number {
    if (text === undefined) return 0;
    const length = toScratch(text);
    return this.findBytes(scratch, 0, length);
  }

  /** The text of a code; undefined for NULL. */
  textOf(code: number): string | undefined {
    if (code === 0) return undefined;
    assert(code < this.size, `a code below ${this.size}; got ${code}`);
    const known = this.strings[code];
    if (known !== undefined) return known;
    for (let next = this.strings.length; next < this.size; next++, this.stringBytes += POINTER_BYTES) this.strings.push(undefined);
    const text = utf8Text(this.bytes, this.starts[code] as number, this.starts[code + 1] as number);
    this.strings[code] = text;
    this.stringBytes += STRING_BYTES + text.length;
    return text;
  }

  /** All texts as strings, by code. Makes those that were not asked for yet: 60 ns and about 70 B each. */
  texts(): readonly (string | undefined)[] {
    for (; this.complete < this.size; this.complete++) this.textOf(this.complete);
    return this.strings;
  }

  /** Bytes held; strings count by how many there are. */
  get byteLength(): number {
    return this.bytes.byteLength + this.starts.byteLength + this.slots.byteLength + this.stringBytes;
  }

  /** 0 when the text has no code. */
  private codeOf(hash: number, source: Uint8Array, start: number, end: number): number {
    const { pairs, mask } = this.slots;
    for (let at = slotOf(hash, mask); ; at = (at + 2) & mask) {
      const code = pairs[at + 1] as number;
      if (code === 0 || (pairs[at] === hash && this.equals(code, source, start, end))) return code;
    }
  }

  private equals(code: number, source: Uint8Array, start: number, end: number): boolean {
    const { bytes, starts } = this;
    let at = starts[code] as number;
    if ((starts[code + 1] as number) - at !== end - start) return false;
    for (let i = start; i < end; i++) if (bytes[at++] !== source[i]) return false;
    return true;
  }

  private add(source: Uint8Array, start: number, end: number, hash: number): number {
    const code = this.size;
    const at = this.starts[code] as number;
    const to = at + end - start;
    if (to > TEXT_BYTES_MAX) assert(false, `texts of a tag column within ${TEXT_BYTES_MAX} bytes; got ${to}`);
    if (to > this.bytes.length) this.bytes = grownBytes(this.bytes, Math.max(to, this.bytes.length * 2));
    if (code + 2 > this.starts.length) this.starts = grownWords(this.starts, this.starts.length * 2);
    const { bytes } = this;
    for (let i = start, into = at; i < end; i++) bytes[into++] = source[i] as number;
    this.starts[code + 1] = to;
    this.size++;
    this.slots.add(hash, code - 1);
    return code;
  }
}

/** Writes a text to `scratch` as UTF-8 and returns its length. */
function toScratch(text: string): number {
  const { length } = text;
  if (length * 3 > scratch.length) scratch = new Uint8Array(length * 3);
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return encoder.encodeInto(text, scratch).written;
    scratch[i] = unit;
  }
  return length;
}

/**
 * A polynomial over pairs of bytes: half the multiplications of one over bytes, and a difference of 16 bits is never undone by the next
 * pair unless one knows the factor, as one of 32 bits could be.
 */
function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED ^ (end - start);
  let i = start;
  for (const pairsEnd = end - 1; i < pairsEnd; i += 2) {
    hash = Math.imul(hash ^ (bytes[i] as number) ^ ((bytes[i + 1] as number) << 8), FACTOR);
  }
  if (i < end) hash = Math.imul(hash ^ (bytes[i] as number), FACTOR);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
