/**
 * Numbers texts and other bytes densely, in the order they first come: equal bytes, equal numbers. No string is made.
 *
 *   slots    `base/bytes/hash-slots.ts`, growing in steps
 *   places, lengths   of each number: where its bytes lie, and how many they are
 *   chunks   the bytes, by pieces of 1 MiB: one long array that grows would be copied, which holds the thread
 *
 * 2M texts, CPU ms, as strings in a `Map` and so (rows as in key-table.bench.ts): 200,000 different ones of 12 bytes 1,350 to 1,480 -> 120
 * to 190, nearly all different of 32 bytes 1,430 to 5,800 -> 520 to 650.
 */
import { HashSlots } from "../../../base/bytes/hash-slots.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Validity } from "../../../column/vector.ts";
import { sameBytes, textHash, textHashes, viewOf } from "./text-hash.ts";
import { NO_NUMBER } from "./word-table.ts";

const SLOTS_MIN = 256;
/** As in `word-table.ts`. */
const SLOTS_CACHED: number = 2 ** 16;
const ROWS_AT_ONCE = 4096;
const CHUNK_BITS = 20;
const CHUNK_BYTES: number = 1 << CHUNK_BITS;
/** Of the first chunk; each further one is as long as all before. */
const CHUNK_BYTES_MIN = 1024;
/** Chunks that places reach. Reason: 32 bits. Error: RuntimeResourcesExhausted, which memory usually says before. */
const CHUNKS_MAX = 4096;

/** Texts or other bytes of some rows. */
export interface Texts {
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  readonly validity: Validity;
}

/** What is known of each number. */
interface KnownTexts {
  readonly lengths: Uint32Array;
  readonly places: Uint32Array;
  readonly views: readonly DataView[];
}

/**
 * Numbers of rows `[from, to)` up to one that is NULL or not found: its position, else `to`. `hashes` are those of rows from `base` on.
 *
 * @param isComplete what is not found is not there: it has no number, and is no reason to stop
 */
function findTexts(
  pairs: Int32Array,
  mask: number,
  { lengths, places, views }: KnownTexts,
  { offsets, validity }: Texts,
  view: DataView,
  hashes: Int32Array,
  base: number,
  from: number,
  to: number,
  isComplete: boolean,
  into: Int32Array,
): number {
  for (let row = from; row < to; row++) {
    if (validity !== undefined && validity[row] === 0) return row;
    const hash = hashes[row - base]!;
    const start = offsets[row]!;
    const length = offsets[row + 1]! - start;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const number = pairs[slot + 1]! - 1;
      if (number < 0) {
        if (!isComplete) return row;
        into[row] = NO_NUMBER;
        break;
      }
      if (pairs[slot] !== hash || lengths[number] !== length) continue;
      const place = places[number]!;
      const chunk = place >>> CHUNK_BITS;
      if (!sameBytes(views[chunk]!, place & (CHUNK_BYTES - 1), view, start, length)) continue;
      into[row] = number;
      break;
    }
  }
  return to;
}

/** See the file header. */
export class TextNumbers implements KnownTexts {
  size = 0;
  /** Number of NULL, which has no bytes; `NO_NUMBER` until it comes. */
  nullNumber: number = NO_NUMBER;
  /** Bytes of all texts together. */
  textBytes = 0;
  lengths: Uint32Array = new Uint32Array(64);
  places: Uint32Array = new Uint32Array(64);
  /** One at least, so that the empty text lies somewhere. */
  readonly chunks: Uint8Array[] = [new Uint8Array(0)];
  readonly views: DataView[] = [new DataView(new ArrayBuffer(0))];
  private readonly hashes = new Int32Array(ROWS_AT_ONCE);
  private chunkEnd = 1;
  /** What is being filled: the chunk, its number, and the end of what it holds. */
  private chunk: Uint8Array = new Uint8Array(0);
  private chunkNumber = 0;
  private used = 0;
  private readonly slots = new HashSlots(SLOTS_MIN, { inSteps: true });
  /** The bytes that `numberOf` was given last, and a view of them. */
  private viewed: { readonly bytes: Uint8Array; readonly view: DataView } | undefined;

  /** Numbers of rows of offsets and bytes; `nullIsNumber`: NULL has one. */
  numbersOf(texts: Texts, rowCount: number, isNew: boolean, nullIsNumber: boolean, into: Int32Array): void {
    const { offsets, bytes, validity } = texts;
    const { hashes, slots } = this;
    const view = viewOf(bytes);
    for (let base = 0; base < rowCount; base += ROWS_AT_ONCE) {
      const to = Math.min(rowCount, base + ROWS_AT_ONCE);
      textHashes(view, offsets, base, to, hashes);
      if (slots.slotMask >= SLOTS_CACHED) slots.fetch(hashes, to - base);
      for (let row = base; row < to; row++) {
        // Up to a row whose text is not among those in the slots.
        const isComplete = !isNew && slots.older === undefined;
        row = findTexts(slots.pairs, slots.mask, this, texts, view, hashes, base, row, to, isComplete, into);
        if (row === to) break;
        if (validity !== undefined && validity[row] === 0) into[row] = nullIsNumber ? this.numberOfNull(isNew) : NO_NUMBER;
        else into[row] = this.numberBy(hashes[row - base]!, view, bytes, offsets[row]!, offsets[row + 1]!, isNew);
      }
      slots.move(ROWS_AT_ONCE);
    }
  }

  /** Bytes that a text takes beside its own, about: slots are 3/8 to 3/4 full, and while texts move there are half as many more. */
  static readonly KEY_BYTES: number = 12 + 24;

  /** The number of NULL. */
  numberOfNull(isNew: boolean): number {
    if (this.nullNumber < 0 && isNew) {
      const id = this.newNumber();
      this.lengths[id] = 0;
      this.nullNumber = id;
    }
    return this.nullNumber;
  }

  /** The number of `bytes[from, to)`: a new one for what is new when `isNew`, else `NO_NUMBER`. */
  numberOf(bytes: Uint8Array, from: number, to: number, isNew: boolean): number {
    if (this.viewed?.bytes !== bytes) this.viewed = { bytes, view: viewOf(bytes) };
    const { view } = this.viewed;
    return this.numberBy(textHash(view, from, to), view, bytes, from, to, isNew);
  }

  private numberBy(hash: number, view: DataView, bytes: Uint8Array, from: number, to: number, isNew: boolean): number {
    const { slots } = this;
    let known = this.numberIn(slots.pairs, hash, view, from, to);
    if (known < 0 && slots.older !== undefined && slots.mayBeOlder(hash)) known = this.numberIn(slots.older, hash, view, from, to);
    if (known >= 0 || !isNew) return known;
    const id = this.newNumber();
    this.lengths[id] = to - from;
    this.places[id] = this.placed(bytes, from, to);
    slots.add(hash, id);
    return id;
  }

  private numberIn(pairs: Int32Array, hash: number, view: DataView, from: number, to: number): number {
    const { lengths, places, views } = this;
    const mask = pairs.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const number = pairs[slot + 1]! - 1;
      if (number < 0) return NO_NUMBER;
      if (pairs[slot] !== hash || lengths[number] !== to - from) continue;
      const place = places[number]!;
      const chunk = place >>> CHUNK_BITS;
      if (sameBytes(views[chunk]!, place & (CHUNK_BYTES - 1), view, from, to - from)) return number;
    }
  }

  /** Puts the texts of `numbers` behind one another: `offsets` has one more than there are numbers. */
  textsOf(numbers: Uint32Array): { readonly offsets: Uint32Array; readonly bytes: Uint8Array } {
    const { lengths, places, chunks } = this;
    const offsets = new Uint32Array(numbers.length + 1);
    let end = 0;
    for (let i = 0; i < numbers.length; i++) {
      end += lengths[numbers[i]!]!;
      offsets[i + 1] = end;
    }
    const bytes = new Uint8Array(end);
    for (let i = 0; i < numbers.length; i++) {
      const place = places[numbers[i]!]!;
      let to = offsets[i]!;
      const stop = offsets[i + 1]!;
      if (to === stop) continue;
      const chunk = chunks[place >>> CHUNK_BITS]!;
      let from = place & (CHUNK_BYTES - 1);
      if (stop - to > 64) bytes.set(chunk.subarray(from, from + stop - to), to);
      else for (; to < stop; to++) bytes[to] = chunk[from++]!;
    }
    return { offsets, bytes };
  }

  private newNumber(): number {
    const id = this.size;
    if (id === this.lengths.length) {
      this.lengths = longer(this.lengths);
      this.places = longer(this.places);
    }
    this.size++;
    return id;
  }

  /** Copies bytes into the chunks. @returns where they lie: number of the chunk and position in it */
  private placed(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from;
    if (length === 0) return 0;
    this.textBytes += length;
    // A text longer than a chunk has one of its own, and the numbers of several.
    if (length > CHUNK_BYTES) return this.newChunk(bytes.slice(from, to)) << CHUNK_BITS;
    if (this.used + length > this.chunk.length) {
      // Small at first: there are many tables of few texts.
      this.chunk = new Uint8Array(Math.max(length, Math.min(CHUNK_BYTES, this.textBytes + CHUNK_BYTES_MIN)));
      this.chunkNumber = this.newChunk(this.chunk);
      this.used = 0;
    }
    const { chunk, used } = this;
    if (length > 64) chunk.set(bytes.subarray(from, to), used);
    else for (let i = from; i < to; i++) chunk[used + i - from] = bytes[i]!;
    this.used += length;
    return (this.chunkNumber << CHUNK_BITS) | used;
  }

  private newChunk(chunk: Uint8Array): number {
    const number = this.chunkEnd;
    this.chunkEnd += Math.max(1, Math.ceil(chunk.length / CHUNK_BYTES));
    if (this.chunkEnd > CHUNKS_MAX) throw tooMuch();
    this.chunks[number] = chunk;
    this.views[number] = viewOf(chunk);
    return number;
  }
}

function tooMuch(): DbError {
  const why = "its keys are texts of more than 4 GiB together; group or join by fewer or shorter ones";
  return new DbError(StatusCode.RuntimeResourcesExhausted, `cannot run query: ${why}`);
}
