/**
 * Numbers texts and other bytes densely, in the order they first come: equal bytes, equal numbers. No string is made.
 *
 *   slots    open addressing, linear probing: (hash, number + 1), 0 = free
 *   hashes, places, lengths   of each number: its hash, where its bytes lie, and how many they are
 *   chunks   the bytes, by pieces of 1 MiB: one long array that grows would be copied, which holds the thread
 *   older    as in `word-table.ts`
 *
 * 2M texts, CPU ms, as strings in a `Map` and so (rows as in key-table.bench.ts): 200,000 different ones of 12 bytes 1,350 to 1,480 -> 120
 * to 190, nearly all different of 32 bytes 1,430 to 5,800 -> 520 to 650.
 */
import { bytesHash } from "../../../base/bytes/hash.ts";
import { longer } from "../../../base/bytes/longer-array.ts";
import { DbError } from "../../../base/error.ts";
import { StatusCode } from "../../../base/status-code.ts";
import type { Validity } from "../../../column/vector.ts";
import { NO_NUMBER } from "./word-table.ts";

const SLOTS_MIN = 256;
const CHUNK_BITS = 20;
const CHUNK_BYTES: number = 1 << CHUNK_BITS;
/** Of the first chunk; each further one is as long as all before. */
const CHUNK_BYTES_MIN = 1024;
/** Chunks that places reach. Reason: 32 bits. Error: RuntimeResourcesExhausted, which memory usually says before. */
const CHUNKS_MAX = 4096;
/** As in `word-table.ts`. */
const MOVED_PER_NEW = 8;

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
  readonly chunks: readonly Uint8Array[];
}

/** Numbers of rows `[from, to)` up to one that is NULL or not found: its position, else `to`. `hashes` are those of all rows. */
function findTexts(
  slots: Int32Array,
  mask: number,
  { lengths, places, chunks }: KnownTexts,
  { offsets, bytes, validity }: Texts,
  hashes: Int32Array,
  from: number,
  to: number,
  into: Int32Array,
): number {
  for (let row = from; row < to; row++) {
    if (validity !== undefined && validity[row] === 0) return row;
    const hash = hashes[row]!;
    const start = offsets[row]!;
    const length = offsets[row + 1]! - start;
    let slot = hash & mask;
    for (;;) {
      const entry = slots[slot * 2 + 1]!;
      if (entry === 0) return row;
      if (slots[slot * 2] === hash && lengths[entry - 1] === length) {
        const place = places[entry - 1]!;
        const chunk = chunks[place >>> CHUNK_BITS]!;
        const at = place & (CHUNK_BYTES - 1);
        let i = 0;
        while (i < length && chunk[at + i] === bytes[start + i]) i++;
        if (i === length) {
          into[row] = entry - 1;
          break;
        }
      }
      slot = (slot + 1) & mask;
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
  private hashes = new Int32Array(64);
  places: Uint32Array = new Uint32Array(64);
  /** One at least, so that the empty text lies somewhere. */
  readonly chunks: Uint8Array[] = [new Uint8Array(0)];
  private rowHashes = new Int32Array(0);
  private chunkEnd = 1;
  /** What is being filled: the chunk, its number, and the end of what it holds. */
  private chunk: Uint8Array = new Uint8Array(0);
  private chunkNumber = 0;
  private used = 0;
  private slots: Int32Array = new Int32Array(SLOTS_MIN * 2);
  private mask = SLOTS_MIN - 1;
  private older: Int32Array | undefined;
  private olderMask = 0;
  private unmoved = 0;
  private unmovedEnd = 0;
  /** Numbers of rows of offsets and bytes; `nullIsNumber`: NULL has one. */
  numbersOf(texts: Texts, rowCount: number, isNew: boolean, nullIsNumber: boolean, into: Int32Array): void {
    const { offsets, bytes, validity } = texts;
    if (this.rowHashes.length < rowCount) this.rowHashes = new Int32Array(rowCount);
    const { rowHashes } = this;
    for (let row = 0; row < rowCount; row++) rowHashes[row] = bytesHash(bytes, offsets[row]!, offsets[row + 1]!);
    for (let from = 0; from < rowCount; ) {
      // Up to a row whose text is not among those in the slots.
      const row = findTexts(this.slots, this.mask, this, texts, rowHashes, from, rowCount, into);
      if (row === rowCount) return;
      if (validity !== undefined && validity[row] === 0) into[row] = nullIsNumber ? this.numberOfNull(isNew) : NO_NUMBER;
      else into[row] = this.numberBy(rowHashes[row]!, bytes, offsets[row]!, offsets[row + 1]!, isNew);
      from = row + 1;
    }
  }

  /** Bytes that a text takes beside its own, about: slots are a quarter to half full, and while texts move there are half as many more. */
  static readonly KEY_BYTES: number = 18 + 32;

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
    return this.numberBy(bytesHash(bytes, from, to), bytes, from, to, isNew);
  }

  private numberBy(hash: number, bytes: Uint8Array, from: number, to: number, isNew: boolean): number {
    const { slots, mask } = this;
    let slot = hash & mask;
    for (;;) {
      const entry = slots[slot * 2 + 1]!;
      if (entry === 0) break;
      if (slots[slot * 2] === hash && this.equals(entry - 1, bytes, from, to)) return entry - 1;
      slot = (slot + 1) & mask;
    }
    const known = this.older === undefined ? NO_NUMBER : this.olderNumber(this.older, hash, bytes, from, to);
    if (known >= 0 || !isNew) return known;
    const id = this.newNumber();
    this.hashes[id] = hash;
    this.lengths[id] = to - from;
    this.places[id] = this.placed(bytes, from, to);
    this.slots[slot * 2] = hash;
    this.slots[slot * 2 + 1] = id + 1;
    if (this.older !== undefined) this.move(MOVED_PER_NEW);
    else if (this.size * 2 > this.mask) this.lengthen();
    return id;
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
      this.hashes = longer(this.hashes);
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
    return number;
  }

  private equals(id: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (this.lengths[id] !== to - from || id === this.nullNumber) return false;
    const place = this.places[id]!;
    const chunk = this.chunks[place >>> CHUNK_BITS]!;
    let at = place & (CHUNK_BYTES - 1);
    for (let i = from; i < to; i++, at++) if (chunk[at] !== bytes[i]) return false;
    return true;
  }

  private olderNumber(slots: Int32Array, hash: number, bytes: Uint8Array, from: number, to: number): number {
    const mask = this.olderMask;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot * 2 + 1]!;
      if (entry === 0) return NO_NUMBER;
      if (slots[slot * 2] === hash && this.equals(entry - 1, bytes, from, to)) return entry - 1;
    }
  }

  private lengthen(): void {
    const slotCount = (this.mask + 1) * 2;
    this.older = this.slots;
    this.olderMask = this.mask;
    this.slots = new Int32Array(slotCount * 2);
    this.mask = slotCount - 1;
    this.unmoved = 0;
    this.unmovedEnd = this.size;
  }

  private move(count: number): void {
    const { slots, mask, hashes } = this;
    const end = Math.min(this.unmovedEnd, this.unmoved + count);
    for (let id = this.unmoved; id < end; id++) {
      if (id === this.nullNumber) continue;
      const hash = hashes[id]!;
      let slot = hash & mask;
      while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * 2] = hash;
      slots[slot * 2 + 1] = id + 1;
    }
    this.unmoved = end;
    if (end === this.unmovedEnd) this.older = undefined;
  }
}

function tooMuch(): DbError {
  const why = "its keys are texts of more than 4 GiB together; group or join by fewer or shorter ones";
  return new DbError(StatusCode.RuntimeResourcesExhausted, `cannot run query: ${why}`);
}
