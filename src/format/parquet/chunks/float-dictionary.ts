import { longer } from "../../../base/bytes/longer-array.ts";

/**
 * Distinct floats of a chunk, told apart by their bits, in the order of their first appearance.
 *
 *   slots  open addressing, linear probing: index + 1, 0 = free; at most half full
 */
export class FloatDictionary {
  private readonly bytesPerElement: 4 | 8;
  private readonly sizeMax: number;
  private low: Int32Array<ArrayBuffer> = new Int32Array(256);
  private high: Int32Array<ArrayBuffer> = new Int32Array(256);
  private slots: Int32Array<ArrayBuffer> = new Int32Array(512);
  private indexes = new Uint32Array(0);
  /** Number of values. */
  size = 0;

  /** @param sizeMax values after which `add` gives up */
  constructor(bytesPerElement: 4 | 8, sizeMax: number) {
    this.bytesPerElement = bytesPerElement;
    this.sizeMax = sizeMax;
  }

  /** Adds `floats[0, count)`. Returns false when there are more than `sizeMax` distinct ones; the dictionary is then useless. */
  add(floats: Float64Array | Float32Array, count: number): boolean {
    return this.walk(floats, count, true);
  }

  /** Indexes of `floats[0, count)`, or undefined when one is missing. Valid until the next call. */
  indexesOf(floats: Float64Array | Float32Array, count: number): Uint32Array | undefined {
    return this.walk(floats, count, false) ? this.indexes : undefined;
  }

  /** PLAIN bytes of the values. */
  values(): Uint8Array<ArrayBuffer> {
    const words = new Int32Array((this.size * this.bytesPerElement) >>> 2);
    const stride = this.bytesPerElement >>> 2;
    for (let i = 0; i < this.size; i++) {
      words[i * stride] = this.low[i]!;
      if (stride === 2) words[i * 2 + 1] = this.high[i]!;
    }
    return new Uint8Array(words.buffer);
  }

  private walk(floats: Float64Array | Float32Array, count: number, grow: boolean): boolean {
    const stride = this.bytesPerElement >>> 2;
    const words = new Int32Array(floats.buffer, floats.byteOffset, count * stride);
    if (this.indexes.length < count) this.indexes = new Uint32Array(count);
    const { indexes } = this;
    for (let i = 0; i < count; i++) {
      const low = words[i * stride]!;
      const high = stride === 2 ? words[i * 2 + 1]! : 0;
      let index = this.find(low, high);
      if (index < 0) {
        if (!grow || this.size >= this.sizeMax) return false;
        index = this.insert(low, high);
      }
      indexes[i] = index;
    }
    return true;
  }

  private find(low: number, high: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    for (let slot = hash(low, high) & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot]! - 1;
      if (index < 0 || (this.low[index] === low && this.high[index] === high)) return index;
    }
  }

  private insert(low: number, high: number): number {
    const index = this.size++;
    if (index === this.low.length) this.grow();
    this.low[index] = low;
    this.high[index] = high;
    this.place(index);
    return index;
  }

  private place(index: number): void {
    const mask = this.slots.length - 1;
    let slot = hash(this.low[index]!, this.high[index]!) & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = index + 1;
  }

  private grow(): void {
    this.low = longer(this.low);
    this.high = longer(this.high);
    this.slots = new Int32Array(this.low.length * 2);
    for (let i = 0; i < this.size - 1; i++) this.place(i);
  }
}

function hash(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x85eb_ca6b), 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}
