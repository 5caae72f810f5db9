/**
 * Numbers pairs of codes densely, in the order they first come: how several group keys become one group number.
 *
 *   slots   open addressing, linear probing: id + 1, 0 = free
 *   firsts, seconds   the pair of each id
 *   older   while pairs move to longer slots, a few with each new pair: those that they lay in; millions at once would hold the thread
 */
import { longer } from "../../../base/bytes/longer-array.ts";

/** Pairs that move with each new one. */
const MOVED_AT_ONCE = 8;

/** See the file header. */
export class PairTable {
  firsts: Uint32Array = new Uint32Array(64);
  seconds: Uint32Array = new Uint32Array(64);
  size = 0;
  private slots = new Uint32Array(256);
  private mask = 255;
  private older: Uint32Array | undefined;
  /** The first of the pairs that have not moved yet, and the end of those that have to. */
  private unmoved = 0;
  private unmovedEnd = 0;

  /** The id of a pair, a new one if need be. */
  idOf(first: number, second: number): number {
    const { slots, mask, firsts, seconds } = this;
    let slot = mix(first, second) & mask;
    for (;;) {
      const entry = slots[slot]!;
      if (entry === 0) {
        const id = this.older === undefined ? -1 : this.olderId(first, second, this.older);
        return id < 0 ? this.add(first, second, slot) : id;
      }
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
      if (entry === 0) return this.older === undefined ? -1 : this.olderId(first, second, this.older);
      if (firsts[entry - 1] === first && seconds[entry - 1] === second) return entry - 1;
      slot = (slot + 1) & mask;
    }
  }

  private add(first: number, second: number, slot: number): number {
    const id = this.size++;
    if (id === this.firsts.length) {
      this.firsts = longer(this.firsts);
      this.seconds = longer(this.seconds);
    }
    this.firsts[id] = first;
    this.seconds[id] = second;
    this.slots[slot] = id + 1;
    if (this.older !== undefined) this.move(MOVED_AT_ONCE);
    else if (this.size * 2 > this.slots.length) this.lengthen();
    return id;
  }

  private lengthen(): void {
    this.older = this.slots;
    this.slots = new Uint32Array(this.older.length * 4);
    this.mask = this.slots.length - 1;
    this.unmoved = 0;
    this.unmovedEnd = this.size;
  }

  private move(count: number): void {
    const { slots, mask, firsts, seconds } = this;
    const end = Math.min(this.unmovedEnd, this.unmoved + count);
    for (let id = this.unmoved; id < end; id++) {
      let slot = mix(firsts[id]!, seconds[id]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.unmoved = end;
    if (end === this.unmovedEnd) this.older = undefined;
  }

  private olderId(first: number, second: number, slots: Uint32Array): number {
    const mask = slots.length - 1;
    let slot = mix(first, second) & mask;
    for (;;) {
      const entry = slots[slot]!;
      if (entry === 0) return -1;
      if (this.firsts[entry - 1] === first && this.seconds[entry - 1] === second) return entry - 1;
      slot = (slot + 1) & mask;
    }
  }
}

function mix(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
  return (hash ^ (hash >>> 15)) >>> 0;
}
