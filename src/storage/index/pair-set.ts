/**
 * A set of 64-bit keys as pairs of 32-bit halves, numbered in the order in which they came. Open addressing over typed arrays: no object
 * and no bigint a key.
 */
import { assert } from "../../base/assert.ts";

/** See the file header. Only grows, up to its limit, until it is cleared; the memory stays. */
export class PairSet {
  /** Keys in the set. */
  count = 0;
  /** Halves of the keys by number; the first `count` count. */
  highs: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  lows: Uint32Array<ArrayBuffer> = new Uint32Array(1024);
  private slots: Uint32Array<ArrayBuffer> = new Uint32Array(4096);
  private readonly countMax: number;

  /** @param countMax most keys */
  constructor(countMax: number) {
    assert(countMax >= 1, `room for a key; got ${countMax}`);
    this.countMax = countMax;
  }

  /** Forgets all keys. */
  clear(): void {
    if (this.count === 0) return;
    this.slots.fill(0);
    this.count = 0;
  }

  /** The number of a key, added if new; -1 when it is new and there is no room. */
  add(high: number, low: number): number {
    const { slots, highs, lows } = this;
    const mask = slots.length - 1;
    for (let slot = mixed(high, low) & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot]!;
      if (entry === 0) return this.insert(high, low, slot);
      if (lows[entry - 1] === low && highs[entry - 1] === high) return entry - 1;
    }
  }

  private insert(high: number, low: number, slot: number): number {
    if (this.count >= this.countMax) return -1;
    const number = this.count++;
    if (number === this.highs.length) this.growKeys();
    this.highs[number] = high;
    this.lows[number] = low;
    if (this.count * 2 > this.slots.length) this.rehash();
    else this.slots[slot] = number + 1;
    return number;
  }

  private growKeys(): void {
    const length = Math.min(this.highs.length * 2, Math.max(this.countMax, this.highs.length + 1));
    const { highs, lows } = this;
    this.highs = new Uint32Array(length);
    this.highs.set(highs);
    this.lows = new Uint32Array(length);
    this.lows.set(lows);
  }

  private rehash(): void {
    const { highs, lows } = this;
    const slots = new Uint32Array(this.slots.length * 2);
    const mask = slots.length - 1;
    for (let i = 0; i < this.count; i++) {
      let slot = mixed(highs[i]!, lows[i]!) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = i + 1;
    }
    this.slots = slots;
  }
}

function mixed(high: number, low: number): number {
  let hash = Math.imul(high, 0x85ebca6b) ^ Math.imul(low, 0xc2b2ae35);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x27d4eb2f);
  return (hash ^ (hash >>> 13)) >>> 0;
}
