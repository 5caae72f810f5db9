/**
 * Numbers texts and other bytes densely, as `text-numbers.ts` does, for tables that are many and small: those of parts of rows
 * (`spread-rows.ts`). Bytes are looked at four at a time, slots are a number alone, and texts of neighbouring numbers lie behind one
 * another, so that they are given out as they lie.
 *
 *   slots    open addressing, linear probing: number + 1; 0: free
 *   hashes, places, lengths   of each number: its hash, where its bytes lie (number of the chunk, position), and how many they are
 *   chunks   the bytes, in pieces of up to 1 MiB, or of one longer text
 */
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import { resized } from "../../../../base/bytes/longer-array.ts";
import { sameBytes, textHash, viewOf } from "./text-hash.ts";
import type { Texts } from "./text-records.ts";
import { NO_NUMBER } from "../word-table.ts";

const SLOTS_MIN = 64;
/** Arrays shorter than that are made four times as long: what is not written takes no memory. */
const FEW = 16_384;
const CHUNK_BITS = 20;
const CHUNK_BYTES: number = 1 << CHUNK_BITS;
const CHUNK_BYTES_MIN = 1024;
/** Chunks that places reach. Reason: 32 bits. Error: RuntimeResourcesExhausted, which memory usually says before. */
const CHUNKS_MAX = 4096;
/** Texts longer than that are copied by a native call. */
const LONG_BYTES = 128;

/** Bytes that a text takes beside its own, about: slots are a quarter to half full. */
const KEY_BYTES: number = 18 + 12;

/** Texts of some rows, and their hashes (`text-hash.ts`) where whoever has them knows them. */
export interface HashedTexts extends Texts {
  readonly hashes?: Int32Array | undefined;
}

/** See the file header. */
export class CompactTexts {
  size = 0;
  /** Number of NULL, which has no bytes; `NO_NUMBER` until it comes. */
  nullNumber: number = NO_NUMBER;
  /** Bytes of all texts together. */
  textBytes = 0;
  private slots: Int32Array = new Int32Array(SLOTS_MIN);
  private hashes: Int32Array = new Int32Array(SLOTS_MIN);
  private lengths: Uint32Array = new Uint32Array(SLOTS_MIN);
  private places: Uint32Array = new Uint32Array(SLOTS_MIN);
  private readonly chunks: Uint8Array[] = [new Uint8Array(0)];
  private readonly views: DataView[] = [new DataView(new ArrayBuffer(0))];
  private chunkEnd = 1;
  private chunkNumber = 0;
  private used = 0;

  /** Bytes that are held, about. */
  get bytes(): number {
    return this.size * KEY_BYTES + this.textBytes;
  }

  /** Numbers of rows of offsets and bytes; `nullIsNumber`: NULL has one. */
  numbersOf(texts: HashedTexts, rowCount: number, isNew: boolean, nullIsNumber: boolean, into: Int32Array): void {
    const { offsets, bytes, validity, hashes: known } = texts;
    if (isNew) this.reach(this.size + rowCount);
    const { slots, hashes, lengths, places, views } = this;
    const mask = slots.length - 1;
    const view = viewOf(bytes);
    for (let row = 0; row < rowCount; row++) {
      if (validity !== undefined && validity[row] === 0) {
        into[row] = nullIsNumber ? this.numberOfNull(isNew) : NO_NUMBER;
        continue;
      }
      const start = offsets[row]!;
      const length = offsets[row + 1]! - start;
      const hash = known === undefined ? textHash(view, start, start + length) : known[row]!;
      let slot = hash & mask;
      let number = NO_NUMBER;
      for (;;) {
        const entry = slots[slot]!;
        if (entry === 0) {
          if (isNew) number = this.add(bytes, view, start, length, hash, slot);
          break;
        }
        if (hashes[entry - 1] === hash && lengths[entry - 1] === length) {
          const place = places[entry - 1]!;
          if (sameBytes(view, start, views[place >>> CHUNK_BITS]!, place & (CHUNK_BYTES - 1), length)) {
            number = entry - 1;
            break;
          }
        }
        slot = (slot + 1) & mask;
      }
      into[row] = number;
    }
  }

  /** The number of NULL. */
  numberOfNull(isNew: boolean): number {
    if (this.nullNumber < 0 && isNew) {
      this.reach(this.size + 1);
      this.nullNumber = this.size++;
    }
    return this.nullNumber;
  }

  /** The number of `bytes[from, to)`: a new one for what is new when `isNew`, else `NO_NUMBER`. */
  numberOf(bytes: Uint8Array, from: number, to: number, isNew: boolean): number {
    const into = new Int32Array(1);
    this.numbersOf({ offsets: Uint32Array.of(from, to), bytes, validity: undefined }, 1, isNew, false, into);
    return into[0]!;
  }

  /** Puts the texts of `numbers` behind one another: `offsets` has one more than there are numbers. Bytes may be those that lie here. */
  textsOf(numbers: Uint32Array): { readonly offsets: Uint32Array; readonly bytes: Uint8Array } {
    const { lengths, chunks } = this;
    const { length } = numbers;
    const offsets = new Uint32Array(length + 1);
    for (let i = 0; i < length; i++) offsets[i + 1] = offsets[i]! + lengths[numbers[i]!]!;
    const end = offsets[length]!;
    let bytes: Uint8Array | undefined;
    for (let i = 0; i < length; ) {
      const next = this.endOfRun(numbers, offsets, i);
      const [to, size] = [offsets[i]!, offsets[next]! - offsets[i]!];
      const place = this.places[numbers[i]!]!;
      const from = place & (CHUNK_BYTES - 1);
      const run = chunks[place >>> CHUNK_BITS]!.subarray(from, from + size);
      if (size === end) return { offsets, bytes: run };
      if (size > 0) (bytes ??= new Uint8Array(end)).set(run, to);
      i = next;
    }
    return { offsets, bytes: bytes ?? new Uint8Array(0) };
  }

  /** Behind the numbers from `i` on whose texts lie behind one another in their order. */
  private endOfRun(numbers: Uint32Array, offsets: Uint32Array, i: number): number {
    const { lengths, places } = this;
    const first = places[numbers[i]!]!;
    const start = first - offsets[i]!;
    let next = i + 1;
    if (lengths[numbers[i]!] === 0) return next;
    for (; next < numbers.length; next++) {
      const place = places[numbers[next]!]!;
      if (place !== start + offsets[next]! || place >>> CHUNK_BITS !== first >>> CHUNK_BITS || lengths[numbers[next]!] === 0) break;
    }
    return next;
  }

  private add(bytes: Uint8Array, view: DataView, start: number, length: number, hash: number, slot: number): number {
    const id = this.size++;
    this.hashes[id] = hash;
    this.lengths[id] = length;
    this.places[id] = this.placed(bytes, view, start, length);
    this.slots[slot] = id + 1;
    return id;
  }

  /** Copies bytes into the chunks. @returns where they lie */
  private placed(bytes: Uint8Array, view: DataView, start: number, length: number): number {
    if (length === 0) return 0;
    this.textBytes += length;
    // A text longer than a chunk has one of its own, and the numbers of several.
    if (length > CHUNK_BYTES) return this.newChunk(bytes.slice(start, start + length)) << CHUNK_BITS;
    if (this.used + length > (this.chunks[this.chunkNumber]?.length ?? 0)) {
      this.chunkNumber = this.newChunk(new Uint8Array(Math.max(length, Math.min(CHUNK_BYTES, this.textBytes * 3 + CHUNK_BYTES_MIN))));
      this.used = 0;
    }
    const chunk = this.chunks[this.chunkNumber]!;
    let to = this.used;
    this.used += length;
    const place = (this.chunkNumber << CHUNK_BITS) | to;
    if (length > LONG_BYTES) chunk.set(bytes.subarray(start, start + length), to);
    else {
      const target = this.views[this.chunkNumber]!;
      let at = start;
      for (const end = start + length - 3; at < end; at += 4, to += 4) target.setInt32(to, view.getInt32(at, true), true);
      for (const end = start + length; at < end; at++, to++) chunk[to] = bytes[at]!;
    }
    return place;
  }

  private newChunk(chunk: Uint8Array): number {
    const number = this.chunkEnd;
    this.chunkEnd += Math.max(1, Math.ceil(chunk.length / CHUNK_BYTES));
    if (this.chunkEnd > CHUNKS_MAX) throw tooMuch();
    this.chunks[number] = chunk;
    this.views[number] = viewOf(chunk);
    return number;
  }

  /** Makes room for so many texts in all. */
  private reach(count: number): void {
    const before = this.hashes.length;
    if (count > before) {
      const longer = Math.max(count, before * (before < FEW ? 4 : 2));
      this.hashes = resized(this.hashes, longer);
      this.lengths = resized(this.lengths, longer);
      this.places = resized(this.places, longer);
    }
    let slotCount = this.slots.length;
    if (count * 2 <= slotCount) return;
    while (slotCount < count * 2) slotCount *= 2;
    const slots = new Int32Array(slotCount);
    const { hashes, nullNumber, size } = this;
    for (let id = 0; id < size; id++) {
      if (id === nullNumber) continue;
      let slot = hashes[id]! & (slotCount - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slotCount - 1);
      slots[slot] = id + 1;
    }
    this.slots = slots;
  }
}

function tooMuch(): DbError {
  const why = "its keys are texts of more than 4 GiB together; group by fewer or shorter ones";
  return new DbError(StatusCode.RuntimeResourcesExhausted, `cannot run query: ${why}`);
}
