/**
 * The values of one tag column: dense codes for distinct texts, held as UTF-8.
 *
 *   bytes    | text 1 | text 2 | …          starts   where each begins          slots   open addressing over the texts: code, 0 = free
 *
 * Beside its text a value costs 4 B of `starts` and 8 to 16 B of `slots`: a million distinct values of 11 B are 24 MiB, where strings in a
 * Map and an array took 130 MiB. Strings are made when somebody asks for one, and kept.
 *
 * Bytes come from decoders, the log and files without becoming strings; a hash seeded for each process keeps crafted values from meeting in
 * one slot.
 */
import { assert } from "../../base/assert.ts";
import { type TextTable, utf8Text } from "../../column/text-table.ts";
import { grownBytes, grownWords, newBytes, newWords, powerOfTwoFrom } from "./shared-array.ts";

const SEED: number = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
const encoder = new TextEncoder();

/** Bytes of the text being encoded. */
let scratch = new Uint8Array(256);

/** Texts of at most 4 GiB all together: codes and positions are 32 bits. */
const TEXT_BYTES_MAX = 2 ** 32 - 1;

/** See the file header. Codes are given in ascending order and never change. */
export class TagDictionary implements TextTable {
  size = 1;
  bytes: Uint8Array<ArrayBufferLike> = newBytes(32);
  starts: Uint32Array<ArrayBufferLike> = newWords(8);
  private slots: Uint32Array = new Uint32Array(8);
  /** Strings made so far, by code. */
  private readonly strings: (string | undefined)[] = [undefined];
  /** All codes below it have their string. */
  private complete = 1;

  /** Makes room for `size` values, NULL among them, of `textBytes` together: growing step by step copies and hashes all of them again. */
  reserve(size: number, textBytes: number): void {
    if (textBytes > this.bytes.length) this.bytes = grownBytes(this.bytes, textBytes);
    if (size + 1 > this.starts.length) this.starts = grownWords(this.starts, powerOfTwoFrom(size + 1));
    if (size * 2 > this.slots.length) this.rehash(powerOfTwoFrom(size * 2));
  }

  /** The code of `source[start, end)`, which is UTF-8; added if new. */
  encodeBytes(source: Uint8Array, start: number, end: number): number {
    const mask = this.slots.length - 1;
    let slot = hashBytes(source, start, end) & mask;
    for (; ; slot = (slot + 1) & mask) {
      const code = this.slots[slot] as number;
      if (code === 0) return this.add(source, start, end, slot);
      if (this.equals(code, source, start, end)) return code;
    }
  }

  /** The code of `source[start, end)`, or -1. */
  findBytes(source: Uint8Array, start: number, end: number): number {
    const mask = this.slots.length - 1;
    for (let slot = hashBytes(source, start, end) & mask; ; slot = (slot + 1) & mask) {
      const code = this.slots[slot] as number;
      if (code === 0) return -1;
      if (this.equals(code, source, start, end)) return code;
    }
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
    for (let next = this.strings.length; next < this.size; next++) this.strings.push(undefined);
    const text = utf8Text(this.bytes, this.starts[code] as number, this.starts[code + 1] as number);
    this.strings[code] = text;
    return text;
  }

  /** All texts as strings, by code. Makes those that were not asked for yet: 60 ns and about 70 B each. */
  texts(): readonly (string | undefined)[] {
    for (; this.complete < this.size; this.complete++) this.textOf(this.complete);
    return this.strings;
  }

  /** Bytes held, strings not counted. */
  get byteLength(): number {
    return this.bytes.byteLength + this.starts.byteLength + this.slots.byteLength;
  }

  private equals(code: number, source: Uint8Array, start: number, end: number): boolean {
    const { bytes, starts } = this;
    let at = starts[code] as number;
    if ((starts[code + 1] as number) - at !== end - start) return false;
    for (let i = start; i < end; i++) if (bytes[at++] !== source[i]) return false;
    return true;
  }

  private add(source: Uint8Array, start: number, end: number, slot: number): number {
    const code = this.size;
    const at = this.starts[code] as number;
    const to = at + end - start;
    assert(to <= TEXT_BYTES_MAX, `texts of a tag column within ${TEXT_BYTES_MAX} bytes; got ${to}`);
    if (to > this.bytes.length) this.bytes = grownBytes(this.bytes, Math.max(to, this.bytes.length * 2));
    if (code + 2 > this.starts.length) this.starts = grownWords(this.starts, this.starts.length * 2);
    const { bytes } = this;
    for (let i = start, into = at; i < end; i++) bytes[into++] = source[i] as number;
    this.starts[code + 1] = to;
    this.size++;
    if (this.size * 2 > this.slots.length) this.rehash(this.slots.length * 2);
    else this.slots[slot] = code;
    return code;
  }

  private rehash(slotCount: number): void {
    const slots = new Uint32Array(slotCount);
    const mask = slots.length - 1;
    for (let code = 1; code < this.size; code++) {
      let slot = hashBytes(this.bytes, this.starts[code] as number, this.starts[code + 1] as number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = code;
    }
    this.slots = slots;
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

function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED ^ (end - start);
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
