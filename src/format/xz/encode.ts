/**
 * Bytes → LZMA2 chunks (FORMAT.md). Greedy: at each place the longest match of a hash chain of 16, or a repeated distance when that is
 * about as long. The dictionary begins anew with each segment, so that the window is the segment itself.
 */
import {
  afterLiteral,
  afterMatch,
  afterRep,
  afterShortRep,
  CONTEXT_BITS,
  IS_MATCH,
  IS_REP,
  IS_REP_0,
  IS_REP_0_LONG,
  IS_REP_1,
  IS_REP_2,
  LENGTH_HIGH,
  LENGTH_LOW,
  LENGTH_MIDDLE,
  LITERAL,
  LITERAL_SIZE,
  MATCH_LENGTH,
  MATCH_MAX,
  MATCH_MIN,
  newProbabilities,
  POSITION_ALIGN,
  POSITION_BITS,
  POSITION_SLOT,
  POSITION_SPECIAL,
  PROPERTIES,
  REP_LENGTH,
} from "./model.ts";
import { RangeEncoder } from "./range-encoder.ts";

/** Bytes of a segment, and so of the dictionary. */
export const SEGMENT_BYTES: number = 4 * 1024 * 1024;
/** Bytes of a chunk before it is packed. Reason: packed it must fit 64 KiB; and it is one stretch of work, some 10 ms. */
const CHUNK_BYTES = 61_440;
const PACKED_MAX = 65_536;

const HASH_BITS = 16;
const CHAIN_LENGTH = 16;
const POSITION_MASK: number = (1 << POSITION_BITS) - 1;
/** Matches found by their first bytes have this many at least. */
const FOUND_MIN = 4;

/** Encodes one segment; `chunks` gives its chunks, one after another. */
export class SegmentEncoder {
  private readonly bytes: Uint8Array;
  private readonly heads = new Int32Array(1 << HASH_BITS).fill(-1);
  private readonly links: Int32Array;
  private probabilities = newProbabilities(CONTEXT_BITS);
  private state = 0;
  private reps: [number, number, number, number] = [0, 0, 0, 0];
  private coder = new RangeEncoder(0);
  private hashed = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.links = new Int32Array(bytes.length);
  }

  /** Heads and contents of the segment's chunks. */
  *chunks(): Iterable<Uint8Array> {
    let isStored = false;
    let hasProperties = false;
    for (let from = 0; from < this.bytes.length; from += CHUNK_BYTES) {
      const to = Math.min(this.bytes.length, from + CHUNK_BYTES);
      // 3: new dictionary and properties; 2: new properties; 1: new state; 0: all goes on.
      const reset = from === 0 ? 3 : !hasProperties ? 2 : isStored ? 1 : 0;
      if (reset > 0) this.reset();
      this.coder = new RangeEncoder(PACKED_MAX);
      this.encode(from, to);
      const packed = this.coder.finish();
      const size = to - from - 1;
      if (packed === undefined || packed.length >= to - from) {
        isStored = true;
        yield Uint8Array.of(from === 0 ? 1 : 2, size >> 8, size & 0xff);
        yield this.bytes.subarray(from, to);
        continue;
      }
      const head = [
        0x80 | (reset << 5) | (size >> 16),
        (size >> 8) & 0xff,
        size & 0xff,
        (packed.length - 1) >> 8,
        (packed.length - 1) & 0xff,
      ];
      yield Uint8Array.from(reset >= 2 ? [...head, PROPERTIES] : head);
      yield packed;
      isStored = false;
      hasProperties = true;
    }
  }

  private reset(): void {
    this.probabilities = newProbabilities(CONTEXT_BITS);
    this.state = 0;
    this.reps = [0, 0, 0, 0];
  }

  private encode(from: number, to: number): void {
    const { coder } = this;
    for (let at = from; at < to; ) {
      const probabilities = this.probabilities;
      const place = (this.state << 4) + (at & POSITION_MASK);
      const most = Math.min(MATCH_MAX, to - at);
      const rep = this.bestRep(at, most);
      const found = this.longest(at, most);
      if (rep.length >= MATCH_MIN && rep.length + 1 >= found.length) {
        coder.bit(probabilities, IS_MATCH + place, 1);
        this.writeRep(rep.index, rep.length, at, place);
        at += rep.length;
      } else if (found.length >= FOUND_MIN) {
        coder.bit(probabilities, IS_MATCH + place, 1);
        coder.bit(probabilities, IS_REP + this.state, 0);
        this.writeLength(MATCH_LENGTH, found.length, at);
        this.writeDistance(found.distance, found.length);
        this.reps = [found.distance, this.reps[0], this.reps[1], this.reps[2]];
        this.state = afterMatch(this.state);
        at += found.length;
      } else if (at > this.reps[0] && this.state >= 7 && this.bytes[at] === this.bytes[at - this.reps[0] - 1]) {
        coder.bit(probabilities, IS_MATCH + place, 1);
        coder.bit(probabilities, IS_REP + this.state, 1);
        coder.bit(probabilities, IS_REP_0 + this.state, 0);
        coder.bit(probabilities, IS_REP_0_LONG + place, 0);
        this.state = afterShortRep(this.state);
        at++;
      } else {
        coder.bit(probabilities, IS_MATCH + place, 0);
        this.writeLiteral(at);
        at++;
      }
      this.remember(at);
    }
  }

  private writeLiteral(at: number): void {
    const { coder, probabilities, bytes } = this;
    const byte = bytes[at] as number;
    const before = at === 0 ? 0 : (bytes[at - 1] as number);
    const base = LITERAL + LITERAL_SIZE * (before >> (8 - CONTEXT_BITS));
    let node = 1;
    if (this.state >= 7) {
      let match = bytes[at - this.reps[0] - 1] as number;
      for (let i = 7; i >= 0; ) {
        const matchBit = (match >> 7) & 1;
        match <<= 1;
        const bit = (byte >> i--) & 1;
        coder.bit(probabilities, base + ((1 + matchBit) << 8) + node, bit);
        node = (node << 1) | bit;
        if (matchBit !== bit) break;
      }
    }
    while (node < 0x100) {
      const bit = (byte >> (7 - (31 - Math.clz32(node)))) & 1;
      coder.bit(probabilities, base + node, bit);
      node = (node << 1) | bit;
    }
    this.state = afterLiteral(this.state);
  }

  private writeRep(index: number, length: number, at: number, place: number): void {
    const { coder, probabilities, state } = this;
    coder.bit(probabilities, IS_REP + state, 1);
    coder.bit(probabilities, IS_REP_0 + state, index === 0 ? 0 : 1);
    if (index === 0) coder.bit(probabilities, IS_REP_0_LONG + place, 1);
    else {
      coder.bit(probabilities, IS_REP_1 + state, index === 1 ? 0 : 1);
      if (index > 1) coder.bit(probabilities, IS_REP_2 + state, index === 2 ? 0 : 1);
      const distance = this.reps[index] as number;
      const others = this.reps.filter((_, i) => i !== index);
      this.reps = [distance, others[0] as number, others[1] as number, others[2] as number];
    }
    this.writeLength(REP_LENGTH, length, at);
    this.state = afterRep(state);
  }

  private writeLength(base: number, length: number, at: number): void {
    const { coder, probabilities } = this;
    const value = length - MATCH_MIN;
    const position = (at & POSITION_MASK) << 3;
    coder.bit(probabilities, base, value < 8 ? 0 : 1);
    if (value < 8) return coder.tree(probabilities, base + LENGTH_LOW + position, 3, value);
    coder.bit(probabilities, base + 1, value < 16 ? 0 : 1);
    if (value < 16) return coder.tree(probabilities, base + LENGTH_MIDDLE + position, 3, value - 8);
    return coder.tree(probabilities, base + LENGTH_HIGH, 8, value - 16);
  }

  private writeDistance(distance: number, length: number): void {
    const { coder, probabilities } = this;
    const high = 31 - Math.clz32(distance);
    const slot = distance < 4 ? distance : high * 2 + ((distance >>> (high - 1)) & 1);
    coder.tree(probabilities, POSITION_SLOT + (Math.min(length - MATCH_MIN, 3) << 6), 6, slot);
    if (slot < 4) return;
    const count = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << count;
    if (slot < 14) return coder.reverseTree(probabilities, POSITION_SPECIAL + base - slot, count, distance - base);
    coder.direct((distance - base) >>> 4, count - 4);
    coder.reverseTree(probabilities, POSITION_ALIGN, 4, distance & 15);
  }

  /** The longest match at one of the last four distances. */
  private bestRep(at: number, most: number): { readonly index: number; readonly length: number } {
    let index = 0;
    let length = 0;
    for (let i = 0; i < 4; i++) {
      const distance = this.reps[i] as number;
      if (distance >= at) continue;
      const own = this.matchLength(at, at - distance - 1, most);
      if (own > length) [index, length] = [i, own];
    }
    return { index, length };
  }

  private longest(at: number, most: number): { readonly distance: number; readonly length: number } {
    let distance = 0;
    let length = 0;
    if (most >= FOUND_MIN) {
      let other = this.heads[this.hash(at)] as number;
      for (let i = 0; i < CHAIN_LENGTH && other >= 0; i++, other = this.links[other] as number) {
        if (this.bytes[other + length] !== this.bytes[at + length]) continue;
        const own = this.matchLength(at, other, most);
        if (own <= length) continue;
        distance = at - other - 1;
        length = own;
        if (length === most) break;
      }
    }
    return { distance, length };
  }

  private matchLength(at: number, other: number, most: number): number {
    const { bytes } = this;
    let length = 0;
    while (length < most && bytes[at + length] === bytes[other + length]) length++;
    return length;
  }

  private hash(at: number): number {
    const { bytes } = this;
    const word =
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    return Math.imul(word, 0x9e3779b1) >>> (32 - HASH_BITS);
  }

  /** Makes all places before `to` be found. */
  private remember(to: number): void {
    const end = Math.min(to, this.bytes.length - FOUND_MIN + 1);
    for (; this.hashed < end; this.hashed++) {
      const hash = this.hash(this.hashed);
      this.links[this.hashed] = this.heads[hash] as number;
      this.heads[hash] = this.hashed;
    }
  }
}
