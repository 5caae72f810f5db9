/**
 * Distinct values of a chunk of strings, in the order of their first appearance, and the index of every row that is not NULL.
 *
 *   slots  open addressing, linear probing: index + 1, 0 = free; at most half full. A value is kept as its first row.
 */
import { fnv1a } from "../../../base/hash.ts";
import type { BytesVector } from "../../../column/vector.ts";
import { encodePlainBytes } from "../encodings/byte-arrays.ts";
import { FIELD_DICTIONARY_BYTES_MAX, FIELD_DICTIONARY_ENTRIES_MAX } from "../limits.ts";
import { PageBuffer } from "../page-buffer.ts";

export class BytesDictionary {
  private readonly input: BytesVector;
  private readonly start: number;
  private readonly sizeMax: number;
  private readonly firstRows: number[] = [];
  private readonly hashes: number[] = [];
  private slots = new Int32Array(512);
  private byteLength = 0;
  private nextRow: number;
  private indexCount = 0;
  /** Index of each row that is not NULL, from `start` on. */
  indexes: Uint32Array<ArrayBuffer> = new Uint32Array(1024);

  /** @param sizeMax values after which `addUntil` gives up */
  constructor(input: BytesVector, start: number, sizeMax: number = FIELD_DICTIONARY_ENTRIES_MAX) {
    this.input = input;
    this.start = start;
    this.nextRow = start;
    this.sizeMax = sizeMax;
  }

  /** Number of values. */
  get size(): number {
    return this.firstRows.length;
  }

  /** Adds the rows up to `end`. Returns false when the dictionary grew too large; it is then useless. */
  addUntil(end: number): boolean {
    const { offsets, bytes, validity } = this.input;
    if (this.indexes.length < end - this.start) {
      const grown = new Uint32Array(end - this.start);
      grown.set(this.indexes.subarray(0, this.indexCount));
      this.indexes = grown;
    }
    const { indexes } = this;
    let previous = -1;
    for (let row = this.nextRow; row < end; row++) {
      if (validity !== undefined && validity[row] === 0) continue;
      const from = offsets[row]!;
      const to = offsets[row + 1]!;
      // Values often come in runs: compare with the last one before hashing.
      if (previous >= 0 && this.equals(previous, from, to)) {
        indexes[this.indexCount++] = previous;
        continue;
      }
      const hash = fnv1a(bytes, from, to);
      let index = this.find(from, to, hash);
      if (index < 0) {
        this.byteLength += to - from;
        if (this.size >= this.sizeMax || this.byteLength > FIELD_DICTIONARY_BYTES_MAX) return false;
        index = this.insert(row, hash);
      }
      indexes[this.indexCount++] = index;
      previous = index;
    }
    this.nextRow = end;
    return true;
  }

  /** A view of value `index`. */
  value(index: number): Uint8Array {
    const row = this.firstRows[index]!;
    return this.input.bytes.subarray(this.input.offsets[row], this.input.offsets[row + 1]);
  }

  /** PLAIN bytes of all values. */
  plain(): Uint8Array<ArrayBuffer> {
    const out = new PageBuffer(this.byteLength + this.size * 4 + 16);
    for (let i = 0; i < this.size; i++) encodePlainBytes(out, this.value(i));
    return out.written();
  }

  private equals(index: number, from: number, to: number): boolean {
    const { offsets, bytes } = this.input;
    const row = this.firstRows[index]!;
    const at = offsets[row]!;
    const length = to - from;
    if (offsets[row + 1]! - at !== length) return false;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== bytes[from + i]) return false;
    return true;
  }

  private find(from: number, to: number, hash: number): number {
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = this.slots[slot]! - 1;
      if (index < 0 || (this.hashes[index] === hash && this.equals(index, from, to))) return index;
    }
  }

  private insert(row: number, hash: number): number {
    const index = this.firstRows.length;
    this.firstRows.push(row);
    this.hashes.push(hash);
    if (this.firstRows.length * 2 > this.slots.length) {
      this.slots = new Int32Array(this.slots.length * 2);
      for (let i = 0; i < index; i++) this.place(i);
    }
    this.place(index);
    return index;
  }

  private place(index: number): void {
    const mask = this.slots.length - 1;
    let slot = this.hashes[index]! & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    this.slots[slot] = index + 1;
  }
}
