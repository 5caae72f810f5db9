/** LZMA2 chunks → bytes. Damaged input throws an `Error` that says what is wrong. */
import {
  ADAPT_SHIFT,
  afterLiteral,
  afterMatch,
  afterRep,
  afterShortRep,
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
  MATCH_MIN,
  newProbabilities,
  POSITION_ALIGN,
  POSITION_SLOT,
  POSITION_SPECIAL,
  PROBABILITY_BITS,
  REP_LENGTH,
} from "./model.ts";

/** Largest unpacked chunk. */
const CHUNK_BYTES_MAX: number = 2 * 1024 * 1024;

/** Unpacks the chunks of one block. */
export class ChunkDecoder {
  private readonly dictionaryBytes: number;
  private window: Uint8Array;
  /** Where the next byte goes, and how many before it are of this dictionary. */
  private end = 0;
  private known = 0;
  /** Bytes since the dictionary began. */
  private position = 0;
  private probabilities: Uint16Array = new Uint16Array(0);
  private literalMask = 0;
  private positionMask = 0;
  private contextBits = 0;
  private lowBits = 0;
  private state = 0;
  private reps: [number, number, number, number] = [0, 0, 0, 0];
  private input: Uint8Array = new Uint8Array(0);
  private at = 0;
  private code = 0;
  private range = 0;

  constructor(dictionaryBytes: number) {
    this.dictionaryBytes = dictionaryBytes;
    this.window = new Uint8Array(Math.min(dictionaryBytes, 1024 * 1024) + CHUNK_BYTES_MAX);
  }

  /** Forgets what was before. */
  resetDictionary(): void {
    this.known = 0;
    this.position = 0;
  }

  /** New probabilities, under the properties that hold, or new ones. */
  resetState(properties?: number): void {
    if (properties !== undefined) {
      const lc = properties % 9;
      const rest = Math.floor(properties / 9);
      const lp = rest % 5;
      const pb = Math.floor(rest / 5);
      if (pb > 4 || lc + lp > 4) throw new Error("properties of a chunk are out of range");
      this.contextBits = lc;
      this.lowBits = lp;
      this.literalMask = (1 << lp) - 1;
      this.positionMask = (1 << pb) - 1;
    }
    this.probabilities = newProbabilities(this.contextBits + this.lowBits);
    this.state = 0;
    this.reps = [0, 0, 0, 0];
  }

  /** A chunk that is not packed; gives it back, valid until the next call. */
  stored(bytes: Uint8Array): Uint8Array {
    const start = this.makeRoom(bytes.length);
    this.window.set(bytes, start);
    this.advance(bytes.length);
    return this.window.subarray(start, this.end);
  }

  /** Unpacks a chunk; the result is valid until the next call. */
  packed(input: Uint8Array, length: number): Uint8Array {
    if (this.probabilities.length === 0) throw new Error("a chunk comes before its properties");
    if (input.length < 5 || input[0] !== 0) throw new Error("a chunk begins wrongly");
    const start = this.makeRoom(length);
    this.input = input;
    this.at = 5;
    this.range = 0xffffffff;
    this.code = new DataView(input.buffer, input.byteOffset, 5).getUint32(1);
    const stop = start + length;
    while (this.end < stop) this.one(stop);
    if (this.code !== 0 || this.at !== input.length) throw new Error("a chunk is damaged");
    return this.window.subarray(start, stop);
  }

  /** Room for so many bytes behind the dictionary; gives where they go. */
  private makeRoom(length: number): number {
    if (this.end + length <= this.window.length) return this.end;
    const kept = Math.min(this.known, this.dictionaryBytes);
    const size = this.dictionaryBytes + CHUNK_BYTES_MAX;
    const next =
      kept + length > this.window.length || this.window.length < size
        ? new Uint8Array(Math.min(size, this.window.length * 2))
        : this.window;
    const target = kept + length > next.length ? new Uint8Array(size) : next;
    target.set(this.window.subarray(this.end - kept, this.end));
    this.window = target;
    this.end = kept;
    this.known = kept;
    return kept;
  }

  private advance(length: number): void {
    this.end += length;
    this.known += length;
    this.position += length;
  }

  private one(stop: number): void {
    const { state } = this;
    const place = (state << 4) + (this.position & this.positionMask);
    if (this.bit(IS_MATCH + place) === 0) return this.literal();
    if (this.bit(IS_REP + state) === 0) {
      const length = this.length(MATCH_LENGTH);
      const distance = this.distance(length);
      this.reps = [distance, this.reps[0], this.reps[1], this.reps[2]];
      this.state = afterMatch(state);
      return this.copy(length, stop);
    }
    if (this.bit(IS_REP_0 + state) === 0) {
      if (this.bit(IS_REP_0_LONG + place) === 0) {
        this.state = afterShortRep(state);
        return this.copy(1, stop);
      }
    } else {
      const [a, b, c, d] = this.reps;
      if (this.bit(IS_REP_1 + state) === 0) this.reps = [b, a, c, d];
      else this.reps = this.bit(IS_REP_2 + state) === 0 ? [c, a, b, d] : [d, a, b, c];
    }
    const length = this.length(REP_LENGTH);
    this.state = afterRep(state);
    this.copy(length, stop);
  }

  private literal(): void {
    const before = this.known === 0 ? 0 : (this.window[this.end - 1] as number);
    const context = ((this.position & this.literalMask) << this.contextBits) + (before >> (8 - this.contextBits));
    const base = LITERAL + LITERAL_SIZE * context;
    let node = 1;
    if (this.state >= 7) {
      if (this.reps[0] >= this.known) throw new Error("a match lies before the beginning");
      let match = this.window[this.end - this.reps[0] - 1] as number;
      do {
        const matchBit = (match >> 7) & 1;
        match <<= 1;
        const bit = this.bit(base + ((1 + matchBit) << 8) + node);
        node = (node << 1) | bit;
        if (matchBit !== bit) break;
      } while (node < 0x100);
    }
    while (node < 0x100) node = (node << 1) | this.bit(base + node);
    this.window[this.end] = node & 0xff;
    this.advance(1);
    this.state = afterLiteral(this.state);
  }

  private copy(length: number, stop: number): void {
    const distance = this.reps[0];
    if (distance >= this.known || distance >= this.dictionaryBytes) throw new Error("a match lies before the beginning");
    if (this.end + length > stop) throw new Error("a match runs over the end of its chunk");
    const { window } = this;
    for (let i = 0, to = this.end, from = to - distance - 1; i < length; i++) window[to + i] = window[from + i] as number;
    this.advance(length);
  }

  private length(base: number): number {
    const position = (this.position & this.positionMask) << 3;
    if (this.bit(base) === 0) return MATCH_MIN + this.tree(base + LENGTH_LOW + position, 3);
    if (this.bit(base + 1) === 0) return MATCH_MIN + 8 + this.tree(base + LENGTH_MIDDLE + position, 3);
    return MATCH_MIN + 16 + this.tree(base + LENGTH_HIGH, 8);
  }

  private distance(length: number): number {
    const slot = this.tree(POSITION_SLOT + (Math.min(length - MATCH_MIN, 3) << 6), 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) * 2 ** count;
    if (slot < 14) return base + this.reverseTree(POSITION_SPECIAL + base - slot, count);
    let value = 0;
    for (let i = 0; i < count - 4; i++) value = value * 2 + this.direct();
    return base + value * 16 + this.reverseTree(POSITION_ALIGN, 4);
  }

  private tree(at: number, count: number): number {
    let node = 1;
    for (let i = 0; i < count; i++) node = (node << 1) | this.bit(at + node);
    return node - (1 << count);
  }

  private reverseTree(at: number, count: number): number {
    let value = 0;
    for (let i = 0, node = 1; i < count; i++) {
      const bit = this.bit(at + node);
      node = (node << 1) | bit;
      value |= bit << i;
    }
    return value;
  }

  private bit(at: number): number {
    const p = this.probabilities[at] as number;
    const bound = (this.range >>> PROBABILITY_BITS) * p;
    let bit = 0;
    if (this.code < bound) {
      this.range = bound;
      this.probabilities[at] = p + (((1 << PROBABILITY_BITS) - p) >> ADAPT_SHIFT);
    } else {
      this.range -= bound;
      this.code -= bound;
      this.probabilities[at] = p - (p >> ADAPT_SHIFT);
      bit = 1;
    }
    if (this.range < 2 ** 24) this.shift();
    return bit;
  }

  private direct(): number {
    this.range = Math.floor(this.range / 2);
    let bit = 0;
    if (this.code >= this.range) {
      this.code -= this.range;
      bit = 1;
    }
    if (this.range < 2 ** 24) this.shift();
    return bit;
  }

  private shift(): void {
    if (this.at >= this.input.length) throw new Error("a chunk ends too early");
    this.range *= 256;
    this.code = this.code * 256 + (this.input[this.at++] as number);
  }
}
