/**
 * Numbers texts and other bytes densely, in the order they first come: equal bytes, equal numbers. No string is made.
 *
 *   slots    `base/bytes/hash-slots.ts`, growing in steps: hash → place of the record
 *   records  | length | number | bytes, zeros up to a whole word |, in pieces of 1 MiB: one long array that grows would be copied, which
 *            holds the thread
 *   places   of each number: where its record lies
 *
 * What tells whether a text is the one that is looked for lies in one piece, a miss of the cache where there are many. Rows are looked up
 * some thousand at a time, step by step, since what a short loop loads it waits for side by side: hashes, slots, heads of records, bytes.
 *
 * 5M rows of texts of 11 bytes, CPU ms, with places and bytes apart, 4,096 rows at a time, and so: 20,000 different ones 147 and 120,
 * 200,000 261 and 210, 1M 957 and 465. 2M texts as strings in a `Map` and so (rows as in key-table.bench.ts): nearly all different of
 * 32 bytes 1,430 to 5,800 -> 520 to 650.
 */
import { HashSlots } from "../../../../base/bytes/hash-slots.ts";
import { longer } from "../../../../base/bytes/longer-array.ts";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import type { Validity } from "../../../../column/vector.ts";
import { textHash, textHashes, viewOf } from "./text-hash.ts";
import { NO_NUMBER } from "../word-table.ts";
import { SHORT_BYTES, ShortTexts } from "./short-texts.ts";

const SLOTS_MIN = 256;
/** As in `word-table.ts`. */
const SLOTS_CACHED: number = 2 ** 16;
/** Rows that are looked up before others: a line of slots and one of records for each stay in the first cache, or near it. */
const ROWS_AT_ONCE = 512;
/** Words of a chunk: 1 MiB. */
const CHUNK_BITS = 18;
const CHUNK_WORDS: number = 1 << CHUNK_BITS;
/** Of the first chunk; each further one is as long as all before. */
const CHUNK_WORDS_MIN = 256;
/** Chunks that places reach. Reason: 32 bits. Error: RuntimeResourcesExhausted, which memory usually says before. */
const CHUNKS_MAX = 4096;
/** Words of a record before its bytes: their length, and its number. */
const HEAD_WORDS = 2;
/** Texts longer than that are copied by a native call. */
const LONG_BYTES = 64;

/** Bits of a filter for each text, at least: one of ten texts that are not there passes, or fewer. */
const FILTER_BITS = 8;
/** Most bits of a hash that a filter tells apart: 128 MiB. */
const FILTER_WIDTH_MAX = 30;

interface Filter {
  readonly bits: Int32Array;
  readonly shift: number;
  /** How many texts there were. */
  readonly size: number;
}

/** Texts or other bytes of some rows. */
export interface Texts {
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  readonly validity: Validity;
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

/** Looks at the heads of records that are about to be looked at, as `HashSlots.fetch` does at slots. */
function fetchRecords(chunks: readonly Int32Array[], places: Int32Array, count: number): number {
  let seen = 0;
  for (let i = 0; i < count; i++) {
    const place = places[i]!;
    if (place >= 0) seen ^= chunks[place >>> CHUNK_BITS]![place & (CHUNK_WORDS - 1)]!;
  }
  return seen;
}

/** The last `length & 3` bytes of a text as a word, with zeros above. */
function tailOf(view: DataView, start: number, end: number): number {
  const rest = (end - start) & 3;
  if (end - start >= 4) return view.getInt32(end - 4, true) >>> ((4 - rest) << 3);
  let word = 0;
  for (let k = 0; k < rest; k++) word |= view.getUint8(start + k) << (k << 3);
  return word;
}

/** Whether the record at `word` of a chunk has these bytes. */
function isText(chunk: Int32Array, word: number, view: DataView, start: number, end: number): boolean {
  if (chunk[word] !== end - start) return false;
  let at = start;
  let own = word + HEAD_WORDS;
  for (; at + 4 <= end; at += 4) if (chunk[own++] !== view.getInt32(at, true)) return false;
  return at === end || chunk[own] === tailOf(view, start, end);
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
  size = 0;
  /** Number of NULL, which has no bytes; `NO_NUMBER` until it comes. */
  nullNumber: number = NO_NUMBER;
  /** Bytes of all texts together. */
  textBytes = 0;
  private places: Int32Array = new Int32Array(64);
  private readonly chunks: Int32Array[] = [];
  private readonly byteChunks: Uint8Array[] = [];
  private readonly hashes = new Int32Array(ROWS_AT_ONCE);
  private readonly found = new Int32Array(ROWS_AT_ONCE);
  private readonly rows = new Int32Array(ROWS_AT_ONCE);
  private chunkEnd = 0;
  /** What is being filled: the chunk, its number, and the end of what it holds, all in words. */
  private chunk: Int32Array = new Int32Array(0);
  private chunkNumber = 0;
  private used = 0;
  private chunkWords = 0;
  private readonly slots = new HashSlots(SLOTS_MIN, { inSteps: true });
  private readonly short = new ShortTexts(ROWS_AT_ONCE);
  /** The bytes that `numberOf` was given last, and a view of them. */
  private viewed: { readonly bytes: Uint8Array; readonly view: DataView } | undefined;
  /** What `fetchRecords` and `candidatesOf` saw, so that nobody takes their loads for useless. */
  seen = 0;
  /** A bit for each hash that is there, of so many texts, once enough that were looked up were not. */
  private filter: Filter | undefined;
  private missed = 0;

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
    const { hashes, slots, found, chunks } = this;
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
      this.seen ^= fetchRecords(this.chunks, this.found, to - base);
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
    const place = this.placed(to - from);
    this.write(place, view, bytes, from, to);
    return this.numberAt(place);
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

  /**
   * Bytes that a text takes beside its own, about: its place, the head of its record and what fills that up, and slots, which are 3/8 to
   * 3/4 full; while texts move there are half as many more. Two are those of a filter.
   */
  static readonly KEY_BYTES: number = 16 + 24 + 2;

  /** The number of NULL. */
  numberOfNull(isNew: boolean): number {
    if (this.nullNumber < 0 && isNew) this.nullNumber = this.numberAt(this.placed(0));
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
    const place = this.placed(to - from);
    this.write(place, view, bytes, from, to);
    const id = this.numberAt(place);
    slots.add(hash, place);
    return id;
  }

  private numberIn(pairs: Int32Array, hash: number, view: DataView, from: number, to: number): number {
    const { chunks } = this;
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
    const { places, chunks, byteChunks } = this;
    const offsets = new Uint32Array(numbers.length + 1);
    let end = 0;
    for (let i = 0; i < numbers.length; i++) {
      const place = places[numbers[i]!]!;
      end += chunks[place >>> CHUNK_BITS]![place & (CHUNK_WORDS - 1)]!;
      offsets[i + 1] = end;
    }
    const bytes = new Uint8Array(end);
    for (let i = 0; i < numbers.length; i++) {
      let to = offsets[i]!;
      const stop = offsets[i + 1]!;
      if (to === stop) continue;
      const place = places[numbers[i]!]!;
      const chunk = byteChunks[place >>> CHUNK_BITS]!;
      let from = ((place & (CHUNK_WORDS - 1)) + HEAD_WORDS) * 4;
      if (stop - to > LONG_BYTES) bytes.set(chunk.subarray(from, from + stop - to), to);
      else for (; to < stop; to++) bytes[to] = chunk[from++]!;
    }
    return { offsets, bytes };
  }

  /** A new number, for the record at a place. */
  private numberAt(place: number): number {
    const id = this.size;
    if (id === this.places.length) this.places = longer(this.places);
    this.places[id] = place;
    this.chunks[place >>> CHUNK_BITS]![(place & (CHUNK_WORDS - 1)) + 1] = id;
    this.size++;
    return id;
  }

  /** Copies the bytes of a record. */
  private write(place: number, view: DataView, bytes: Uint8Array, from: number, to: number): void {
    let word = (place & (CHUNK_WORDS - 1)) + HEAD_WORDS;
    if (to - from > LONG_BYTES) {
      this.byteChunks[place >>> CHUNK_BITS]!.set(bytes.subarray(from, to), word * 4);
      return;
    }
    const chunk = this.chunks[place >>> CHUNK_BITS]!;
    let at = from;
    for (; at + 4 <= to; at += 4) chunk[word++] = view.getInt32(at, true);
    if (at < to) chunk[word] = tailOf(view, from, to);
  }

  /** Makes room for a record. @returns where it lies: number of the chunk, and word in it */
  private placed(length: number): number {
    const words = HEAD_WORDS + ((length + 3) >>> 2);
    this.textBytes += length;
    let place: number;
    // A text longer than a chunk has one of its own, and the numbers of several.
    if (words > CHUNK_WORDS) place = this.newChunk(new Int32Array(words)) << CHUNK_BITS;
    else {
      if (this.used + words > this.chunk.length) {
        // Small at first: there are many tables of few texts.
        this.chunk = new Int32Array(Math.max(words, Math.min(CHUNK_WORDS, this.chunkWords + CHUNK_WORDS_MIN)));
        this.chunkNumber = this.newChunk(this.chunk);
        this.used = 0;
      }
      place = (this.chunkNumber << CHUNK_BITS) | this.used;
      this.used += words;
    }
    this.chunks[place >>> CHUNK_BITS]![place & (CHUNK_WORDS - 1)] = length;
    return place;
  }

  private newChunk(chunk: Int32Array): number {
    const number = this.chunkEnd;
    this.chunkEnd += Math.max(1, Math.ceil(chunk.length / CHUNK_WORDS));
    if (this.chunkEnd > CHUNKS_MAX) throw tooMuch();
    this.chunkWords += chunk.length;
    this.chunks[number] = chunk;
    this.byteChunks[number] = new Uint8Array(chunk.buffer);
    return number;
  }
}

function tooMuch(): DbError {
  const why = "its keys are texts of more than 4 GiB together; group or join by fewer or shorter ones";
  return new DbError(StatusCode.RuntimeResourcesExhausted, `cannot run query: ${why}`);
}
