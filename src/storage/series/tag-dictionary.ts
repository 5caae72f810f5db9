/**
 * The values of one tag column: dense codes for distinct texts, held as UTF-8.
 *
 *   bytes    | text 1 | text 2 | …          starts   where each begins          slots   by hash of the text: code - 1
 *
 * Beside its text a value costs 4 B of `starts` and 11 to 21 B of `slots`: a million distinct values of 11 B are 31 MiB, where strings in a
 * Map and an array took 130 MiB. Strings are made when somebody asks for one, and kept.
 *
 * The texts of a file mostly come in the order in which the last file brought them, or each greater than the last: then nothing is hashed,
 * and slots are made when somebody looks a text up.
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

/** Texts of a file that are looked up together. */
const BLOCK = 256;

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
  /** Codes below it are in `slots`. */
  private indexed = 1;
  /** Values that there is to be room for in `slots`, once they are needed; 0: there is. */
  private expected = 0;
  /** Whether each text is greater than the one before, as far as that is known. */
  private ascends = true;
  /** The code behind the last that a file had. */
  private next = 1;
  /** Strings made so far, by code. */
  private readonly strings: (string | undefined)[] = [undefined];
  private stringBytes = 0;
  /** All codes below it have their string. */
  private complete = 1;

  /** Makes room for `size` values, NULL among them, of `textBytes` together: growing step by step copies and hashes all of them again. */
  reserve(size: number, textBytes: number): void {
    if (textBytes > this.bytes.length) this.bytes = grownBytes(this.bytes, textBytes);
    if (size + 1 > this.starts.length) this.starts = grownWords(this.starts, powerOfTwoFrom(size + 1));
    this.expected = Math.max(this.expected, size);
  }

  /** Codes of a file's texts, which are distinct: `codes[c]` is that of its code c. Added if new. */
  encodeTexts(texts: TextTable, codes: Uint32Array): void {
    if (texts.size === 1) return;
    if (!this.follows(texts, 1)) this.next = 1;
    for (let from = 1; from < texts.size; from += BLOCK) {
      const to = Math.min(texts.size, from + BLOCK);
      let at = from;
      if (this.isBlockAt(this.next, texts, from, to)) for (; at < to; at++) codes[at] = this.next++;
      for (; at < to && this.follows(texts, at); at++) {
        if (this.next === this.size) this.append(texts.bytes, texts.starts[at] as number, texts.starts[at + 1] as number);
        codes[at] = this.next++;
      }
      if (at === to) continue;
      this.encodeSpans(texts.bytes, texts.starts, at, 1, to - at, codes.subarray(at, to));
      this.next = (codes[to - 1] as number) + 1;
    }
  }

  /** Whether the texts of the codes from `code` on are those of a file in `[from, to)`. Their bytes are compared together. */
  private isBlockAt(code: number, { bytes, starts }: TextTable, from: number, to: number): boolean {
    if (code + to - from > this.size) return false;
    const [start, end] = [starts[from] as number, starts[to] as number];
    const ownStart = this.starts[code] as number;
    for (let i = 1; i <= to - from; i++) {
      if ((starts[from + i] as number) - start !== (this.starts[code + i] as number) - ownStart) return false;
    }
    return Buffer.compare(bytes.subarray(start, end), this.bytes.subarray(ownStart, ownStart + end - start)) === 0;
  }

  /** Whether a text of a file certainly has the code `next`, or gets it. */
  private follows({ bytes, starts }: TextTable, at: number): boolean {
    const [start, end] = [starts[at] as number, starts[at + 1] as number];
    if (this.next < this.size) return this.equals(this.next, bytes, start, end);
    return this.ascends && (this.size === 1 || this.isBelow(this.size - 1, bytes, start, end));
  }

  /** Whether the text of a code is less than `source[start, end)`. */
  private isBelow(code: number, source: Uint8Array, start: number, end: number): boolean {
    const { bytes, starts } = this;
    const to = starts[code + 1] as number;
    let at = starts[code] as number;
    for (let i = start; i < end; i++, at++) {
      if (at === to) return true;
      const difference = (source[i] as number) - (bytes[at] as number);
      if (difference !== 0) return difference > 0;
    }
    return false;
  }

  /** Puts into `slots` what is not there. */
  private index(): void {
    this.slots.reserve(Math.max(this.size, this.expected));
    this.expected = 0;
    const { bytes, starts } = this;
    for (; this.indexed < this.size; this.indexed++) {
      this.slots.add(hashBytes(bytes, starts[this.indexed] as number, starts[this.indexed + 1] as number), this.indexed - 1);
    }
  }

  /** The code of `source[start, end)`, which is UTF-8; added if new. */
  encodeBytes(source: Uint8Array, start: number, end: number): number {
    const hash = hashBytes(source, start, end);
    const code = this.codeOf(hash, source, start, end);
    return code > 0 ? code : this.add(source, start, end, hash);
  }

  /** `encodeBytes` of `source[spans[from + i * step], spans[from + i * step + 1])` for each i below `count`, into `codes`. */
  encodeSpans(source: Uint8Array, spans: Uint32Array, from: number, step: number, count: number, codes: Uint32Array): void {
    if (this.indexed < this.size || this.expected > 0) this.index();
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
    if (this.indexed < this.size || this.expected > 0) this.index();
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
    const code = this.append(source, start, end);
    this.slots.add(hash, code - 1);
    this.indexed = this.size;
    this.ascends = false;
    return code;
  }

  private append(source: Uint8Array, start: number, end: number): number {
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
