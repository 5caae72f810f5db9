/**
 * Texts and other bytes that have numbers, as records in pieces of 1 MiB: one long array that grows would be copied, which holds the
 * thread.
 *
 *   records  | length | number | bytes, zeros up to a whole word |
 *   places   of each number: where its record lies, as the number of the chunk and the word in it
 */
import { longer } from "../../../../base/bytes/longer-array.ts";
import { DbError } from "../../../../base/error.ts";
import { StatusCode } from "../../../../base/status-code.ts";
import type { Validity } from "../../../../column/vector.ts";

/** Words of a chunk: 1 MiB. */
export const CHUNK_BITS = 18;
export const CHUNK_WORDS: number = 1 << CHUNK_BITS;
/** Of the first chunk; each further one is as long as all before. */
const CHUNK_WORDS_MIN = 256;
/** Chunks that places reach. Reason: 32 bits. Error: RuntimeResourcesExhausted, which memory usually says before. */
const CHUNKS_MAX = 4096;
/** Words of a record before its bytes: their length, and its number. */
const HEAD_WORDS = 2;
/** Texts longer than that are copied by a native call. */
const LONG_BYTES = 64;

/** Texts or other bytes of some rows. */
export interface Texts {
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  readonly validity: Validity;
}

/** Looks at the heads of records that are about to be looked at, as `HashSlots.fetch` does at slots. */
export function fetchRecords(chunks: readonly Int32Array[], places: Int32Array, count: number): number {
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
export function isText(chunk: Int32Array, word: number, view: DataView, start: number, end: number): boolean {
  if (chunk[word] !== end - start) return false;
  let at = start;
  let own = word + HEAD_WORDS;
  for (; at + 4 <= end; at += 4) if (chunk[own++] !== view.getInt32(at, true)) return false;
  return at === end || chunk[own] === tailOf(view, start, end);
}

/** See the file header. */
export class TextRecords {
  /** Records, and so the next number. */
  size = 0;
  /** Bytes of all texts together. */
  textBytes = 0;
  readonly chunks: Int32Array[] = [];
  private readonly byteChunks: Uint8Array[] = [];
  private places: Int32Array = new Int32Array(64);
  private chunkEnd = 0;
  /** What is being filled: the chunk, its number, and the end of what it holds, all in words. */
  private chunk: Int32Array = new Int32Array(0);
  private chunkNumber = 0;
  private used = 0;
  private chunkWords = 0;

  /** Adds `bytes[from, to)`, which `view` is of; its number is `size` before. @returns where its record lies @throws DbError */
  add(view: DataView, bytes: Uint8Array, from: number, to: number): number {
    const place = this.placed(to - from);
    if (to > from) this.write(place, view, bytes, from, to);
    const id = this.size++;
    if (id === this.places.length) this.places = longer(this.places);
    this.places[id] = place;
    this.chunks[place >>> CHUNK_BITS]![(place & (CHUNK_WORDS - 1)) + 1] = id;
    return place;
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
