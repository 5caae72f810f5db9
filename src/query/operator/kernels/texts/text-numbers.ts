/**
 * Numbers texts and other bytes densely, in the order they first come: equal bytes, equal numbers. No string is made.
 *
 *   short    texts of up to 11 bytes: `short-texts.ts`
 *   slots    of all others, `base/bytes/hash-slots.ts`, growing in steps: hash → place of the record
 *   records  of all: `text-records.ts`
 *
 * What tells whether a text is the one that is looked for lies in one piece, a miss of the cache where there are many. Rows are looked up
 * some thousand at a time, step by step, since what a short loop loads it waits for side by side: hashes, slots, heads of records, bytes.
 *
 * 5M rows of texts of 12 bytes, CPU ms, with places and bytes apart, 4,096 rows at a time, and so: 20,000 different ones 147 and 120,
 * 200,000 261 and 210, 1M 957 and 465. 2M texts as strings in a `Map` and so (rows as in key-table.bench.ts): nearly all different of
 * 32 bytes 1,430 to 5,800 -> 520 to 650.
 */
import { HashSlots } from "../../../../base/bytes/hash-slots.ts";
import { textHash, textHashes, viewOf } from "./text-hash.ts";
import { NO_NUMBER } from "../word-table.ts";
import { SHORT_BYTES, ShortTexts } from "./short-texts.ts";
import { CHUNK_BITS, CHUNK_WORDS, fetchRecords, isText, TextRecords, type Texts } from "./text-records.ts";

const SLOTS_MIN = 256;
/** As in `word-table.ts`. */
const SLOTS_CACHED: number = 2 ** 16;
/** Bytes that a record takes beside its text's: its place, its head, and what fills it up. */
const RECORD_BYTES = 16;
/** Bytes of slots for a text that is not short: 3/8 to 3/4 full, while texts move half as many more; and two of a filter. */
const SLOT_BYTES: number = 24 + 2;
/** Rows that are looked up before others: a line of slots and one of records for each stay in the first cache, or near it. */
const ROWS_AT_ONCE = 512;
/** Bits of a filter for each text, at least: one of ten texts that are not there passes, or fewer. */
const FILTER_BITS = 8;
/** Most bits of a hash that a filter tells apart: 128 MiB. */
const FILTER_WIDTH_MAX = 30;

const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_VIEW: DataView = viewOf(NO_BYTES);

interface Filter {
  readonly bits: Int32Array;
  readonly shift: number;
  /** How many texts there were. */
  readonly size: number;
}

/** The first place of each hash, -1 where there is none: that of the text, unless two have one hash. */
function candidates(pairs: Int32Array, mask: number, hashes: Int32Array, count: number, into: Int32Array): void {
  for (let i = 0; i < count; i++) {
    const hash = hashes[i]!;
    let slot = (hash << 1) & mask;
    while (pairs[slot] !== hash && pairs[slot + 1] !== 0) slot = (slot + 2) & mask;
    into[i] = pairs[slot + 1]! - 1;
  }
}

/**
 * Rows whose hash a filter has, ascending, into `rows`; the others have no candidate.
 *
 * @param filter a bit for each `hash >>> shift`
 * @returns how many rows
 */
function passing(filter: Int32Array, shift: number, hashes: Int32Array, count: number, into: Int32Array, rows: Int32Array): number {
  let passed = 0;
  for (let i = 0; i < count; i++) {
    const bit = hashes[i]! >>> shift;
    into[i] = -1;
    rows[passed] = i;
    passed += (filter[bit >>> 5]! >>> (bit & 31)) & 1;
  }
  return passed;
}

/** As `candidates`, of some rows. What `HashSlots.fetch` does goes before. */
function candidatesOf(pairs: Int32Array, mask: number, hashes: Int32Array, rows: Int32Array, count: number, into: Int32Array): number {
  let seen = 0;
  for (let i = 0; i < count; i++) seen ^= pairs[(hashes[rows[i]!]! << 1) & mask]!;
  for (let i = 0; i < count; i++) {
    const hash = hashes[rows[i]!]!;
    let slot = (hash << 1) & mask;
    while (pairs[slot] !== hash && pairs[slot + 1] !== 0) slot = (slot + 2) & mask;
    into[rows[i]!] = pairs[slot + 1]! - 1;
  }
  return seen;
}

/**
 * Numbers of rows `[from, to)` whose candidates have their texts, up to one that is NULL, or has no candidate or another text: its
 * position, else `to`.
 *
 * @param places of candidates, of row `base` on
 * @param isComplete what has no candidate is not there, and is no reason to stop
 */
function confirmed(
  chunks: readonly Int32Array[],
  { offsets, validity }: Texts,
  view: DataView,
  places: Int32Array,
  base: number,
  from: number,
  to: number,
  isComplete: boolean,
  into: Int32Array,
): number {
  for (let row = from; row < to; row++) {
    if (validity !== undefined && validity[row] === 0) return row;
    const place = places[row - base]!;
    if (place < 0) {
      if (!isComplete) return row;
      into[row] = NO_NUMBER;
      continue;
    }
    const chunk = chunks[place >>> CHUNK_BITS]!;
    const word = place & (CHUNK_WORDS - 1);
    if (!isText(chunk, word, view, offsets[row]!, offsets[row + 1]!)) return row;
    into[row] = chunk[word + 1]!;
  }
  return to;
}

/** See the file header. */
export class TextNumbers {
  /** Number of NULL, which has no bytes; `NO_NUMBER` until it comes. */
  nullNumber: number = NO_NUMBER;
  private readonly records = new TextRecords();
  private readonly hashes = new Int32Array(ROWS_AT_ONCE);
  private readonly found = new Int32Array(ROWS_AT_ONCE);
  private readonly rows = new Int32Array(ROWS_AT_ONCE);
  private readonly slots = new HashSlots(SLOTS_MIN, { inSteps: true });
  private readonly short = new ShortTexts(ROWS_AT_ONCE);
  /** The bytes that `numberOf` was given last, and a view of them. */
  private viewed: { readonly bytes: Uint8Array; readonly view: DataView } | undefined;
  /** What `fetchRecords` and `candidatesOf` saw, so that nobody takes their loads for useless. */
  seen = 0;
  /** A bit for each hash that is there, of so many texts, once enough that were looked up were not. */
  private filter: Filter | undefined;
  private missed = 0;

  /** Numbers given so far. */
  get size(): number {
    return this.records.size;
  }

  /** Bytes that are held, about. */
  get bytes(): number {
    const { records, short } = this;
    return records.size * RECORD_BYTES + records.textBytes + short.size * ShortTexts.KEY_BYTES + (records.size - short.size) * SLOT_BYTES;
  }

  /** Numbers of rows of offsets and bytes; `nullIsNumber`: NULL has one. */
  numbersOf(texts: Texts, rowCount: number, isNew: boolean, nullIsNumber: boolean, into: Int32Array): void {
    const { short } = this;
    const view = viewOf(texts.bytes);
    for (let base = 0; base < rowCount; base += ROWS_AT_ONCE) {
      const to = Math.min(rowCount, base + ROWS_AT_ONCE);
      const shortCount = short.take(view, texts, base, to);
      if (shortCount === 0) this.numbersOfLong(texts, view, base, to, isNew, nullIsNumber, into);
      else {
        const missed = short.find(base, to, into);
        const isDone = missed === 0 || (shortCount === to - base && !isNew && !short.isMoving);
        if (!isDone) this.numbersOfRest(texts, view, base, to, isNew, nullIsNumber, into);
      }
    }
  }

  /** Of rows of which none is short. */
  private numbersOfLong(
    texts: Texts,
    view: DataView,
    base: number,
    to: number,
    isNew: boolean,
    nullIsNumber: boolean,
    into: Int32Array,
  ): void {
    const { offsets, bytes, validity } = texts;
    const { hashes, slots, found } = this;
    const { chunks } = this.records;
    textHashes(view, offsets, base, to, hashes);
    const isLarge = slots.slotMask >= SLOTS_CACHED;
    const isComplete = !isNew && slots.older === undefined;
    const filter = isComplete && isLarge ? this.filterOfMissed() : undefined;
    if (filter === undefined) {
      if (isLarge) slots.fetch(hashes, to - base);
      candidates(slots.pairs, slots.mask, hashes, to - base, found);
      if (isComplete && isLarge) this.noteMissed(found, to - base);
    } else {
      const passed = passing(filter.bits, filter.shift, hashes, to - base, found, this.rows);
      this.seen = candidatesOf(slots.pairs, slots.mask, hashes, this.rows, passed, found);
    }
    if (isLarge) this.seen ^= fetchRecords(chunks, found, to - base);
    for (let row = base; row < to; row++) {
      row = confirmed(chunks, texts, view, found, base, row, to, isComplete, into);
      if (row === to) break;
      if (validity !== undefined && validity[row] === 0) into[row] = nullIsNumber ? this.numberOfNull(isNew) : NO_NUMBER;
      else into[row] = this.numberBy(hashes[row - base]!, view, bytes, offsets[row]!, offsets[row + 1]!, isNew);
    }
    slots.move(ROWS_AT_ONCE);
  }

  /** Of rows of which some are short: those without a number yet, in their order. */
  private numbersOfRest(
    { offsets, bytes, validity }: Texts,
    view: DataView,
    base: number,
    to: number,
    isNew: boolean,
    nullIsNumber: boolean,
    into: Int32Array,
  ): void {
    const { rows, hashes, slots, short } = this;
    let longCount = 0;
    for (let row = base; row < to; row++) {
      if (into[row] === NO_NUMBER && offsets[row + 1]! - offsets[row]! > SHORT_BYTES) rows[longCount++] = row - base;
    }
    for (let i = 0; i < longCount; i++) {
      const row = base + rows[i]!;
      hashes[row - base] = textHash(view, offsets[row]!, offsets[row + 1]!);
    }
    if (longCount > 0 && slots.slotMask >= SLOTS_CACHED) {
      this.found.fill(NO_NUMBER);
      this.seen = candidatesOf(slots.pairs, slots.mask, hashes, rows, longCount, this.found);
      this.seen ^= fetchRecords(this.records.chunks, this.found, to - base);
    }
    for (let row = base; row < to; row++) {
      if (into[row] !== NO_NUMBER) continue;
      const from = offsets[row]!;
      const end = offsets[row + 1]!;
      if (validity !== undefined && validity[row] === 0) into[row] = nullIsNumber ? this.numberOfNull(isNew) : NO_NUMBER;
      else if (end - from > SHORT_BYTES) into[row] = this.numberBy(hashes[row - base]!, view, bytes, from, end, isNew);
      else into[row] = this.noted(short.numberOfRow(row - base, isNew ? this.size : NO_NUMBER), view, bytes, from, end);
    }
    slots.move(longCount);
  }

  /** A number that a short text has, and its record where that is the next one. */
  private noted(number: number, view: DataView, bytes: Uint8Array, from: number, to: number): number {
    if (number !== this.size) return number;
    this.records.add(view, bytes, from, to);
    return number;
  }

  private noteMissed(found: Int32Array, count: number): void {
    for (let i = 0; i < count; i++) this.missed += found[i]! >>> 31;
  }

  /**
   * The filter of the texts that are there, made once as many as a quarter of them were looked for in vain: of 5M texts of 32 bytes of
   * which 500,000 are there, 175 ms without and 120 with it.
   */
  private filterOfMissed(): Filter | undefined {
    if (this.filter?.size === this.size) return this.filter;
    if (this.filter !== undefined) this.missed = 0; // Texts came since.
    this.filter = undefined;
    if (this.missed * 4 < this.size) return undefined;
    const { pairs } = this.slots;
    let width = 5;
    while (2 ** width < this.size * FILTER_BITS && width < FILTER_WIDTH_MAX) width++;
    const bits = new Int32Array(2 ** (width - 5));
    const shift = 32 - width;
    for (let at = 0; at < pairs.length; at += 2) {
      if (pairs[at + 1] === 0) continue;
      const bit = pairs[at]! >>> shift;
      bits[bit >>> 5] = bits[bit >>> 5]! | (1 << (bit & 31));
    }
    return (this.filter = { bits, shift, size: this.size });
  }

  /** The number of NULL. */
  numberOfNull(isNew: boolean): number {
    if (this.nullNumber < 0 && isNew) {
      this.nullNumber = this.size;
      this.records.add(NO_VIEW, NO_BYTES, 0, 0);
    }
    return this.nullNumber;
  }

  /** The number of `bytes[from, to)`: a new one for what is new when `isNew`, else `NO_NUMBER`. */
  numberOf(bytes: Uint8Array, from: number, to: number, isNew: boolean): number {
    if (this.viewed?.bytes !== bytes) this.viewed = { bytes, view: viewOf(bytes) };
    const { view } = this.viewed;
    if (to - from <= SHORT_BYTES) {
      return this.noted(this.short.numberOf(view, from, to - from, isNew ? this.size : NO_NUMBER), view, bytes, from, to);
    }
    return this.numberBy(textHash(view, from, to), view, bytes, from, to, isNew);
  }

  private numberBy(hash: number, view: DataView, bytes: Uint8Array, from: number, to: number, isNew: boolean): number {
    const { slots } = this;
    let known = this.numberIn(slots.pairs, hash, view, from, to);
    if (known < 0 && slots.older !== undefined && slots.mayBeOlder(hash)) known = this.numberIn(slots.older, hash, view, from, to);
    if (known >= 0 || !isNew) return known;
    const id = this.size;
    slots.add(hash, this.records.add(view, bytes, from, to));
    return id;
  }

  private numberIn(pairs: Int32Array, hash: number, view: DataView, from: number, to: number): number {
    const { chunks } = this.records;
    const mask = pairs.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const place = pairs[slot + 1]! - 1;
      if (place < 0) return NO_NUMBER;
      if (pairs[slot] !== hash) continue;
      const chunk = chunks[place >>> CHUNK_BITS]!;
      const word = place & (CHUNK_WORDS - 1);
      if (isText(chunk, word, view, from, to)) return chunk[word + 1]!;
    }
  }

  /** Puts the texts of `numbers` behind one another: `offsets` has one more than there are numbers. */
  textsOf(numbers: Uint32Array): { readonly offsets: Uint32Array; readonly bytes: Uint8Array } {
    return this.records.textsOf(numbers);
  }
}
