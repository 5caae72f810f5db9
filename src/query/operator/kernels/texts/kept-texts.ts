/**
 * A text of each group, or other bytes, kept past the life of its batch and replaced now and then.
 *
 *   slots   of 8, 16, 32 … bytes; what a longer text leaves is taken by the next of its size, so that nothing is ever compacted
 *   chunks  of 1 MiB, or of one slot that is larger
 */
import { grown } from "../../../../base/bytes/longer-array.ts";

const CHUNK_BITS = 20;
const CHUNK_BYTES = 1 << CHUNK_BITS;
/** Of the first chunk; each further one is as long as all before, up to `CHUNK_BYTES`. */
const CHUNK_BYTES_MIN = 1024;
/** The smallest slot is of 2^3 bytes. */
const SLOT_BITS_MIN = 3;
/** Texts up to this length are copied byte by byte: a native call takes as long. */
const SHORT_BYTES = 64;

/** Where texts lie. */
class TextSlots {
  bytesHeld = 0;
  readonly chunks: Uint8Array[] = [];
  private used = 0;
  /** Free slots by bits of their size: number of the chunk and position, by turns. */
  private readonly free: number[][] = [];

  /** Room for a text: the number of its chunk times `CHUNK_BYTES`, and the position in it. */
  take(bits: number): number {
    const free = this.free[bits]?.pop();
    if (free !== undefined) return free;
    const size = 2 ** bits;
    const last = this.chunks.at(-1);
    if (last === undefined || this.used + size > last.length) {
      const length = Math.max(size, Math.min(CHUNK_BYTES, this.bytesHeld + CHUNK_BYTES_MIN));
      this.chunks.push(new Uint8Array(length));
      this.bytesHeld += length;
      this.used = 0;
    }
    const place = (this.chunks.length - 1) * CHUNK_BYTES + this.used;
    this.used += size;
    return place;
  }

  give(place: number, bits: number): void {
    const free = (this.free[bits] ??= []);
    free.push(place);
  }
}

function slotBits(length: number): number {
  return length <= 2 ** SLOT_BITS_MIN ? SLOT_BITS_MIN : 32 - Math.clz32(length - 1);
}

/** Texts by group; `validity` is absent where each group has one. */
export interface GroupTexts {
  readonly offsets: Uint32Array;
  readonly bytes: Uint8Array;
  readonly validity: Uint8Array | undefined;
}

/** See the file header. */
export class KeptTexts {
  /** Bits of the slot of a group's text; 0: it has none. */
  bits: Uint8Array = new Uint8Array(0);
  private lengths: Uint32Array = new Uint32Array(0);
  private places: Float64Array = new Float64Array(0);
  private readonly slots = new TextSlots();

  /** Bytes that are held for texts. */
  get bytesHeld(): number {
    return this.slots.bytesHeld;
  }

  /** Makes room for groups. */
  reach(groupCount: number): void {
    this.lengths = grown(this.lengths, groupCount);
    this.places = grown(this.places, groupCount);
    this.bits = grown(this.bits, groupCount);
  }

  /** Copies `bytes[start, start + length)` as the text of a group. */
  set(group: number, bytes: Uint8Array, start: number, length: number): void {
    const { bits, places, lengths, slots } = this;
    const wanted = slotBits(length);
    if (bits[group]! < wanted) {
      if (bits[group] !== 0) slots.give(places[group]!, bits[group]!);
      places[group] = slots.take(wanted);
      bits[group] = wanted;
    }
    lengths[group] = length;
    const place = places[group]!;
    const chunk = slots.chunks[Math.floor(place / CHUNK_BYTES)]!;
    const at = place % CHUNK_BYTES;
    if (length > SHORT_BYTES) chunk.set(bytes.subarray(start, start + length), at);
    else for (let k = 0; k < length; k++) chunk[at + k] = bytes[start + k]!;
  }

  /** Makes the text of a group NULL. */
  clear(group: number): void {
    const { bits, places, lengths, slots } = this;
    if (bits[group] === 0) return;
    slots.give(places[group]!, bits[group]!);
    bits[group] = 0;
    lengths[group] = 0;
  }

  /** The order of `bytes[start, start + length)` and the text of a group, which has one: negative, 0 or positive. */
  compare(group: number, bytes: Uint8Array, start: number, length: number): number {
    const place = this.places[group]!;
    const chunk = this.slots.chunks[Math.floor(place / CHUNK_BYTES)]!;
    return compareBytes(bytes, start, length, chunk, place % CHUNK_BYTES, this.lengths[group]!);
  }

  /** The texts of groups `[0, groupCount)`; NULL for those without. */
  texts(groupCount: number): GroupTexts {
    this.reach(groupCount);
    const { bits, places, lengths, slots } = this;
    const offsets = new Uint32Array(groupCount + 1);
    const validity = new Uint8Array(groupCount);
    let end = 0;
    let isNull = false;
    for (let group = 0; group < groupCount; group++) {
      validity[group] = bits[group] === 0 ? 0 : 1;
      if (bits[group] === 0) isNull = true;
      end += lengths[group]!;
      offsets[group + 1] = end;
    }
    const bytes = new Uint8Array(end);
    for (let group = 0; group < groupCount; group++) {
      const length = lengths[group]!;
      if (length === 0) continue;
      const place = places[group]!;
      const chunk = slots.chunks[Math.floor(place / CHUNK_BYTES)]!;
      const at = place % CHUNK_BYTES;
      const to = offsets[group]!;
      if (length > SHORT_BYTES) bytes.set(chunk.subarray(at, at + length), to);
      else for (let k = 0; k < length; k++) bytes[to + k] = chunk[at + k]!;
    }
    return { offsets, bytes, validity: isNull ? validity : undefined };
  }
}

/** The order of `a[x, x + xLength)` and `b[y, y + yLength)`: negative, 0 or positive. */
export function compareBytes(a: Uint8Array, x: number, xLength: number, b: Uint8Array, y: number, yLength: number): number {
  const end = Math.min(xLength, yLength);
  for (let k = 0; k < end; k++) {
    const difference = a[x + k]! - b[y + k]!;
    if (difference !== 0) return difference;
  }
  return xLength - yLength;
}
