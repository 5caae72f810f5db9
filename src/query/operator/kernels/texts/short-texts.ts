/**
 * Numbers of texts of up to 11 bytes, which lie in the slots themselves: a look touches one line of memory, where a hash that leads to a
 * record touches two, and compares three words instead of bytes.
 *
 *   slots   | bytes 0 to 3 | 4 to 7 | 8 to 10, length | number + 1 |, zeros behind a text's end; number 0: free
 *   older   the same, of slots that move in steps: those whose texts are not all among `slots` yet
 *
 * 1M rows of 11 bytes, ns with records and so: looked up among 200,000 38 and 22, among 20,000 24 and 18; a new one 200 and 140. 5M rows by
 * SQL, CPU ms: grouped by 200,000 texts 340 and 197, EXCEPT of them 342 and 230, NOT EXISTS 358 and 264.
 */
import { HASH_SEED } from "../../../../base/bytes/hash.ts";
import { NO_NUMBER } from "../word-table.ts";
import type { Texts } from "./text-records.ts";

/** Bytes of a text that is short. */
export const SHORT_BYTES = 11;
/** Words of a text, and of a slot. */
const WIDTH = 3;
const STRIDE = 4;
const SLOTS_MIN = 64;
/** As in `word-table.ts`: slots that do not fit in a cache, in words. */
const WORDS_CACHED: number = 2 ** 17;
/** Older slots that move with each row that is looked up: what has not moved is looked up alone, and slower. */
const MOVED_PER_ROW = 8;
/** Older slots that move with each text that is added: all have before the longer ones are full. */
const MOVED_PER_TEXT = 4;

/** By length and word: which bits are of the text, and the length itself above the last ones. */
const MASKS: Int32Array = Int32Array.from({ length: (SHORT_BYTES + 1) * STRIDE }, (_, i) => {
  const [length, word] = [Math.floor(i / STRIDE), i % STRIDE];
  if (word === WIDTH) return length << 24;
  const bytes = Math.max(0, Math.min(4, length - word * 4));
  return bytes === 4 ? -1 : (1 << (bytes * 8)) - 1;
});

/** What the last word of a text is that is not short, or NULL: no slot has it. */
const NOT_SHORT = -1;

/** The bytes of a word of a text that lies so near the end of all bytes that words cannot be read. */
function wordAtEnd(view: DataView, start: number): number {
  let word = 0;
  const end = Math.min(view.byteLength, start + 4);
  for (let at = start; at < end; at++) word |= view.getUint8(at) << ((at - start) << 3);
  return word;
}

/** Words of the short text `[start, start + length)`, to `words[at]` on. @returns its hash */
function packText(view: DataView, start: number, length: number, words: Int32Array, at: number): number {
  const m = length * STRIDE;
  const w0 = wordAtEnd(view, start) & MASKS[m]!;
  const w1 = wordAtEnd(view, start + 4) & MASKS[m + 1]!;
  const w2 = (wordAtEnd(view, start + 8) & MASKS[m + 2]!) | MASKS[m + 3]!;
  words[at] = w0;
  words[at + 1] = w1;
  words[at + 2] = w2;
  return hashOf(w0, w1, w2);
}

/** Each word is mixed in whole before the next comes. */
function hashOf(w0: number, w1: number, w2: number): number {
  let h = Math.imul(HASH_SEED ^ w0, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15) ^ w1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 13) ^ w2, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0xc2b2ae35);
  return h ^ (h >>> 13);
}

/** Words, hashes of rows `[from, to)`, those of `base` first. 12 bytes can be read from where each begins. @returns how many are short */
function packTexts(
  view: DataView,
  { offsets, validity }: Texts,
  base: number,
  from: number,
  to: number,
  words: Int32Array,
  hashes: Int32Array,
): number {
  let start = offsets[from]!;
  let count = 0;
  for (let row = from, at = (from - base) * WIDTH; row < to; row++, at += WIDTH) {
    const end = offsets[row + 1]!;
    const length = end - start;
    if (length <= SHORT_BYTES && (validity === undefined || validity[row] !== 0)) {
      const m = length * STRIDE;
      const w0 = view.getInt32(start, true) & MASKS[m]!;
      const w1 = view.getInt32(start + 4, true) & MASKS[m + 1]!;
      const w2 = (view.getInt32(start + 8, true) & MASKS[m + 2]!) | MASKS[m + 3]!;
      words[at] = w0;
      words[at + 1] = w1;
      words[at + 2] = w2;
      hashes[row - base] = hashOf(w0, w1, w2);
      count++;
    } else {
      words[at + 2] = NOT_SHORT;
      hashes[row - base] = 0;
    }
    start = end;
  }
  return count;
}

/** Looks at slots that are about to be looked at: loads that do not wait for each other run beside each other. */
function fetchSlots(slots: Int32Array, hashes: Int32Array, count: number): number {
  const last = slots.length - 1;
  let seen = 0;
  for (let i = 0; i < count; i++) seen ^= slots[(hashes[i]! << 2) & last]!;
  return seen;
}

/** Numbers of rows among slots, or `NO_NUMBER`. @returns how many have none */
function numbersIn(slots: Int32Array, words: Int32Array, hashes: Int32Array, base: number, count: number, into: Int32Array): number {
  const last = slots.length - 1;
  let missed = 0;
  for (let i = 0, w = 0; i < count; i++, w += WIDTH) {
    const w0 = words[w]!;
    const w1 = words[w + 1]!;
    const w2 = words[w + 2]!;
    let at = (hashes[i]! << 2) & last;
    let entry = slots[at + 3]!;
    while (entry !== 0 && (slots[at + 2] !== w2 || slots[at] !== w0 || slots[at + 1] !== w1)) {
      at = (at + STRIDE) & last;
      entry = slots[at + 3]!;
    }
    into[base + i] = entry - 1;
    missed += (entry - 1) >>> 31;
  }
  return missed;
}

/** Where a text lies among slots, or the free one behind its hash where it is not there. */
function slotOf(slots: Int32Array, hash: number, w0: number, w1: number, w2: number): number {
  const last = slots.length - 1;
  let at = (hash << 2) & last;
  while (slots[at + 3]! !== 0 && (slots[at + 2] !== w2 || slots[at] !== w0 || slots[at + 1] !== w1)) at = (at + STRIDE) & last;
  return at;
}

function fill(slots: Int32Array, at: number, w0: number, w1: number, w2: number, entry: number): void {
  slots[at] = w0;
  slots[at + 1] = w1;
  slots[at + 2] = w2;
  slots[at + 3] = entry;
}

/** Puts the texts of slots `[from, to)`, told in words, among longer ones. */
function moveSlots(older: Int32Array, from: number, to: number, slots: Int32Array): void {
  const last = slots.length - 1;
  for (let a = from; a < to; a += STRIDE) {
    const entry = older[a + 3]!;
    if (entry === 0) continue;
    const w0 = older[a]!;
    const w1 = older[a + 1]!;
    const w2 = older[a + 2]!;
    let at = (hashOf(w0, w1, w2) << 2) & last;
    while (slots[at + 3]! !== 0) at = (at + STRIDE) & last;
    fill(slots, at, w0, w1, w2, entry);
  }
}

/** See the file header. Rows of a block are told by their positions in it, which its arrays have room for. */
export class ShortTexts {
  /** Bytes that a text takes, about: slots are 5/16 to 5/8 full, and while texts move there are half as many more. */
  static readonly KEY_BYTES: number = 40 + 8;

  private slots: Int32Array = new Int32Array(SLOTS_MIN * STRIDE);
  private older: Int32Array | undefined;
  private moved = 0;
  private count = 0;
  private readonly words: Int32Array;
  private readonly hashes: Int32Array;
  private readonly one = new Int32Array(WIDTH);
  /** What `fetchSlots` saw, so that nobody takes its loads for useless. */
  seen = 0;

  /** @param rowsMax of a block */
  constructor(rowsMax: number) {
    this.words = new Int32Array(rowsMax * WIDTH);
    this.hashes = new Int32Array(rowsMax);
  }

  /** Short texts that are here. */
  get size(): number {
    return this.count;
  }

  /** Whether a text that `find` does not know may be here. */
  get isMoving(): boolean {
    return this.older !== undefined;
  }

  /** Takes rows `[base, to)` as the block. @returns how many are short */
  take(view: DataView, texts: Texts, base: number, to: number): number {
    const { offsets, validity } = texts;
    const { words, hashes } = this;
    let safe = to;
    while (safe > base && offsets[safe - 1]! + WIDTH * 4 > view.byteLength) safe--;
    let count = packTexts(view, texts, base, base, safe, words, hashes);
    for (let row = safe; row < to; row++) {
      const length = offsets[row + 1]! - offsets[row]!;
      const isShort = length <= SHORT_BYTES && (validity === undefined || validity[row] !== 0);
      const at = (row - base) * WIDTH;
      if (isShort) count++;
      else words[at + 2] = NOT_SHORT;
      hashes[row - base] = isShort ? packText(view, offsets[row]!, length, words, at) : 0;
    }
    return count;
  }

  /** Numbers of the block's rows `[base, to)`, or `NO_NUMBER`. @returns how many have none; `numberOfRow` may know them */
  find(base: number, to: number, into: Int32Array): number {
    const { slots, words, hashes } = this;
    const count = to - base;
    if (this.older !== undefined) this.move(count * MOVED_PER_ROW);
    if (slots.length > WORDS_CACHED) this.seen ^= fetchSlots(slots, hashes, count);
    return numbersIn(slots, words, hashes, base, count, into);
  }

  /** The number of a row of the block that is short; where it is new, `next` if that is a number. */
  numberOfRow(row: number, next: number): number {
    return this.numberOfWords(this.words, row * WIDTH, this.hashes[row]!, next);
  }

  /** The number of a short text; where it is new, `next` if that is a number. */
  numberOf(view: DataView, start: number, length: number, next: number): number {
    return this.numberOfWords(this.one, 0, packText(view, start, length, this.one, 0), next);
  }

  private numberOfWords(words: Int32Array, from: number, hash: number, next: number): number {
    const w0 = words[from]!;
    const w1 = words[from + 1]!;
    const w2 = words[from + 2]!;
    const { slots, older } = this;
    let at = slotOf(slots, hash, w0, w1, w2);
    const entry = slots[at + 3]!;
    if (entry !== 0) return entry - 1;
    if (older !== undefined) {
      const known = older[slotOf(older, hash, w0, w1, w2) + 3]!;
      if (known !== 0) return known - 1;
    }
    if (next < 0) return NO_NUMBER;
    if (this.count * 32 >= slots.length * 5) {
      this.lengthen();
      at = slotOf(this.slots, hash, w0, w1, w2);
    }
    fill(this.slots, at, w0, w1, w2, next + 1);
    this.count++;
    if (older !== undefined) this.move(MOVED_PER_TEXT);
    return next;
  }

  private lengthen(): void {
    this.move(Number.POSITIVE_INFINITY);
    this.older = this.slots;
    this.moved = 0;
    this.slots = new Int32Array(this.older.length * 2);
  }

  /** Copies the texts of `count` more older slots, which stay as they are until all have moved. */
  private move(count: number): void {
    const { older, slots } = this;
    if (older === undefined) return;
    const end = Math.min(older.length, this.moved + count * STRIDE);
    moveSlots(older, this.moved, end, slots);
    this.moved = end;
    if (end === older.length) this.older = undefined;
  }
}
