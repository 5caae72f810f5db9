/** The range coder of LZMA, writing. Scaled so that `low` and its carry are exact in a double. */
import { ADAPT_SHIFT, PROBABILITY_BITS } from "./model.ts";

const TOP: number = 2 ** 24;

/** Encodes bits by their probabilities. */
export class RangeEncoder {
  private readonly output: Uint8Array;
  private low = 0;
  private range = 0xffffffff;
  private cache = 0;
  private pending = 1;
  /** Bytes written; beyond the output's length they are only counted. */
  length = 0;

  constructor(bytesMax: number) {
    this.output = new Uint8Array(bytesMax);
  }

  bit(probabilities: Uint16Array, at: number, bit: number): void {
    const p = probabilities[at] as number;
    const bound = (this.range >>> PROBABILITY_BITS) * p;
    if (bit === 0) {
      this.range = bound;
      probabilities[at] = p + (((1 << PROBABILITY_BITS) - p) >> ADAPT_SHIFT);
    } else {
      this.low += bound;
      this.range -= bound;
      probabilities[at] = p - (p >> ADAPT_SHIFT);
    }
    if (this.range < TOP) this.shift();
  }

  /** The lowest `count` bits, the highest first, each an even chance. */
  direct(value: number, count: number): void {
    for (let i = count - 1; i >= 0; i--) {
      this.range = Math.floor(this.range / 2);
      if (((value >>> i) & 1) === 1) this.low += this.range;
      if (this.range < TOP) this.shift();
    }
  }

  /** A number of `count` bits by a tree of probabilities, the highest bit first. */
  tree(probabilities: Uint16Array, at: number, count: number, value: number): void {
    for (let i = count - 1, node = 1; i >= 0; i--) {
      const bit = (value >>> i) & 1;
      this.bit(probabilities, at + node, bit);
      node = (node << 1) | bit;
    }
  }

  /** The same, the lowest bit first. */
  reverseTree(probabilities: Uint16Array, at: number, count: number, value: number): void {
    for (let i = 0, node = 1; i < count; i++) {
      const bit = (value >>> i) & 1;
      this.bit(probabilities, at + node, bit);
      node = (node << 1) | bit;
    }
  }

  /** What was written; undefined when it did not fit. */
  finish(): Uint8Array | undefined {
    for (let i = 0; i < 5; i++) this.shiftLow();
    return this.length > this.output.length ? undefined : this.output.subarray(0, this.length);
  }

  private shift(): void {
    this.range *= 256;
    this.shiftLow();
  }

  private shiftLow(): void {
    if (this.low < 0xff000000 || this.low >= 2 ** 32) {
      const carry = this.low >= 2 ** 32 ? 1 : 0;
      for (let byte = this.cache; this.pending > 0; this.pending--, byte = 0xff) this.output[this.length++] = byte + carry;
      this.cache = Math.floor(this.low / TOP) & 0xff;
    }
    this.pending++;
    this.low = (this.low % TOP) * 256;
  }
}
