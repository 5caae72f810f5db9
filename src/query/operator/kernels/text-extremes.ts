/**
 * The largest or smallest text of each group, or other bytes: kept as bytes, with the first eight as two words that are compared first.
 *
 *   batch   rows ─► winner of each group among them (its entry), by prefix, then by bytes
 *   then    winners of the batch are copied: in place where they fit, else where a text of that size lay, else at the end
 *
 *   slots   of 8, 16, 32 … bytes; what a longer text leaves is taken by the next of its size, so that nothing is ever compacted
 *   chunks  of 1 MiB, or of one slot that is larger
 *
 * 500,000 texts of 32 bytes, processor time (sort.bench.ts): in one group 102 ms as strings -> 3, in 100,000 groups 894 -> 86.
 */
import { grown } from "../../../base/bytes/longer-array.ts";
import type { TextKey } from "./row-keys.ts";

/** Texts of a batch, by entries where they repeat. */
type Texts = Pick<TextKey, "offsets" | "bytes" | "codes" | "validity">;

const NO_TEXTS: Texts = { offsets: new Uint32Array(1), bytes: new Uint8Array(0), codes: undefined, validity: undefined };

const CHUNK_BITS = 20;
const CHUNK_BYTES = 1 << CHUNK_BITS;
/** Of the first chunk; each further one is as long as all before, up to `CHUNK_BYTES`. */
const CHUNK_BYTES_MIN = 1024;
/** The smallest slot is of 2^3 bytes. */
const SLOT_BITS_MIN = 3;

/** Where texts lie that are kept past their batch. */
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

/** See the file header. */
export class TextExtremes {
  private readonly slots = new TextSlots();
  private readonly isLargest: boolean;
  private high: Uint32Array = new Uint32Array(64);
  private low: Uint32Array = new Uint32Array(64);
  private lengths: Uint32Array = new Uint32Array(64);
  private places: Float64Array = new Float64Array(64);
  /** Bits of the slot of a group's text; 0: it has none. */
  private bits: Uint8Array = new Uint8Array(64);
  /** The entry of the batch, and one more, that a group's text is for now; 0: it lies in its slot. */
  private winners: Uint32Array = new Uint32Array(64);
  private readonly changed: number[] = [];
  private entries: Texts = NO_TEXTS;

  constructor(isLargest: boolean) {
    this.isLargest = isLargest;
  }

  /** Bytes that are held for texts. */
  get bytesHeld(): number {
    return this.slots.bytesHeld;
  }

  /** Makes room for groups. */
  reach(groupCount: number): void {
    this.high = grown(this.high, groupCount);
    this.low = grown(this.low, groupCount);
    this.lengths = grown(this.lengths, groupCount);
    this.places = grown(this.places, groupCount);
    this.bits = grown(this.bits, groupCount);
    this.winners = grown(this.winners, groupCount);
  }

  /** Begins a batch. `keep` has to be called behind its rows. */
  begin(entries: Texts): void {
    this.entries = entries;
  }

  /**
   * Takes rows `[from, to)`: row i is of `groups[i]`, or all of `group`.
   */
  add(from: number, to: number, group: number, groups: Int32Array | undefined): void {
    const { offsets, bytes, codes, validity } = this.entries;
    const { high, low, isLargest, winners, bits } = this;
    let previous = -1;
    for (let i = from; i < to; i++) {
      if (validity !== undefined && validity[i] === 0) continue;
      let entry = i;
      if (codes !== undefined) {
        entry = codes[i]!;
        if (entry === previous && groups === undefined) continue;
        previous = entry;
      }
      const own = groups === undefined ? group : groups[i]!;
      const start = offsets[entry]!;
      const length = offsets[entry + 1]! - start;
      const h = length >= 4 ? fourBytes(bytes, start) : fewBytes(bytes, start, length);
      const isHeld = bits[own] !== 0 || winners[own] !== 0;
      if (isHeld && h !== high[own]! && h > high[own]! !== isLargest) continue;
      const rest = length - 4;
      const l = rest >= 4 ? fourBytes(bytes, start + 4) : rest > 0 ? fewBytes(bytes, start + 4, rest) : 0;
      if (isHeld && h === high[own]!) {
        if (l === low[own]!) {
          const order = this.compareWith(own, start, length);
          if (order === 0 || order > 0 !== isLargest) continue;
        } else if (l > low[own]! !== isLargest) continue;
      }
      high[own] = h;
      low[own] = l;
      if (winners[own] === 0) this.changed.push(own);
      winners[own] = entry + 1;
    }
  }

  /** The order of `bytes[start, start + length)` of the batch and the text of a group. */
  private compareWith(group: number, start: number, length: number): number {
    const { offsets, bytes } = this.entries;
    const winner = this.winners[group]!;
    let [other, at, otherLength] = [bytes, 0, 0];
    if (winner === 0) {
      const place = this.places[group]!;
      other = this.slots.chunks[Math.floor(place / CHUNK_BYTES)]!;
      at = place % CHUNK_BYTES;
      otherLength = this.lengths[group]!;
    } else {
      at = offsets[winner - 1]!;
      otherLength = offsets[winner]! - at;
    }
    const end = Math.min(length, otherLength);
    for (let k = 0; k < end; k++) {
      const difference = bytes[start + k]! - other[at + k]!;
      if (difference !== 0) return difference;
    }
    return length - otherLength;
  }

  /** Copies the winners of the batch, whose memory is looked at no more. */
  keep(): void {
    const { changed, winners, bits, places, lengths, slots } = this;
    const { offsets, bytes } = this.entries;
    for (let i = 0; i < changed.length; i++) {
      const group = changed[i]!;
      const entry = winners[group]! - 1;
      const start = offsets[entry]!;
      const length = offsets[entry + 1]! - start;
      winners[group] = 0;
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
      if (length > 64) chunk.set(bytes.subarray(start, start + length), at);
      else for (let k = 0; k < length; k++) chunk[at + k] = bytes[start + k]!;
    }
    changed.length = 0;
  }

  /** The texts of groups `[0, groupCount)`; NULL for those without. */
  texts(groupCount: number): { readonly offsets: Uint32Array; readonly bytes: Uint8Array; readonly validity: Uint8Array | undefined } {
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
      if (length > 64) bytes.set(chunk.subarray(at, at + length), to);
      else for (let k = 0; k < length; k++) bytes[to + k] = chunk[at + k]!;
    }
    return { offsets, bytes, validity: isNull ? validity : undefined };
  }
}

/** Four bytes as a number, the highest first. */
function fourBytes(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** Less than four, zeros behind them. */
function fewBytes(bytes: Uint8Array, at: number, length: number): number {
  let word = 0;
  for (let k = 0; k < length; k++) word |= bytes[at + k]! << (24 - 8 * k);
  return word >>> 0;
}
