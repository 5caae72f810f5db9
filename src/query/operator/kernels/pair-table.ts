/** Numbers pairs of codes densely, in the order they first come: how several group keys become one group number. */
import { HashSlots } from "../../../base/bytes/hash-slots.ts";
import { longer } from "../../../base/bytes/longer-array.ts";

/** See the file header. */
export class PairTable {
  /** The pair of each id. */
  firsts: Uint32Array = new Uint32Array(64);
  seconds: Uint32Array = new Uint32Array(64);
  size = 0;
  private readonly slots = new HashSlots(128, { inSteps: true });

  /** The id of a pair, a new one if need be. */
  idOf(first: number, second: number): number {
    const found = this.find(first, second);
    if (found >= 0) return found;
    const id = this.size++;
    if (id === this.firsts.length) {
      this.firsts = longer(this.firsts);
      this.seconds = longer(this.seconds);
    }
    this.firsts[id] = first;
    this.seconds[id] = second;
    this.slots.add(mix(first, second), id);
    return id;
  }

  /** The id of a pair, or -1. */
  find(first: number, second: number): number {
    const { slots } = this;
    const hash = mix(first, second);
    const found = this.findIn(slots.pairs, hash, first, second);
    return found < 0 && slots.older !== undefined && slots.mayBeOlder(hash) ? this.findIn(slots.older, hash, first, second) : found;
  }

  private findIn(pairs: Int32Array, hash: number, first: number, second: number): number {
    const { firsts, seconds } = this;
    const mask = pairs.length - 1;
    for (let slot = (hash << 1) & mask; ; slot = (slot + 2) & mask) {
      const id = pairs[slot + 1]! - 1;
      if (id < 0 || (pairs[slot] === hash && firsts[id] === first && seconds[id] === second)) return id;
    }
  }
}

function mix(first: number, second: number): number {
  const hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
  return hash ^ (hash >>> 15);
}
