/**
 * Numbers pairs of codes densely, in the order they first come: how several group keys become one group number.
 *
 *   slots   open addressing, linear probing: id + 1, 0 = free
 *   firsts, seconds   the pair of each id
 */
import { longerWords } from "../../../base/longer-array.ts";

/** See the file header. */
export class PairTable {
  firsts: Uint32Array = new Uint32Array(64);
  seconds: Uint32Array = new Uint32Array(64);
  size = 0;
  private slots = new Uint32Array(256);
  private mask = 255;

  /** The id of a pair, a new one if need be. */
  idOf(first: number, second: number): number {
    const { slots, mask, firsts, seconds } = this;
    let slot = mix(first, second) & mask;
    for (;;) {
      const entry = slots[slot]!;
      if (entry === 0) return this.add(first, second, slot);
      if (firsts[entry - 1] === first && seconds[entry - 1] === second) return entry - 1;
      slot = (slot + 1) & mask;
    }
  }

  /** The id of a pair, or -1. */
  find(first: number, second: number): number {
    const { slots, mask, firsts, seconds } = this;
    let slot = mix(first, second) & mask;
    for (;;) {
      const entry = slots[slot]!;
      if (entry === 0) return -1;
      if (firsts[entry - 1] === first && seconds[entry - 1] === second) return entry - 1;
      slot = (slot + 1) & mask;
    }
  }

  private add(first: number, second: number, slot: number): number {
    const id = this.size++;
    if (id === this.firsts.length) {
      this.firsts = longerWords(this.firsts);
      this.seconds = longerWords(this.seconds);
    }
    this.firsts[id] = first;
    this.seconds[id] = second;
    this.slots[slot] = id + 1;
    if (this.size * 2 > this.slots.length) this.rehash();
    return id;
  }

  private rehash(): void {
    this.slots = new Uint32Array(this.slots.length * 4);
    this.mask = this.slots.length - 1;
    for (let id = 0; id < this.size; id++) {
      let slot = mix(this.firsts[id]!, this.seconds[id]!) & this.mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask;
      this.slots[slot] = id + 1;
    }
  }
}

function mix(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
  return (hash ^ (hash >>> 15)) >>> 0;
}
